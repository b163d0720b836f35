"""A message in a simulated queue, and what a consumer gets of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    """One stored copy. Two copies of one message (a duplicate delivery) have one id and two of these.

    Attributes:
        root: The id under which its producer sent it: kept through dead-letter queue and redrive, which is how a
            simulation can tell that nothing was lost.
        order: The number of its arrival in this queue.
        expires_at: The end of its retention.
        source: Name of the queue that SQS moved it from, for a dead letter.
        flying: Received, and neither deleted nor visible again.
        repeated: A copy that SQS delivers although its message was received or deleted. There is none of a copy.
    """

    id: str
    root: str
    body: str
    attributes: Mapping[str, Mapping[str, Any]]
    sent_at: datetime
    expires_at: datetime
    visible_at: datetime
    order: int
    group: str | None = None
    deduplication: str | None = None
    trace: str | None = None
    source: str | None = None
    receives: int = 0
    first_received_at: datetime | None = None
    received_at: datetime | None = None
    stored: bool = True
    hidden: bool = True
    flying: bool = False
    repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What one ReceiveMessage returns of one message."""

    message_id: str
    receipt_handle: str
    body: str
    receive_count: int
    sent_at: datetime
    first_received_at: datetime
    visible_at: datetime
    root: str
    group: str | None = None
    deduplication: str | None = None
    sequence: int | None = None
    trace: str | None = None
    source: str | None = None
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Denied(Exception):
    """SQS refused one call or entry; *code* is its error code."""

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(f"{code}: {reason}" if reason else code)
        self.code = code
