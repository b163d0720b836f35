"""The event with which Lambda calls a function for a batch of SQS messages.

Source: Lambda developer guide, "Using Lambda with Amazon SQS", example events of both kinds of queue.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from surehand.testing.simulator.message import Received

REGION = "eu-west-1"
ACCOUNT = "123456789012"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def sqs_event(queue: str, messages: Sequence[Received], *, fifo: bool = False) -> dict[str, Any]:
    """Return the event for *messages*, in order, of the queue called *queue*."""
    return {"Records": [sqs_record(queue, message, fifo=fifo) for message in messages]}


def sqs_record(queue: str, message: Received, *, fifo: bool = False) -> dict[str, Any]:
    """Return one record of an event."""
    attributes = {
        "ApproximateReceiveCount": str(message.receive_count),
        "SentTimestamp": milliseconds(message.sent_at),
        "SenderId": "AIDASIMULATED",
        "ApproximateFirstReceiveTimestamp": milliseconds(message.first_received_at),
    }
    if fifo:
        attributes["SequenceNumber"] = f"188{message.sequence:017d}"
        attributes["MessageDeduplicationId"] = message.deduplication or ""
    if message.group is not None:
        attributes["MessageGroupId"] = message.group
    if message.trace is not None:
        attributes["AWSTraceHeader"] = message.trace
    if message.source is not None:
        attributes["DeadLetterQueueSourceArn"] = queue_arn(message.source)
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": attributes,
        "messageAttributes": {name: _attribute(value) for name, value in message.attributes.items()},
        "md5OfBody": hashlib.md5(message.body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn(queue),
        "awsRegion": REGION,
    }


def milliseconds(moment: datetime) -> str:
    """Return a moment as SQS writes it: milliseconds since the epoch, in a string."""
    return str((moment - _EPOCH) // _MILLISECOND)


def queue_arn(queue: str) -> str:
    """Return the ARN of the queue called *queue*."""
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}"


def _attribute(value: Mapping[str, Any]) -> dict[str, Any]:
    """Turn an attribute from SQS's shape into the one that Lambda gives functions."""
    shaped: dict[str, Any] = {"stringListValues": [], "binaryListValues": [], "dataType": value["DataType"]}
    if "StringValue" in value:
        shaped["stringValue"] = value["StringValue"]
    if "BinaryValue" in value:
        shaped["binaryValue"] = base64.b64encode(value["BinaryValue"]).decode()
    return shaped
