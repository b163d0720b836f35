"""surehand's side: a declaration and a plain function, with the ports that a deployed function would build."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO
from unittest.mock import patch

from bench.sides.order import REGION, Order
from bench.wire import Responder
from surehand import entrypoint, queue
from surehand.aws import clients

ENVIRONMENT: Mapping[str, str] = {
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "AWS_REGION": REGION,
    "AWS_DEFAULT_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
    "SUREHAND_SERVICE": "bench",
    "SUREHAND_STAGE": "dev",
    "SUREHAND_TABLE": "bench-dev-ledger",
    "SUREHAND_WRITES": "batch",
    "SUREHAND_VERSION": "1",
    "SUREHAND_QUEUE_ORDERS": f"https://sqs.{REGION}.amazonaws.com/000000000000/bench-dev-orders",
}


@queue("orders", key="order_id")
def charge_order(order: Order) -> str:
    """Return at once."""
    return order.order_id


@contextmanager
def ours(responder: Responder, sink: TextIO) -> Iterator[Any]:
    """Yield the handler, on clients that *responder* answers, telling to *sink*."""
    real = clients.client

    def answered(service: str, config: Any) -> Any:
        client = real(service, config)
        responder.attach(client)
        return client

    def invoke(event: Any, context: Any) -> Any:
        with redirect_stdout(sink):
            return charge_order(event, context)

    with patch.dict(os.environ, ENVIRONMENT), patch.object(clients, "client", answered):
        entrypoint.forget()
        try:
            yield invoke
        finally:
            entrypoint.forget()
