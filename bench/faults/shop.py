"""The soak's handlers. What a message asks for stands in it; how it fares is drawn from the simulation's source."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from pydantic import BaseModel

from surehand import Cancel, Defer, Handler, Job, Reject, Retry, Unknown, queue
from surehand.testing import Account
from surehand.testing.simulator import Invocation

#: How often a run ends otherwise than by returning.
BUSY, CLOSED, UNKNOWN, SLOW = 0.05, 0.02, 0.02, 0.01


class Parcel(BaseModel):
    """One piece of work. *kind* says what it is by nature: most are good, some can never succeed."""

    number: int
    lane: str = "a"
    kind: Literal["good", "bad", "declined"] = "good"


@dataclass(frozen=True, slots=True)
class Run:
    """One run that had its effect, in which invocation, and whether it ended without anybody knowing."""

    operation: str
    invocation: Invocation | None
    unknown: bool
    slow: bool

    @property
    def disturbed(self) -> bool:
        """Whether something came between the effect and its record: a kill, a failed call, an interruption."""
        invocation = self.invocation
        cut_short = invocation is not None and (invocation.faults > 0 or invocation.timed_out)
        return self.unknown or self.slow or cut_short


@dataclass
class Outside:
    """The provider of one wave: effects by idempotency key, keys by operation, and every run that had its effect."""

    account: Account
    effects: Counter[str] = field(default_factory=Counter)
    keys: dict[str, set[str]] = field(default_factory=dict)
    runs: int = 0
    effective: list[Run] = field(default_factory=list)

    def excused(self) -> Counter[str]:
        """Return how often each operation's effect may come again: once for each run that was not free of faults."""
        return Counter(run.operation for run in self.effective if run.disturbed)

    def work(self, parcel: Parcel, job: Job) -> None:
        """Do what a handler does: fail in its own way, or have its effect and possibly fail after it."""
        simulation = self.account.simulation
        chance = simulation.chance.of
        self.runs += 1
        if parcel.kind == "bad":
            raise Reject("data.no_such_address")
        if parcel.kind == "declined":
            raise Cancel("data.declined")
        if chance(BUSY):
            raise Retry("provider.busy", after=timedelta(minutes=5))
        if chance(CLOSED):
            raise Defer("provider.closed", after=timedelta(minutes=20))
        run = Run(job.operation, simulation.crossings.invocation, unknown=chance(UNKNOWN), slow=chance(SLOW))
        key = job.key("ship")
        with simulation.crossings.cross("effect", job.operation):
            self.effects[key] += 1
            self.keys.setdefault(job.operation, set()).add(key)
            self.effective.append(run)
        if run.unknown:
            raise Unknown("provider.read_timeout")
        if run.slow:
            simulation.sleep(timedelta(minutes=1))


class _Now:
    outside: Outside


NOW = _Now()


@queue("parcels", key="number")
def parcels(parcel: Parcel, job: Job) -> None:
    """A standard queue."""
    NOW.outside.work(parcel, job)


@queue("parcels-in-lanes", key="number", group="lane")
def in_lanes(parcel: Parcel, job: Job) -> None:
    """A FIFO queue."""
    NOW.outside.work(parcel, job)


@queue("parcels-careful", key="number", on_unknown="hold")
def careful(parcel: Parcel, job: Job) -> None:
    """A standard queue whose unknown effects wait for an operator."""
    NOW.outside.work(parcel, job)


HANDLERS: tuple[Handler[Parcel], ...] = (parcels, in_lanes, careful)
