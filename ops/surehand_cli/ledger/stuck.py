"""Which operations wait for something that will not come by itself: arithmetic on one item and the moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from surehand import Handler
from surehand.declare import visibility_timeout
from surehand.ledger import Operation
from surehand.states import HELD, State
from surehand_cli.ledger.timeline import changed_at, held

#: An operation whose next delivery is due for so long has a consumer that does not work, or no message any more.
OVERDUE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Stuck:
    """An operation, since when it waits, what for, and what an operator can do."""

    operation: Operation
    kind: str
    since: datetime
    advice: str


def stuck(operation: Operation, handlers: Mapping[str, Handler[Any]], *, now: datetime) -> Stuck | None:
    """Return why an operation is stuck at *now*, or None. What has expired is no concern any more."""
    handler = handlers.get(operation.handler)
    if handler is None or operation.expired_at(now):
        return None
    if held(operation):
        return Stuck(
            operation, "held", changed_at(operation), "ask the provider, then `surehand ledger resolve`, then redrive"
        )
    if operation.state in HELD and operation.lease_until is not None:
        return _lapsed(operation, handler, operation.lease_until, now)
    if operation.state in (State.PENDING, State.RETRYABLE_FAILED):
        return _waiting(operation, handler, operation.not_before or changed_at(operation), now)
    return None


def _lapsed(operation: Operation, handler: Handler[Any], until: datetime, now: datetime) -> Stuck | None:
    """SQS delivers again when the visibility timeout ends, which is after the lease; until then nothing is wrong."""
    if now - until <= visibility_timeout(handler) + OVERDUE:
        return None
    return Stuck(operation, "abandoned", until, "its message is a dead letter (`surehand dlq snapshot` says) or gone")


def _waiting(operation: Operation, handler: Handler[Any], due: datetime, now: datetime) -> Stuck | None:
    if now - due <= OVERDUE:
        return None
    if now - due > handler.options.retention:
        return Stuck(operation, "message gone", due, "its message has outlived the queue's retention; send it again")
    return Stuck(operation, "overdue", due, "is the event source mapping enabled? `surehand doctor` says")
