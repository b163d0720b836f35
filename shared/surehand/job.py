"""What a handler may know about the attempt it runs in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One attempt at an operation, as the handler's second argument.

    Attributes:
        operation: The operation's id: a JSON array of handler, tenant and key parts. Equal for every delivery,
            attempt and redrive of the same piece of work.
        tenant: The value of the declared tenant field, or None.
        attempt: Which attempt this is, from 1. Deferrals, hand-overs and unstarted deliveries do not count; a redrive
            starts again at 1.
        last_attempt: Whether a failure of this attempt is final (`max_attempts` is reached).
        interrupted: Whether an earlier attempt ended without an outcome (killed, timed out or `Unknown`), so that its
            effect may or may not have happened.
        deadline: When Lambda ends this invocation (aware, UTC). The handler is interrupted shortly before.
        sent_at: When the message was sent (aware, UTC; SQS's SentTimestamp).
        attributes: The message's string attributes, and what an envelope says of its id and type.
    """

    operation: str
    tenant: str | None
    attempt: int
    last_attempt: bool
    interrupted: bool
    deadline: datetime
    sent_at: datetime
    attributes: Mapping[str, str] = field(default_factory=dict)

    def key(self, effect: str) -> str:
        """Return the idempotency key for one effect of this operation: 64 hexadecimal characters.

        The same for every attempt, redrive and release of the operation, and for none other. Hand it to the provider
        with the request; *effect* tells several effects of one handler apart ("charge", "mail").
        """
        return hashlib.sha256(json.dumps([self.operation, effect], ensure_ascii=True).encode()).hexdigest()
