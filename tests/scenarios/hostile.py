"""Runs of the kiosk's handlers in a simulated account under faults, and what must hold at the end of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from surehand import Handler, Job
from surehand.testing import Account, simulate
from surehand.testing.simulator import Crossing, Fault, Faults
from tests.scenarios.kiosk import Ticket, script

#: What a handler does before its effect; it may raise. The last argument counts the runs of that ticket, from 1.
Act = Callable[[Account, Ticket, int], object]


@dataclass
class Outside:
    """The provider: `effects` counts by idempotency key, `keys` by operation."""

    effects: Counter[str] = field(default_factory=Counter)
    keys: dict[str, set[str]] = field(default_factory=dict)

    def happen(self, account: Account, job: Job) -> None:
        """Let the effect of an attempt happen, unless its process is dead by then."""
        key = job.key("effect")
        with account.simulation.crossings.cross("effect", job.operation):
            self.effects[key] += 1
            self.keys.setdefault(job.operation, set()).add(key)

    def broken(self, allowed: int) -> list[str]:
        """Return what is wrong with the effects, of which each may have happened *allowed* times."""
        strange = [f"{operation} had {len(keys)} keys" for operation, keys in self.keys.items() if len(keys) > 1]
        often = [f"an effect happened {count} times" for count in self.effects.values() if count > allowed]
        return strange + often


@contextmanager
def stage(
    handlers: Handler[Any] | Sequence[Handler[Any]], act: Act, **settings: Any
) -> Iterator[tuple[Account, Outside]]:
    """Deploy handlers that act, and then have their effect."""
    outside, runs = Outside(), Counter[str]()
    with simulate(handlers, **settings) as account, script() as told:

        def run(ticket: Ticket, job: Job) -> None:
            runs[job.operation] += 1
            act(account, ticket, runs[job.operation])
            outside.happen(account, job)

        told.act = run
        yield account, outside


def points(handler: Handler[Any], tickets: Sequence[Ticket], act: Act) -> list[Crossing]:
    """Return every crossing of a golden run, in order."""
    with stage(handler, act) as (account, _):
        account.simulation.crossings.record = []
        account.deliver(handler, *tickets)
        assert account.witness.at_rest() == []
        return account.simulation.crossings.record


def outcome_of(
    handler: Handler[Any], tickets: Sequence[Ticket], act: Act, faults: dict[int, Fault]
) -> tuple[list[str], Account]:
    """Deliver the tickets with these faults at these crossings, and return what was broken."""
    with stage(handler, act) as (account, outside):
        account.simulation.crossings.plan = lambda crossing: faults.get(crossing.index)
        account.deliver(handler, *tickets)
        broken = [str(one) for one in account.witness.at_rest()]
        return broken + outside.broken(1 + len(faults)), account


def nothing(account: Account, ticket: Ticket, run: int) -> None:
    """Succeed."""


MILD = Faults(duplicate=0.05, reorder=0.2, short=0.2, throttle=0.03, kill=0.01, lose_reply=0.02, refuse=0.02)
HARD = Faults(duplicate=0.2, reorder=0.3, short=0.3, throttle=0.05, kill=0.04, lose_reply=0.06, refuse=0.06)
