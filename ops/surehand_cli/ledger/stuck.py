"""What an operator can do about an operation that does not come on by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from surehand.ledger import Operation
from surehand.ledger.stuck import Kind, Patience, changed_at
from surehand.ledger.stuck import stuck as judged
from surehand_cli.ledger.timeline import held

_ADVICE = {
    Kind.ABANDONED: "its message is a dead letter (`surehand dlq snapshot` says) or gone",
    Kind.OVERDUE: "is the event source mapping enabled? `surehand doctor` says",
    Kind.MESSAGE_GONE: "its message has outlived the queue's retention; send it again",
}


@dataclass(frozen=True, slots=True)
class Stuck:
    """An operation, since when it waits, what for, and what an operator can do."""

    operation: Operation
    kind: str
    since: datetime
    advice: str


def stuck(operation: Operation, patience: Mapping[str, Patience], *, now: datetime) -> Stuck | None:
    """Return why an operation is stuck at *now*, or None: what the deployed sweep says, and what is held."""
    if operation.handler in patience and held(operation) and not operation.expired_at(now):
        advice = "ask the provider, then `surehand ledger resolve`, then redrive"
        return Stuck(operation, "held", changed_at(operation), advice)
    found = judged(operation, patience, now=now)
    return None if found is None else Stuck(operation, found.kind.value, found.since, _ADVICE[found.kind])
