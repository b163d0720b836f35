"""surehand's side: declarations and plain functions, with the ports that a deployed function would build."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any, Literal, TextIO
from unittest.mock import patch

from bench.sides.business import BUSINESS, Busy, Impossible
from bench.sides.order import REGION, Order
from surehand import Handler, Reject, Retry, entrypoint, queue
from surehand.aws import clients
from surehand.testing.world import table_definition

LEDGER = "bench-dev-ledger"
#: Which of the declared handlers a figure is about.
Kind = Literal["standard", "fifo", "parallel"]

ENVIRONMENT: Mapping[str, str] = {
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "AWS_REGION": REGION,
    "AWS_DEFAULT_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
    "SUREHAND_SERVICE": "bench",
    "SUREHAND_STAGE": "dev",
    "SUREHAND_TABLE": LEDGER,
    "SUREHAND_WRITES": "batch",
    "SUREHAND_VERSION": "1",
    **{
        f"SUREHAND_QUEUE_{name}": f"https://sqs.{REGION}.amazonaws.com/000000000000/bench-dev-orders"
        for name in ("ORDERS", "ORDERS_FIFO", "ORDERS_PARALLEL")
    },
}


def _run(order: Order) -> object:
    try:
        return BUSINESS.act(order)
    except Busy as busy:
        raise Retry("provider.busy") from busy
    except Impossible as impossible:
        raise Reject("data.impossible") from impossible


@queue("orders", key="order_id")
def charge_order(order: Order) -> object:
    """A standard queue."""
    return _run(order)


@queue("orders-fifo", key="order_id", group="card")
def charge_in_order(order: Order) -> object:
    """A FIFO queue."""
    return _run(order)


@queue("orders-parallel", key="order_id", parallel=10)
def charge_abreast(order: Order) -> object:
    """Ten at once, in threads."""
    return _run(order)


HANDLERS: Mapping[Kind, Handler[Order]] = {
    "standard": charge_order,
    "fifo": charge_in_order,
    "parallel": charge_abreast,
}


@contextmanager
def ours(attach: Callable[[Any], None], sink: TextIO, kind: Kind = "standard") -> Iterator[Any]:
    """Yield the handler, telling to *sink*. *attach* gets each client that is made."""
    real = clients.client
    handler = HANDLERS[kind]

    def attached(service: str, config: Any) -> Any:
        client = real(service, config)
        attach(client)
        return client

    def invoke(event: Any, context: Any) -> Any:
        with redirect_stdout(sink):
            return handler(event, context)

    with patch.dict(os.environ, ENVIRONMENT), patch.object(clients, "client", attached):
        entrypoint.forget()
        try:
            yield invoke
        finally:
            entrypoint.forget()


def make_table(client: Any) -> None:
    """Create the ledger, where there is a real engine."""
    client.create_table(**table_definition(LEDGER))
