"""Where a schedule happens: a simulated account, a bank that counts effects, and the words both sides are told in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol
from unittest.mock import patch

from moto import mock_aws
from pydantic import BaseModel, model_validator

from surehand.testing.simulator import Function, Queue, Simulation
from surehand.testing.simulator.tasks import Killed

REGION = "eu-west-1"


class Order(BaseModel):
    """What both sides handle. *lane* is the FIFO group."""

    order_id: str | None = None
    tenant: str | None = None
    amount: int = 100
    lane: str = "a"

    @model_validator(mode="after")
    def _look_up(self) -> Order:
        """A validator of the user's own with a bug in it: it raises something else than ValueError."""
        if self.order_id == "bug in the validator":
            raise KeyError("currency")
        return self


class Busy(Exception):
    """The provider says: come back after *after*."""

    def __init__(self, after: timedelta) -> None:
        self.after = after
        super().__init__("busy")


class Impossible(Exception):
    """This message can never succeed."""


@dataclass(slots=True)
class Bank:
    """The provider: charges are counted by order, and the idempotency keys they came under are remembered."""

    charges: Counter[str] = field(default_factory=Counter)
    keys: dict[str, set[str]] = field(default_factory=dict)
    runs: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of the business code, whichever side has called it. *number* counts the runs of the order, from 1."""

    place: Place
    order: Order
    number: int
    key: str

    def charge(self) -> None:
        """Let the effect happen."""
        name = str(self.order.order_id)
        with self.place.simulation.crossings.cross("effect", name):
            self.place.bank.charges[name] += 1
            self.place.bank.keys.setdefault(name, set()).add(self.key)

    def work(self, length: timedelta) -> None:
        """Let time pass."""
        self.place.simulation.sleep(length)

    def die(self) -> None:
        """End the process, as the kernel does when memory runs out."""
        invocation = self.place.simulation.crossings.invocation
        if invocation is not None:
            invocation.kill()
        raise Killed


#: The business code of a schedule. It may raise `Busy`, `Impossible` or anything else.
Act = Callable[[Attempt], object]


@dataclass(frozen=True, slots=True)
class Deployed:
    """A function with its queues."""

    function: Function
    queue: Queue
    dead_letters: Queue

    @property
    def waiting(self) -> int:
        """How many messages are still in the queue."""
        return len(self.queue.messages)

    @property
    def dead(self) -> int:
        """How many messages are dead letters."""
        return len(self.dead_letters.messages)


class Place(Protocol):
    """One side, ready for a schedule."""

    name: str
    simulation: Simulation
    bank: Bank
    #: Let the next call to the store reach it twice: see `crossed`.
    resend: bool

    def deploy(self, act: Act, *, fifo: bool = False, hold: bool = False) -> Deployed:
        """Deploy the business code. *hold*: an effect that nobody knows of is not to be repeated unasked."""


def send(deployed: Deployed, *orders: Order | str) -> None:
    """Send orders, or bodies as they are, to the queue."""
    for index, order in enumerate(orders):
        body = order if isinstance(order, str) else order.model_dump_json(exclude_none=True)
        lane = "a" if isinstance(order, str) else order.lane
        if deployed.queue.fifo:
            deployed.queue.send(body, group=lane, deduplication=f"{id(order)}-{index}")
        else:
            deployed.queue.send(body)


def orders(count: int) -> list[Order]:
    """Return so many different orders."""
    return [Order(order_id=f"order-{number}") for number in range(1, count + 1)]


@contextmanager
def store() -> Iterator[None]:
    """An empty DynamoDB for the body."""
    with mock_aws(), patch.dict("os.environ", AWS_DEFAULT_REGION=REGION, AWS_REGION=REGION):
        yield


def crossed(place: Place, client: Any) -> Any:
    """Let every call of a client be a crossing of the running invocation: there it may fail, or be the last.

    With `place.resend` the next call reaches the store twice and only the second answer comes back: that is what the
    AWS client does when a reply is lost on the way.
    """
    real = client._make_api_call  # noqa: SLF001 - where boto's own documentation patches a client

    def call(operation: str, parameters: Any) -> Any:
        with place.simulation.crossings.cross(f"dynamodb.{operation}", error=_timed_out):
            if place.resend:
                place.resend = False
                real(operation, parameters)
            return real(operation, parameters)

    client._make_api_call = call  # noqa: SLF001
    return client


class _Short:
    """A context that says what is left of *timeout*, on a machine that may go on beyond it."""

    def __init__(self, context: Any, excess: timedelta) -> None:
        self._context = context
        self._excess = excess // timedelta(milliseconds=1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds left."""
        left: int = self._context.get_remaining_time_in_millis()
        return max(0, left - self._excess)


def outlive(deployed: Deployed) -> None:
    """Let a function's process live on beyond its deadline: a container, or a machine that was frozen and thawed."""
    function, lives = deployed.function, timedelta(minutes=15)
    excess, inner = lives - function.timeout, function.handler
    function.timeout = lives
    function.handler = lambda event, context: inner(event, _Short(context, excess))


def _timed_out() -> Exception:
    from botocore.exceptions import ReadTimeoutError

    return ReadTimeoutError(endpoint_url="https://dynamodb.eu-west-1.amazonaws.com")
