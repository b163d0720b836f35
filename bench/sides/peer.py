"""Powertools' side, as its documentation recommends it for SQS with idempotency.

A BatchProcessor with a pydantic record model, `process_partial_response`, `idempotent_function` on the business
function with a key of its own and the context registered at every invocation, one persistence layer and one
configuration (two would ignore each other), and its Logger writing one line for each record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO
from unittest.mock import patch

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.parser.models import SqsRecordModel
from pydantic import Json

from bench.sides.order import REGION, Order
from bench.sides.ours import ENVIRONMENT
from bench.wire import Responder

LambdaHandler = Callable[[Any, Any], Any]


class OrderRecord(SqsRecordModel):
    """An SQS record whose body is an order."""

    body: Json[Order]


def handler_of(layer: DynamoDBPersistenceLayer, logger: Logger) -> LambdaHandler:
    """Return the Lambda handler of one execution environment."""
    processor = BatchProcessor(event_type=EventType.SQS, model=OrderRecord, raise_on_entire_batch_failure=False)
    config = IdempotencyConfig(event_key_jmespath="order_id", raise_on_no_idempotency_key=True)

    def charge(*, order: Order) -> str:
        return order.order_id

    # The decorator is untyped; calling it keeps our own function typed.
    charge_order = idempotent_function(charge, data_keyword_argument="order", config=config, persistence_store=layer)

    def handle_record(record: OrderRecord) -> str:
        charged: str = charge_order(order=record.body)
        logger.info("order handled", extra={"message_id": record.messageId, "order_id": record.body.order_id})
        return charged

    @logger.inject_lambda_context
    def lambda_handler(event: Any, context: Any) -> Any:
        config.register_lambda_context(context)
        return process_partial_response(event, handle_record, processor, context)

    return lambda_handler


@contextmanager
def peer(responder: Responder, sink: TextIO) -> Iterator[LambdaHandler]:
    """Yield the handler, on a client that *responder* answers, logging to *sink*."""
    environment = {**ENVIRONMENT, "AWS_LAMBDA_FUNCTION_NAME": "bench-orders", "POWERTOOLS_SERVICE_NAME": "bench"}
    with patch.dict(os.environ, environment):
        client = boto3.Session(region_name=REGION).client("dynamodb")
        responder.attach(client)
        layer = DynamoDBPersistenceLayer(table_name="bench-idempotency", boto3_client=client)
        yield handler_of(layer, Logger(service="bench", stream=sink))
