"""A slot: an item of its own that one operation at a time holds, such as "the run of this schedule".

Who holds it is its `owner`, an operation's id; each taking raises the fence, so two that want it at once cannot both
have it. A free slot is one past its `expires_at`: it counts as absent, and its fence goes on.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from surehand.ledger.operation import Entry, Operation, Write
from surehand.states import State

#: When a free slot has expired: on every machine's clock, also on one that is behind the clock of whoever freed it.
#: DynamoDB leaves what expired more than five years ago where it is (AWS, "Using time to live in DynamoDB").
LONG_AGO = datetime.fromtimestamp(0, UTC)


def holder(slot: Operation | None, now: datetime) -> str | None:
    """Return the id of the operation that holds it, or None if it is free."""
    if slot is None or slot.expired_at(now) or slot.state is not State.LEASED:
        return None
    return slot.owner


def take(
    slot: Operation | None, slot_id: str, taker: Operation, *, until: datetime, now: datetime, retention: timedelta
) -> Write:
    """Return the write that gives the slot to *taker*. *until* is when its holding must have ended."""
    fence = (slot.fence if slot is not None else 0) + 1
    operation = Operation(
        id=slot_id,
        handler=taker.handler,
        tenant=None,
        state=State.LEASED,
        fence=fence,
        owner=taker.id,
        lease_until=until,
        claimed_at=now,
        started_at=now,
        expires_at=max(until, now) + retention,
        history=(Entry(state=State.LEASED, at=now, fence=fence, attempt=0),),
        version=taker.version,
    )
    return Write(operation=operation, previous=slot)


def free(slot: Operation, *, now: datetime) -> Write:
    """Return the write that frees a slot."""
    entry = Entry(state=State.SUCCEEDED, at=now, fence=slot.fence, attempt=0)
    freed = replace(slot, state=State.SUCCEEDED, lease_until=None, expires_at=LONG_AGO, history=(*slot.history, entry))
    return Write(operation=freed, previous=slot)
