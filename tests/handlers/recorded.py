"""The events of `events/sqs`, as if SQS delivered them now: in an old one every message would have been given up."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

EVENTS = Path(__file__).resolve().parents[2] / "events" / "sqs"


def recorded(name: str, *, now: datetime | None = None) -> dict[str, Any]:
    """Return the event of `events/sqs/{name}.json`, sent at *now*."""
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    moment = str(int((now or datetime.now(UTC)).timestamp() * 1000))
    for record in event["Records"]:
        record["attributes"] |= {"SentTimestamp": moment, "ApproximateFirstReceiveTimestamp": moment}
    return event


def message_ids(event: dict[str, Any]) -> list[str]:
    """Return the ids of an event's messages, in order."""
    return [record["messageId"] for record in event["Records"]]


def put_back(response: dict[str, Any]) -> list[str]:
    """Return the ids of the messages that a response keeps in the queue, in order."""
    return [failure["itemIdentifier"] for failure in response["batchItemFailures"]]
