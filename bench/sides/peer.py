"""Powertools' side, as its documentation recommends it for SQS with idempotency.

A BatchProcessor with a pydantic record model, `process_partial_response`, `idempotent_function` on the business
function with a key of its own and the context registered at every invocation, one persistence layer and one
configuration (two would ignore each other), and its Logger writing one line for each record.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO
from unittest.mock import patch

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    SqsFifoPartialProcessor,
    process_partial_response,
)
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.parser.models import SqsRecordModel
from pydantic import Json

from bench.sides.business import BUSINESS
from bench.sides.order import REGION, Order
from bench.sides.ours import ENVIRONMENT

TABLE = "bench-idempotency"
_NUMBERS = itertools.count(1)
LambdaHandler = Callable[[Any, Any], Any]


class OrderRecord(SqsRecordModel):
    """An SQS record whose body is an order."""

    body: Json[Order]


def handler_of(layer: DynamoDBPersistenceLayer, logger: Logger, *, fifo: bool = False) -> LambdaHandler:
    """Return the Lambda handler of one execution environment."""
    processor: Any = (
        SqsFifoPartialProcessor(model=OrderRecord, skip_group_on_error=True)
        if fifo
        else BatchProcessor(event_type=EventType.SQS, model=OrderRecord, raise_on_entire_batch_failure=False)
    )
    config = IdempotencyConfig(event_key_jmespath="order_id", raise_on_no_idempotency_key=True)

    def charge(*, order: Order) -> object:
        return BUSINESS.act(order)

    # The decorator is untyped; calling it keeps our own function typed.
    charge_order = idempotent_function(charge, data_keyword_argument="order", config=config, persistence_store=layer)

    def handle_record(record: OrderRecord) -> object:
        charged: object = charge_order(order=record.body)
        logger.info("order handled", extra={"message_id": record.messageId, "order_id": record.body.order_id})
        return charged

    @logger.inject_lambda_context
    def lambda_handler(event: Any, context: Any) -> Any:
        config.register_lambda_context(context)
        return process_partial_response(event, handle_record, processor, context)

    return lambda_handler


@contextmanager
def peer(attach: Callable[[Any], None], sink: TextIO, *, fifo: bool = False) -> Iterator[LambdaHandler]:
    """Yield the handler, logging to *sink*. *attach* gets the client."""
    environment = {**ENVIRONMENT, "AWS_LAMBDA_FUNCTION_NAME": "bench-orders", "POWERTOOLS_SERVICE_NAME": "bench"}
    with patch.dict(os.environ, environment):
        client = boto3.Session(region_name=REGION).client("dynamodb")
        attach(client)
        layer = DynamoDBPersistenceLayer(table_name=TABLE, boto3_client=client)
        # A name of its own: a second Logger of one service keeps the first one's stream.
        yield handler_of(layer, Logger(service=f"bench-{next(_NUMBERS)}", stream=sink), fifo=fifo)


def make_table(client: Any) -> None:
    """Create the table, where there is a real engine."""
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
