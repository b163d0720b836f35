"""Two idempotent functions together, and async code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.batch import (
    AsyncBatchProcessor,
    BatchProcessor,
    EventType,
    async_process_partial_response,
    process_partial_response,
)
from aws_lambda_powertools.utilities.idempotency import IdempotencyConfig, idempotent_function

from bench.versus.place import Attempt, Order, send
from bench.versus.powertools_side import Lambda, OrderRecord, PowertoolsPlace
from bench.versus.schedule import Schedule, Side, Verdict, times
from bench.versus.surehand_side import awaited, compound, plain

_ORDER = Order(order_id="order-1", tenant="t")


def _charge(attempt: Attempt) -> None:
    attempt.charge()


def nested(side: Side) -> Verdict:
    """An idempotent function writes an invoice around another one that charges; the order comes again."""
    invoices: list[str] = []

    def charge_and_invoice(attempt: Attempt) -> None:
        attempt.charge()
        invoices.append(str(attempt.order.order_id))

    if isinstance(side, PowertoolsPlace):
        deployed = side.deploy_lambda(lambda: _nested(side, invoices))
    else:
        # One handler is one operation, with a key for each of its effects.
        deployed = side.use(plain, charge_and_invoice)
    for _ in range(2):
        send(deployed, _ORDER)
        side.simulation.run_until_quiet()
    charged = side.bank.charges["order-1"]
    return Verdict(
        charged == 1 and len(invoices) == 1, f"{times(charged, 'charge')}, {times(len(invoices), 'invoice')}"
    )


def two_configurations(side: Side) -> Verdict:
    """Two functions with keys of their own share one store: orders by number, and by tenant and number."""
    if isinstance(side, PowertoolsPlace):
        deployed = side.deploy_lambda(lambda: _two(side))
        send(deployed, *_two_tenants())
        side.simulation.run_until_quiet()
    else:
        side.use(plain, _charge)
        deployed = side.use(compound, _charge)
        for _ in range(2):
            send(deployed, *_two_tenants())
            side.simulation.run_until_quiet()
    charged = side.bank.charges["order-1"]
    return Verdict(charged == 2, f"{times(charged, 'charge')} for the orders of two tenants")


def asynchronous(side: Side) -> Verdict:
    """An async handler gets an order twice."""
    if isinstance(side, PowertoolsPlace):
        deployed = side.deploy_lambda(lambda: _async(side))
    else:
        deployed = side.use(awaited, _charge)
    for _ in range(2):
        send(deployed, _ORDER)
        side.simulation.run_until_quiet()
    charged = side.bank.charges["order-1"]
    return Verdict(charged == 1 and not deployed.dead, times(charged, "charge"))


def _two_tenants() -> tuple[Order, Order]:
    return Order(order_id="order-1", tenant="t"), Order(order_id="order-1", tenant="u")


def _lambda(handle: Callable[[OrderRecord], Any], *configurations: IdempotencyConfig) -> Lambda:
    processor = BatchProcessor(EventType.SQS, model=OrderRecord, raise_on_entire_batch_failure=False)

    def lambda_handler(event: Any, context: Any) -> Any:
        for config in configurations:
            config.register_lambda_context(context)
        return process_partial_response(event, handle, processor, context)

    return lambda_handler


def _nested(side: PowertoolsPlace, invoices: list[str]) -> Lambda:
    config, layer = side.config(), side.layer()
    inner = idempotent_function(
        side.business(_charge), data_keyword_argument="order", config=config, persistence_store=layer
    )

    def book(*, order: Order) -> str:
        inner(order=order)
        invoices.append(str(order.order_id))
        return "booked"

    outer = idempotent_function(book, data_keyword_argument="order", config=config, persistence_store=layer)
    return _lambda(lambda record: outer(order=record.body), config)


def _two(side: PowertoolsPlace) -> Lambda:
    """The first function's key is the number, the second one's tenant and number; only the second one charges."""
    layer, by_number, by_both = side.layer(), side.config(), side.config("[tenant, order_id]")

    def note(*, order: Order) -> str:
        return str(order.tenant)

    noted = idempotent_function(note, data_keyword_argument="order", config=by_number, persistence_store=layer)
    charge = idempotent_function(
        side.business(_charge), data_keyword_argument="order", config=by_both, persistence_store=layer
    )

    def handle(record: OrderRecord) -> Any:
        noted(order=record.body)
        return charge(order=record.body)

    return _lambda(handle, by_number, by_both)


def _async(side: PowertoolsPlace) -> Lambda:
    """Its async processor; idempotency cannot be combined with it (issue 4483, declined)."""
    processor = AsyncBatchProcessor(EventType.SQS, model=OrderRecord, raise_on_entire_batch_failure=False)
    business = side.business(_charge)

    async def handle(record: OrderRecord) -> Any:
        return business(order=record.body)

    def lambda_handler(event: Any, context: Any) -> Any:
        return async_process_partial_response(event, handle, processor, context)

    return lambda_handler


COMPOSITIONS = (
    Schedule(
        name="nested functions",
        happens="An idempotent function writes an invoice around another one that charges; the order comes again.",
        must_hold="One charge and one invoice.",
        run=nested,
        note="With Powertools both functions share the persistence layer; with one each it holds. With surehand one "
        "handler is one operation, with a key for each of its effects.",
    ),
    Schedule(
        name="two configurations",
        happens="Two functions on one store, keyed by number and by tenant and number; two tenants use one number.",
        must_hold="Each tenant's order is charged once.",
        run=two_configurations,
        note="With Powertools the functions share the persistence layer, and the first configuration wins in silence; "
        "with a layer each it holds.",
    ),
    Schedule(
        name="async handler",
        happens="An async handler gets the same order twice.",
        must_hold="One charge.",
        run=asynchronous,
        note="Powertools' async batch processor cannot be combined with its idempotency.",
    ),
)
