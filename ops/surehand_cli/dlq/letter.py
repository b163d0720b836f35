"""A dead letter as it was received, and as a line of a snapshot.

Source of the message's shape: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Message.html
and API_ReceiveMessage.html (system attributes).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

#: What every receive of ours asks for.
SYSTEM_ATTRIBUTES = (
    "SentTimestamp",
    "ApproximateReceiveCount",
    "ApproximateFirstReceiveTimestamp",
    "MessageGroupId",
    "MessageDeduplicationId",
    "SequenceNumber",
    "AWSTraceHeader",
    "DeadLetterQueueSourceArn",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One dead letter.

    *body* is None in a snapshot without bodies; *sha256* is the body's digest either way. *attributes* are the
    message attributes in SQS's wire shape. *source* is the ARN of the queue that SQS moved it from.
    """

    message_id: str
    sha256: str
    sent_at: datetime
    receive_count: int
    body: str | None = None
    first_received_at: datetime | None = None
    group: str | None = None
    deduplication: str | None = None
    sequence: str | None = None
    trace: str | None = None
    source: str | None = None
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def received(message: Mapping[str, Any]) -> Letter:
    """Return the letter of one message of a ReceiveMessage answer."""
    system: Mapping[str, str] = message.get("Attributes", {})
    body: str = message["Body"]
    first = system.get("ApproximateFirstReceiveTimestamp")
    return Letter(
        message_id=message["MessageId"],
        sha256=digest(body),
        sent_at=_moment(system.get("SentTimestamp", "0")),
        receive_count=int(system.get("ApproximateReceiveCount", "1")),
        body=body,
        first_received_at=_moment(first) if first else None,
        group=system.get("MessageGroupId"),
        deduplication=system.get("MessageDeduplicationId"),
        sequence=system.get("SequenceNumber"),
        trace=system.get("AWSTraceHeader"),
        source=system.get("DeadLetterQueueSourceArn"),
        attributes={name: _filled(value) for name, value in message.get("MessageAttributes", {}).items()},
    )


def digest(body: str) -> str:
    """Return the SHA-256 of a body in hex."""
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def strings(letter: Letter) -> dict[str, str]:
    """Return the message attributes that are text or numbers."""
    return {
        name: value["StringValue"]
        for name, value in letter.attributes.items()
        if isinstance(value.get("StringValue"), str)
    }


def to_json(letter: Letter, *, bodies: bool = True) -> dict[str, Any]:
    """Return the letter as a snapshot's line has it; absent values have no entry."""
    line: dict[str, Any] = {
        "id": letter.message_id,
        "sha256": letter.sha256,
        "sent_at": letter.sent_at.isoformat(timespec="milliseconds"),
        "receive_count": letter.receive_count,
        "first_received_at": letter.first_received_at and letter.first_received_at.isoformat(timespec="milliseconds"),
        "group": letter.group,
        "deduplication": letter.deduplication,
        "sequence": letter.sequence,
        "trace": letter.trace,
        "source": letter.source,
        "attributes": {name: _written(value) for name, value in letter.attributes.items()} or None,
        "body": letter.body if bodies else None,
    }
    return {name: value for name, value in line.items() if value is not None}


def from_json(line: Mapping[str, Any]) -> Letter:
    """Return the letter of a snapshot's line.

    Raises:
        KeyError, ValueError, TypeError: It is no such line.
    """
    first = line.get("first_received_at")
    return Letter(
        message_id=line["id"],
        sha256=line["sha256"],
        sent_at=datetime.fromisoformat(line["sent_at"]),
        receive_count=int(line["receive_count"]),
        body=line.get("body"),
        first_received_at=datetime.fromisoformat(first) if first else None,
        group=line.get("group"),
        deduplication=line.get("deduplication"),
        sequence=line.get("sequence"),
        trace=line.get("trace"),
        source=line.get("source"),
        attributes={name: _read(value) for name, value in line.get("attributes", {}).items()},
    )


def _moment(milliseconds: str) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


def _filled(value: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what SQS returns empty and does not take back."""
    return {name: part for name, part in value.items() if name in ("DataType", "StringValue", "BinaryValue") and part}


def _written(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: base64.b64encode(part).decode() if isinstance(part, bytes) else part for name, part in value.items()}


def _read(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: base64.b64decode(part) if name == "BinaryValue" else part for name, part in value.items()}
