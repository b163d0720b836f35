"""A small service for scenarios: its handlers do what a test tells them to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta

from pydantic import BaseModel

from surehand import Handler, Job, Service, queue


class Ticket(BaseModel):
    """One piece of work. *note* does not belong to its identity."""

    number: str
    lane: str = "a"
    tenant: str = "t"
    note: int = 0


class Script:
    """What the handlers do: `act` is called for each run, and `runs` remembers each with its idempotency key."""

    def __init__(self) -> None:
        self.act: Callable[[Ticket, Job], object] = lambda ticket, job: None
        self.runs: list[tuple[str, str]] = []
        self.jobs: list[Job] = []

    def run(self, ticket: Ticket, job: Job) -> object:
        self.runs.append((ticket.number, job.key("effect")))
        self.jobs.append(job)
        return self.act(ticket, job)

    @property
    def numbers(self) -> list[str]:
        """The tickets' numbers in the order of their runs."""
        return [number for number, _ in self.runs]


SCRIPT = Script()


@contextmanager
def script(act: Callable[[Ticket, Job], object] = lambda ticket, job: None):
    """Give the handlers a fresh script for the body."""
    SCRIPT.act, SCRIPT.runs, SCRIPT.jobs = act, [], []
    yield SCRIPT


@queue("plain", key="number")
def plain(ticket: Ticket, job: Job) -> object:
    """A standard queue with every default."""
    return SCRIPT.run(ticket, job)


@queue("tenants", key="number", tenant="tenant")
def tenants(ticket: Ticket, job: Job) -> object:
    """A standard queue with tenants."""
    return SCRIPT.run(ticket, job)


@queue("lanes", key="number", group="lane")
def lanes(ticket: Ticket, job: Job) -> object:
    """A FIFO queue."""
    return SCRIPT.run(ticket, job)


@queue("careful", key="number", on_unknown="hold")
def careful(ticket: Ticket, job: Job) -> object:
    """A queue whose unknown effects wait for an operator."""
    return SCRIPT.run(ticket, job)


@queue("abreast", key="number", parallel=4, timeout=timedelta(seconds=10))
def abreast(ticket: Ticket, job: Job) -> object:
    """A standard queue with threads."""
    return SCRIPT.run(ticket, job)


@queue("pairs", key="number", group="lane", parallel=2, timeout=timedelta(seconds=10))
def pairs(ticket: Ticket, job: Job) -> object:
    """A FIFO queue whose groups run beside each other."""
    return SCRIPT.run(ticket, job)


@queue("awaited", key="number", parallel=4, timeout=timedelta(seconds=10))
async def awaited(ticket: Ticket, job: Job) -> object:
    """A standard queue with an async handler."""
    done = SCRIPT.run(ticket, job)
    return await done if hasattr(done, "__await__") else done


KIOSK = Service("kiosk", (plain, tenants, lanes, careful, abreast, pairs, awaited))


def ids(response: dict[str, list[dict[str, str]]]) -> list[str]:
    """Return the message ids that a response puts back."""
    assert list(response) == ["batchItemFailures"]
    return [entry["itemIdentifier"] for entry in response["batchItemFailures"]]


def numbered(handler: Handler[Ticket], count: int) -> list[Ticket]:
    """Return so many different tickets."""
    return [Ticket(number=str(index)) for index in range(count)]
