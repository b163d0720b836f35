"""One arrival of a message in a function: an SQS record, read once.

Source of the record's shape: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html (example events) and
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html (attributes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from surehand.errors import UnreadableEvent

#: The attribute that a renewed message carries:
#: `<how often>/<id of the first message>/<milliseconds of this renewal>/<milliseconds of the first one's sending>`.
RENEWALS = "surehand-renewals"
#: SQS has stamped a renewal by then. A later stamp is that of a redrive, which keeps the attribute.
_STAMPED_WITHIN = timedelta(minutes=1)
#: The attribute of a tick that was sent by hand for a moment in the past; it holds the backfill's id.
BACKFILL = "surehand-backfill"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One SQS record, readable.

    *receive_count* counts from 1; *sent_at* is SQS's own SentTimestamp; *attributes* are the message's string
    attributes; *raw_attributes* are all of them as SQS delivered them, for a renewal.
    """

    message_id: str
    receipt_handle: str
    body: str
    receive_count: int
    sent_at: datetime
    received_at: datetime
    group: str | None = None
    trace: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    raw_attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def renewals(self) -> int:
        """How often this message has been renewed before (P7)."""
        return _integer(self.attributes.get(RENEWALS, "").partition("/")[0]) or 0

    @property
    def origin(self) -> str:
        """The id under which this message was first sent: its own, or through renewals that of the first one.

        A renewed message that was redriven since is a new one, and its own origin.
        """
        return self._first_sending[0]

    @property
    def first_sent_at(self) -> datetime:
        """When its origin was sent. A renewal is no sending of its own: whoever sent it did so before (P1)."""
        return self._first_sending[1]

    @property
    def _first_sending(self) -> tuple[str, datetime]:
        if RENEWALS not in self.attributes:
            return self.message_id, self.sent_at
        _, first, renewed, sent = [*self.attributes[RENEWALS].split("/", 3), "", "", "", ""][:4]
        renewed_at, sent_at = _moment(renewed), _moment(sent)
        if not first or renewed_at is None or sent_at is None or self.sent_at - renewed_at > _STAMPED_WITHIN:
            return self.message_id, self.sent_at
        return first, sent_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """One SQS record that has a message id and is otherwise not what SQS sends. *problem* names the field."""

    message_id: str
    receipt_handle: str | None
    receive_count: int
    group: str | None
    problem: str


def parse_event(event: Any) -> list[Delivery | Unreadable]:
    """Read an SQS event into deliveries, in queue order.

    Raises:
        UnreadableEvent: It is no SQS event, or a record has no message id. Such a record cannot be reported, and
            leaving it out of the answer would delete it, so nothing of the batch may run.
    """
    records = records_of(event)
    for index, record in enumerate(records):
        message_id = record.get("messageId") if isinstance(record, Mapping) else None
        if not isinstance(message_id, str) or not message_id:
            raise UnreadableEvent(
                f"Record {index} of {len(records)} has no messageId, so its fate cannot be reported. Nothing ran; "
                "SQS keeps the whole batch."
            )
        source = record.get("eventSource", "aws:sqs")
        if source != "aws:sqs":
            raise UnreadableEvent(
                f"Record {index} of {len(records)} comes from another source than aws:sqs. Map the handler's own queue "
                "to this function."
            )
    return [_parse(record) for record in records]


def records_of(event: Any) -> Sequence[Any]:
    """Return the records of an SQS event, as they are.

    Raises:
        UnreadableEvent: It is no SQS event.
    """
    records = event.get("Records") if isinstance(event, Mapping) else None
    if not isinstance(records, Sequence) or isinstance(records, str | bytes):
        raise UnreadableEvent(
            "This is not an SQS event: it has no list 'Records'. A surehand handler is invoked by its own queue; "
            "to run the function directly, call handler.run(payload)."
        )
    return records


def _parse(record: Mapping[str, Any]) -> Delivery | Unreadable:
    message_id: str = record["messageId"]
    system = record.get("attributes")
    system = system if isinstance(system, Mapping) else {}
    handle = record.get("receiptHandle")
    handle = handle if isinstance(handle, str) and handle else None
    count = _integer(system.get("ApproximateReceiveCount"))
    sent = _moment(system.get("SentTimestamp"))
    received = _moment(system.get("ApproximateFirstReceiveTimestamp"))
    group = system.get("MessageGroupId")
    group = group if isinstance(group, str) else None
    body = record.get("body")
    problem = _problem(handle=handle, count=count, sent=sent, body=body)
    if problem is not None or handle is None or count is None or sent is None or not isinstance(body, str):
        return Unreadable(
            message_id=message_id,
            receipt_handle=handle,
            receive_count=count or 1,
            group=group,
            problem=problem or "body",
        )
    trace = system.get("AWSTraceHeader")
    raw = record.get("messageAttributes")
    raw = (
        {str(name): value for name, value in raw.items() if isinstance(value, Mapping)}
        if isinstance(raw, Mapping)
        else {}
    )
    return Delivery(
        message_id=message_id,
        receipt_handle=handle,
        body=body,
        receive_count=count,
        sent_at=sent,
        received_at=received or sent,
        group=group,
        trace=trace if isinstance(trace, str) else None,
        attributes=_strings(raw),
        raw_attributes=raw,
    )


def _problem(*, handle: str | None, count: int | None, sent: datetime | None, body: object) -> str | None:
    if handle is None:
        return "receiptHandle"
    if count is None:
        return "attributes.ApproximateReceiveCount"
    if sent is None:
        return "attributes.SentTimestamp"
    return None if isinstance(body, str) else "body"


def _strings(raw: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    found = {}
    for name, value in raw.items():
        text = value.get("stringValue")
        kind = value.get("dataType", "String")
        if isinstance(text, str) and isinstance(kind, str) and kind.partition(".")[0] in ("String", "Number"):
            found[name] = text
    return found


def _integer(text: object) -> int | None:
    if isinstance(text, int) and not isinstance(text, bool):
        return max(1, text)
    return max(1, int(text)) if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 10 else None


def _moment(text: object) -> datetime | None:
    """Read SQS's milliseconds since the epoch."""
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 15):
        return None
    return datetime.fromtimestamp(int(text) / 1000, UTC)
