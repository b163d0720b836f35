"""Which operations wait for something that will not come by itself: arithmetic on one operation and the moment.

The deployed sweep and `surehand ledger sweep` share it. An operation that is held for an operator is not among these:
its message is a dead letter, and the dead-letter alarms tell of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from surehand.ledger.operation import Operation
from surehand.states import HELD, State


class Kind(StrEnum):
    """Why an operation does not come on."""

    #: Its lease ended unsettled and nobody took it over: its message is a dead letter, or gone.
    ABANDONED = "abandoned"
    #: Its next delivery is long due: the consumer does not work, or its message is a dead letter.
    OVERDUE = "overdue"
    #: Its next delivery has been due for longer than the queue keeps a message.
    MESSAGE_GONE = "message gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long the operations of one handler may be late (`surehand.declare.sweeping.patience` derives it).

    *abandoned* counts from the end of a lease, *overdue* from the moment at which a delivery was due; *retention* is
    how long the queue keeps a message.
    """

    abandoned: timedelta
    overdue: timedelta
    retention: timedelta


@dataclass(frozen=True, slots=True)
class Stuck:
    """An operation that does not come on, why, and since when it should have."""

    operation: Operation
    kind: Kind
    since: datetime


#: The states in which an operation waits for a delivery. All others are an end, or wait for an operator.
UNSETTLED = HELD | {State.PENDING, State.RETRYABLE_FAILED}


def stuck(operation: Operation, patience: Mapping[str, Patience], *, now: datetime) -> Stuck | None:
    """Return why an operation is stuck at *now*, or None. *patience* is by handler; others' operations never are.

    What has expired is no concern any more. What no message has ever carried is a slot (`surehand.ledger.slots`) and
    stuck only with the operation that holds it.
    """
    allowed = patience.get(operation.handler)
    if allowed is None or operation.expired_at(now) or not operation.message_ids:
        return None
    if operation.state in HELD and operation.lease_until is not None:
        return _lapsed(operation, allowed, operation.lease_until, now)
    if operation.state in UNSETTLED:
        return _waiting(operation, allowed, operation.not_before or changed_at(operation), now)
    return None


def changed_at(operation: Operation) -> datetime:
    """Return when the operation last changed its state."""
    return operation.history[-1].at if operation.history else operation.claimed_at


def _lapsed(operation: Operation, allowed: Patience, until: datetime, now: datetime) -> Stuck | None:
    return Stuck(operation, Kind.ABANDONED, until) if now - until > allowed.abandoned else None


def _waiting(operation: Operation, allowed: Patience, due: datetime, now: datetime) -> Stuck | None:
    if now - due <= allowed.overdue:
        return None
    return Stuck(operation, Kind.MESSAGE_GONE if now - due > allowed.retention else Kind.OVERDUE, due)
