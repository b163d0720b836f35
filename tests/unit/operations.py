"""An operation as the ledger keeps it, for tests of the rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from surehand.ledger import Operation
from surehand.states import State

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SECOND, HOUR, DAYS = timedelta(seconds=1), timedelta(hours=1), timedelta(days=30)


def an_operation(state: State, **known) -> Operation:
    """An operation of a tenant that `m1` brought two hours ago, in its third claim, an hour ago, by "one"."""
    made = Operation(
        id="o",
        handler="orders",
        tenant="t",
        state=state,
        fence=3,
        owner="one",
        claimed_at=NOW - HOUR,
        started_at=NOW - 2 * HOUR,
        expires_at=NOW + DAYS - HOUR,
        message_ids=("m1",),
    )
    return replace(made, **known)
