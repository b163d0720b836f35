"""What whoever holds an operation writes about it: the settle that ends a claim, a start, an extension (P3, P9).

Each is conditional on the item that was read or claimed, so a late worker's is refused by the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from surehand.ledger.operation import Entry, Operation, Write, appended, latest
from surehand.states import HELD, State

#: States in which a requested cancel still waits: for the lease to end, or for a word about an unknown effect (P8).
_REMEMBERS_A_CANCEL = HELD | {State.PENDING, State.RETRYABLE_FAILED}


def settle(
    claimed: Operation,
    state: State,
    *,
    now: datetime,
    retention: timedelta,
    code: str | None = None,
    result: str | None = None,
    not_before: datetime | None = None,
    attempted: bool = False,
    message_id: str | None = None,
    failed_ids: Sequence[str] = (),
    note: str | None = None,
    afresh: bool = False,
    held: bool = False,
) -> Write:
    """Return the write that ends a claim.

    Args:
        attempted: The handler ran and came to an end of its own. Only that counts an attempt and clears suspicion
            (P3); a release, a deferral or a hand-over keeps the marks.
        failed_ids: The message ids of this batch that must never run again, if the state is permanently_failed.
        afresh: The run got further than its predecessors, so their attempts and crashes do not count any more.
        held: An operator has the word about the effect from here on, so the marks do not tell of it any more: a
            redrive is that word.
    """
    attempts = (0 if afresh else claimed.attempts) + (1 if attempted else 0)
    entry = Entry(
        state=state,
        at=now,
        fence=claimed.fence,
        attempt=attempts if attempted else attempts + 1,
        code=code,
        message_id=message_id,
        note=note,
    )
    operation = replace(
        claimed,
        state=state,
        attempts=attempts,
        marks=0 if attempted or afresh or held else claimed.marks,
        lease_until=claimed.lease_until if state in HELD else None,
        not_before=not_before,
        code=code,
        result=result,
        message_ids=latest(claimed.message_ids, failed_ids),
        failed_ids=latest(claimed.failed_ids, failed_ids),
        history=appended(claimed.history, entry),
        expires_at=now + retention,
        cancel_requested=claimed.cancel_requested and state in _REMEMBERS_A_CANCEL,
    )
    return Write(operation=operation, previous=claimed)


def renewed(existing: Operation, *, now: datetime, retention: timedelta) -> Write | None:
    """Return the write that keeps an answered duplicate's operation from being forgotten too early, if it is due.

    Due once half of the retention is gone, so that a duplicate that waits in a dead-letter queue meets its record.
    """
    if existing.expires_at - now > retention / 2:
        return None
    return Write(operation=replace(existing, expires_at=now + retention), previous=existing)


def extended(claimed: Operation, *, until: datetime, now: datetime, retention: timedelta) -> Write:
    """Return the write by which the holder prolongs its lease."""
    return Write(operation=replace(claimed, lease_until=until, expires_at=now + retention), previous=claimed)


def started(claimed: Operation, *, now: datetime) -> Write:
    """Return the write that says, before it happens, that the handler is being run (`processing`)."""
    entry = Entry(state=State.PROCESSING, at=now, fence=claimed.fence, attempt=claimed.attempts + 1)
    operation = replace(claimed, state=State.PROCESSING, history=appended(claimed.history, entry))
    return Write(operation=operation, previous=claimed)
