"""What both sides handle: orders, in SQS events as Lambda delivers them."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
import uuid
from typing import Any

from pydantic import BaseModel

REGION = "eu-west-1"
_NUMBERS = itertools.count(1)


class Order(BaseModel):
    """One small order."""

    order_id: str
    amount: int
    card: str


class Context:
    """Lambda's context of one invocation, with half a minute left."""

    function_name = "bench-orders"
    function_version = "1"
    memory_limit_in_mb = 512
    invoked_function_arn = f"arn:aws:lambda:{REGION}:000000000000:function:bench-orders"

    def __init__(self, left_ms: int = 30_000) -> None:
        self.aws_request_id = str(uuid.uuid4())
        self._left_ms = left_ms

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds left."""
        return self._left_ms


def order(order_id: str | None = None) -> dict[str, Any]:
    """Return the body of a new order, or of the one that is named."""
    return {"order_id": order_id or f"ord-{next(_NUMBERS):08d}", "amount": 1999, "card": "tok_visa"}


def record(body: dict[str, Any], *, receive_count: int = 1, group: str | None = None) -> dict[str, Any]:
    """Return one SQS record, on a FIFO queue if *group* is given."""
    text = json.dumps(body)
    now = str(int(time.time() * 1000))
    system = {
        "ApproximateReceiveCount": str(receive_count),
        "AWSTraceHeader": "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0",
        "SentTimestamp": now,
        "SenderId": "AIDAIENQZJOLO23YVJ4VO",
        "ApproximateFirstReceiveTimestamp": now,
    }
    if group is not None:
        system |= {
            "SequenceNumber": "18849496460467696128",
            "MessageGroupId": group,
            "MessageDeduplicationId": uuid.uuid4().hex,
        }
    return {
        "messageId": str(uuid.uuid4()),
        "receiptHandle": f"AQEB{uuid.uuid4().hex}",
        "body": text,
        "attributes": system,
        "messageAttributes": {},
        "md5OfBody": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:000000000000:bench-orders" + (".fifo" if group else ""),
        "awsRegion": REGION,
    }


def batch(size: int) -> dict[str, Any]:
    """Return an event of so many new orders."""
    return {"Records": [record(order()) for _ in range(size)]}
