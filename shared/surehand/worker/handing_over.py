"""How a handler is left from within `save_cursor`, and how a run without progress is recognised over its hand-overs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from surehand.ledger import Entry, Operation
from surehand.outcomes import Outcome
from surehand.states import State

#: What the history says of a hand-over after which the cursor stood elsewhere than before, and where it did not.
MOVED, UNMOVED = "continued", "unmoved"
#: Hand-overs in a row without progress that end a run. One may be bad luck (a slow start), a second a slow provider.
MOST_UNMOVED = 3


class HandOver(BaseException):
    """Leaves a handler that has saved its cursor near the deadline. `except Exception` does not catch it.

    *code* is the failure code that the next attempt shall know of, if any.
    """

    def __init__(self, code: str | None = None) -> None:
        self.code = code
        super().__init__("handed over")


class Superseded(BaseException):
    """Leaves a handler whose operation another invocation has claimed. *existing* is the ledger's item, if known."""

    def __init__(self, existing: Operation | None) -> None:
        self.existing = existing
        super().__init__("superseded")


def is_hand_over(entry: Entry) -> bool:
    """Tell whether a line of an operation's history is a hand-over."""
    return entry.state is State.PENDING and entry.note in (MOVED, UNMOVED)


def ran_before(history: Sequence[Entry]) -> bool:
    """Tell whether the handler's code had run for the operation before its latest claim."""
    claims = [index for index, entry in enumerate(history) if entry.state is State.LEASED]
    if not claims:
        return False
    return history[claims[-1]].note == "takeover" or any(
        entry.state is State.RETRYABLE_FAILED
        or (entry.state is State.PROCESSING and behind.note != Outcome.UNSTARTED.value)
        or entry.note == "takeover"
        or is_hand_over(entry)
        for entry, behind in pairwise(history[: claims[-1] + 1])
    )


def unmoved_in_a_row(history: Sequence[Entry]) -> int:
    """Return how many of the latest hand-overs moved no cursor. Failures and deferrals between them do not matter."""
    count = 0
    for entry in reversed(history):
        if is_hand_over(entry):
            if entry.note == MOVED:
                break
            count += 1
    return count
