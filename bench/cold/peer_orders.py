"""The shop's handler of orders written with Powertools: the same payload, the same provider, the same promise."""

import os

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.parser.models import SqsRecordModel
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, Json, PositiveInt

from handlers.payments import payments


class OrderPlaced(BaseModel):
    """One order."""

    order_id: str
    amount: PositiveInt
    card: str


class OrderRecord(SqsRecordModel):
    """An SQS record whose body is an order."""

    body: Json[OrderPlaced]


logger = Logger(service="shop")
processor = BatchProcessor(event_type=EventType.SQS, model=OrderRecord, raise_on_entire_batch_failure=False)
layer = DynamoDBPersistenceLayer(table_name=os.environ["IDEMPOTENCY_TABLE"])
config = IdempotencyConfig(event_key_jmespath="order_id", raise_on_no_idempotency_key=True)


def charge(*, order: OrderPlaced) -> str:
    """Charge one order."""
    return payments().charge(order.order_id, order.amount, card=order.card, idempotency_key=f"charge-{order.order_id}")


charge_order = idempotent_function(charge, data_keyword_argument="order", config=config, persistence_store=layer)


def handle_record(record: OrderRecord) -> str:
    """Handle one record."""
    charged: str = charge_order(order=record.body)
    logger.info("order charged", extra={"message_id": record.messageId, "order_id": record.body.order_id})
    return charged


@logger.inject_lambda_context
def lambda_handler(event: dict[str, object], context: LambdaContext) -> object:
    """Lambda's entry."""
    config.register_lambda_context(context)
    return process_partial_response(event, handle_record, processor, context)
