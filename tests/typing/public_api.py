"""What type checkers infer of the public API. Never run: mypy and pyright read it in `make check`."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_type

from pydantic import BaseModel

from surehand import Handler, Job, Scheme, Service, Tick, cron, queue, schedule, webhook
from surehand.testing import job, simulate, world


class Order(BaseModel):
    """A payload."""

    order_id: str


class Refund(BaseModel):
    """Another one."""

    order_id: str


@queue("with-job", key="order_id")
def with_job(order: Order, job: Job) -> None:
    """Takes the job too."""


@queue("alone", key=lambda order: order.order_id, timeout=timedelta(seconds=5))
def alone(order: Order) -> dict[str, int]:
    """Takes the payload alone and returns something."""
    return {"a": 1}


@queue("either", key="order_id", sends_to=(with_job, "alone"))
def either(event: Order | Refund, job: Job) -> object:
    """Takes a union."""
    return event


@queue("awaited", key="order_id")
async def awaited(order: Order) -> None:
    """Is a coroutine."""


@schedule("nightly", cron("0 2 * * ? *", timezone="Europe/Berlin"))
def nightly(tick: Tick, job: Job) -> None:
    """Saves how far it has got."""
    assert_type(job.cursor(int), int | None)
    job.save_cursor(1, shard="7", with_writes=[{"Put": {"TableName": "pages", "Item": {}}}])


@schedule("hourly", timedelta(hours=1), overlap="queue")
def hourly(tick: Tick) -> None:
    """Takes the tick alone."""


@webhook("paid", scheme="stripe")
def paid(order: Order, job: Job) -> None:
    """Takes an event."""


@webhook("raw", scheme=Scheme(name="house", signature="header:x-house"), key=lambda body: body)
def raw(body: bytes) -> None:
    """Takes a body as it was sent."""


assert_type(with_job, Handler[Order])
assert_type(alone, Handler[Order])
assert_type(either, Handler[Order | Refund])
assert_type(awaited, Handler[Order])
assert_type(nightly, Handler[Tick])
assert_type(hourly, Handler[Tick])
assert_type(paid, Handler[Order])
assert_type(raw, Handler[bytes])
assert_type(job(with_job, Order(order_id="1")), Job)

with_job.send(Order(order_id="1"))
with_job.send(Refund(order_id="1"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
with_job.run("text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
schedule("wrong", timedelta(hours=1), overlap="wait")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
schedule("none", "0 2 * * ? *")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
queue("misspelt", key="order_id", timeot=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
webhook("misspelt", scheme="stripe", secrt="x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

SERVICE = Service("typed", (with_job, alone, either, awaited, nightly, hourly, paid, raw))


def _what_a_test_asserts() -> None:
    order = Order(order_id="1")
    with world(SERVICE) as made:
        with_job(made.event(with_job, order), None)
        assert made.state(with_job, order) == "succeeded"
    with simulate(SERVICE) as account:
        account.deliver(with_job, order)
        assert account.state(with_job, order) == "succeeded"
