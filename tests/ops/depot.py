"""A small service for the tests of the command line. Its handlers do what a test tells them to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from pydantic import BaseModel

from surehand import Job, Service, queue


class Parcel(BaseModel):
    """One parcel of a customer (*tenant*) for a *route*; *trouble* is what its handling runs into."""

    number: str
    tenant: str = "acme"
    route: str = "north"
    trouble: str = ""
    weight: int = 1


class Depot:
    """What the handlers do, and the effects that they have had, by idempotency key."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.act: Callable[[Parcel, Job], object] = lambda parcel, job: None
        self.effects: Counter[str] = Counter()
        self.order: list[str] = []

    def handle(self, parcel: Parcel, job: Job) -> object:
        done = self.act(parcel, job)
        self.effects[job.operation] += 1
        self.order.append(parcel.number)
        return done


STATE = Depot()


@queue("parcels", key="number", tenant="tenant", max_attempts=2, timeout=timedelta(seconds=10))
def ship(parcel: Parcel, job: Job) -> object:
    """Ship one parcel."""
    return STATE.handle(parcel, job)


@queue("lanes", key="number", group="route", max_attempts=1, batch_size=2, timeout=timedelta(seconds=10))
def route(parcel: Parcel, job: Job) -> object:
    """Send parcels along their route in order."""
    return STATE.handle(parcel, job)


@queue("careful", key="number", on_unknown="hold", timeout=timedelta(seconds=10))
def careful(parcel: Parcel, job: Job) -> object:
    """Something whose unknown effects wait for an operator."""
    return STATE.handle(parcel, job)


DEPOT = Service("depot", (ship, route, careful))
