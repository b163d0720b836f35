"""What became of one request, for metrics and logs. Holds no body, no header and no secret."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from surehand.webhooks.rejection import Reason


class Kind(StrEnum):
    """What became of a request."""

    STORED = "stored"
    HANDSHAKE = "handshake"
    #: HEAD, answered 200.
    PROBE = "probe"
    #: Verified, and of a type that the source drops.
    DROPPED = "dropped"
    REJECTED = "rejected"
    #: Our own failure: the sender is told to come again.
    FAILED = "failed"
    PAUSED = "paused"


class Failure(StrEnum):
    """Which of our own parts failed."""

    SECRETS = "secrets_unavailable"
    CONFIGURATION = "secrets_unusable"
    STORE = "store_failed"
    QUEUE = "enqueue_failed"
    UNEXPECTED = "unexpected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One request's outcome.

    *size* is the body's in bytes; *encoding* how it was stored; *signed_age* how long ago it was signed. *key_id* is
    label and fingerprint of the key that matched, *previous_key* whether it is not the current one. *refreshed* tells
    that the secret was fetched again because no key matched. *detail* and *error* say why, without a value.
    """

    kind: Kind
    status: int
    source: str | None = None
    tenant: str | None = None
    request_id: str = ""
    reason: Reason | None = None
    failure: Failure | None = None
    detail: str = ""
    error: Exception | None = field(default=None, repr=False)
    size: int = 0
    encoding: str | None = None
    key_id: str | None = None
    previous_key: bool = False
    refreshed: bool = False
    signed_age: timedelta | None = None
    event_age: timedelta | None = None
    event_id: str | None = None
    event_type: str | None = None
    idempotency_key: str | None = None

    def log_fields(self) -> dict[str, Any]:
        """Return the fields of the log line; what is absent or empty is left out. *error* is told by its type only."""
        fields = {
            "outcome": str(self.kind),
            "status": self.status,
            "source": self.source,
            "tenant": self.tenant,
            "request_id": self.request_id,
            "reason": str(self.reason or self.failure or ""),
            "detail": self.detail,
            "error": type(self.error).__name__ if self.error is not None else None,
            "size": self.size,
            "encoding": self.encoding,
            "key_id": self.key_id,
            "event_id": self.event_id,
            "event_type": self.event_type,
            "idempotency_key": self.idempotency_key,
        }
        return {name: value for name, value in fields.items() if value not in (None, "")}

    def metrics(self) -> dict[str, float]:
        """Return the counts and sizes of this request by metric name; ages in seconds, sizes in bytes."""
        counted = {
            "Received": True,
            "Accepted": self.kind is Kind.STORED,
            "Rejected": self.kind is Kind.REJECTED,
            # Apart, since many of them among the rejected mean that the secret has drifted.
            "Mismatched": self.reason is Reason.BAD_SIGNATURE,
            "Stale": self.reason in (Reason.STALE, Reason.FROM_THE_FUTURE),
            "Handshake": self.kind in (Kind.HANDSHAKE, Kind.PROBE),
            "Dropped": self.kind is Kind.DROPPED,
            "EnqueueFailed": self.failure in (Failure.QUEUE, Failure.STORE),
            "SecretsFailed": self.failure in (Failure.SECRETS, Failure.CONFIGURATION),
            "ClaimChecked": self.encoding == "s3",
            "PreviousSecretUsed": self.previous_key,
            "SecretRefresh": self.refreshed,
        }
        values = {name: 1.0 for name, happened in counted.items() if happened}
        if self.kind is Kind.STORED:
            values["PayloadBytes"] = float(self.size)
        for name, age in (("SignedAge", self.signed_age), ("EventAge", self.event_age)):
            if age is not None:
                values[name] = age.total_seconds()
        return values
