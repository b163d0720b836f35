"""SQS events as Lambda delivers them, made from payloads. Message ids are unique by construction."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from surehand.declare import Handler
from surehand.sending import outgoing

_MADE_UP = "handle-"


def is_made_up(receipt_handle: str) -> bool:
    """Tell whether a receipt handle is of a record that was made here, so that no queue knows it."""
    return receipt_handle.startswith(_MADE_UP)


def record(
    handler: Handler[Any],
    payload: object,
    *,
    sent_at: datetime,
    message_id: str | None = None,
    receive_count: int = 1,
    attributes: Mapping[str, str] | None = None,
    group: str | None = None,
) -> dict[str, Any]:
    """Return one SQS record. A *payload* that is text is the body as it is, valid or not.

    For a payload object, the group on FIFO (and the tenant's on a standard queue) is the one that `send` would give.
    """
    if isinstance(payload, str):
        body = payload
    else:
        message = outgoing(handler, payload)
        body, group = message.body, group or message.group
    message_id = message_id or str(uuid.uuid4())
    system = {
        "ApproximateReceiveCount": str(receive_count),
        "SentTimestamp": str(int(sent_at.timestamp() * 1000)),
        "SenderId": "AIDAEXAMPLE",
        "ApproximateFirstReceiveTimestamp": str(int(sent_at.timestamp() * 1000)),
    }
    if group is not None:
        system["MessageGroupId"] = group
    if handler.options.fifo:
        system |= {"SequenceNumber": "18870000000000000000", "MessageDeduplicationId": uuid.uuid4().hex}
    suffix = ".fifo" if handler.options.fifo else ""
    return {
        "messageId": message_id,
        "receiptHandle": f"{_MADE_UP}{message_id}-{receive_count}",
        "body": body,
        "attributes": system,
        "messageAttributes": {
            name: {"stringValue": value, "stringListValues": [], "binaryListValues": [], "dataType": "String"}
            for name, value in (attributes or {}).items()
        },
        "md5OfBody": hashlib.md5(body.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:eu-west-1:000000000000:{handler.name}{suffix}",
        "awsRegion": "eu-west-1",
    }


def again(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same message as SQS delivers it the next time: one receive more, and a new receipt handle."""
    system = dict(one["attributes"])
    system["ApproximateReceiveCount"] = str(int(system["ApproximateReceiveCount"]) + 1)
    handle = f"{_MADE_UP}{one['messageId']}-{system['ApproximateReceiveCount']}"
    return {**one, "attributes": system, "receiptHandle": handle}
