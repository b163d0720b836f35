"""What must hold for every operation, by itself, once nothing is due any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from surehand.ledger import Operation
from surehand.states import FINAL, State, legal

#: A state in which an operation may rest; others only while its message is a dead letter.
_ENDS = (*FINAL, State.PERMANENTLY_FAILED, State.DEAD_LETTERED)
#: A process must have died this often while an operation ran, before that may be called poison.
_CONFIRMED = 2


@dataclass(frozen=True, slots=True)
class Broken:
    """One promise that did not hold, and what was seen instead."""

    promise: str
    seen: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.seen}"


def faults_at_rest(item: Operation, *, now: datetime, dead_letter: bool, killed: int) -> Iterator[Broken]:
    """Yield what is wrong with an operation at rest.

    *dead_letter*: a message of it is in the dead-letter queue; *killed*: how often a process died while it ran.
    """
    if item.is_slot:
        return  # names another operation, whose own state tells what becomes of it
    if item.leased_at(now):
        yield Broken("no lease is left", f"{item.id} is {item.state} until {item.lease_until}")
    if item.state not in _ENDS and not dead_letter:
        yield Broken("everything comes to an end", f"{item.id} is {item.state}")
    if item.code == "crash.poison" and killed < _CONFIRMED:
        yield Broken("a bystander is never poison", f"{item.id} was killed {killed} times")
    yield from _history(item)


def _history(item: Operation) -> Iterator[Broken]:
    """The history ends where the item stands, its fences never fall, and its steps are legal ones."""
    history = item.history
    if not history or history[-1].state is not item.state or history[-1].fence != item.fence:
        yield Broken("the history replays to the state", f"{item.id}: {history[-1:]} and {item.state}")
    for earlier, later in pairwise(history[1:]):
        if later.fence < earlier.fence or not (legal(earlier.state, later.state) or later.state is earlier.state):
            yield Broken("the history is legal", f"{item.id}: {earlier.state} → {later.state}")


def revived(item: Operation | None) -> bool:
    """Whether this claim revives an operation that had failed permanently, which a redrive does (P1)."""
    if item is None:
        return False
    claims = [index for index, entry in enumerate(item.history) if entry.note == "redrive"]
    return bool(claims) and item.history[claims[-1] - 1].state in (State.PERMANENTLY_FAILED, State.DEAD_LETTERED)
