"""The ledger's cursors: one item beside the operation for each shard, saved only by who holds the operation's lease.

Saving is one transaction of a condition on the operation and a write of the cursor, so a worker that is late by then
cannot move a cursor back, and the caller's own writes can join.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from surehand.ledger.operation import Operation, Unavailable, Written


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """One saved cursor. *value* is JSON text; *fence* is that of the claim under which it was saved."""

    operation: str
    shard: str
    value: str
    fence: int
    saved_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """Save *cursor* if *claimed* still holds its lease, and make the caller's *writes* (wire form) with it.

    *cleared*: the cursor moves, so the suspicion that the operation kills its process (P3) is unfounded: its marks are
    cleared in the same transaction. Otherwise three crashes in hours of a healthy scan would condemn it as poison.
    """

    claimed: Operation
    cursor: Cursor
    writes: Sequence[Mapping[str, Any]] = ()
    cleared: bool = False


@dataclass(frozen=True, slots=True)
class NotHeld:
    """The operation is not held by this claim any more, or a cancel was requested. *existing* is what stands there."""

    existing: Operation | None


@dataclass(frozen=True, slots=True)
class RefusedWrites:
    """A write of the caller's was refused. *reasons* has DynamoDB's code for each of them, "None" if it was fine."""

    reasons: Sequence[str]


Saved = Written | NotHeld | RefusedWrites | Unavailable


class Cursors(Protocol):
    """The store of cursors, beside the ledger's operations."""

    def read(self, operation: str, shard: str, *, now: datetime) -> Cursor | None:
        """Return the cursor, read consistently; None if there is none, or it is past its expiry.

        Raises:
            LedgerUnavailable: It could not be read.
        """

    def save(self, save: Save, *, now: datetime) -> Saved:
        """Save it if fence and owner of the operation are the claim's, its lease has not ended at *now* and nobody has
        asked for a cancel.

        Never raises for an AWS error. A repetition of a save whose answer was lost is harmless, and so are the
        caller's writes with it: all tries of one call are one transaction.
        """


def holds(claimed: Operation, existing: Operation | None, now: datetime) -> bool:
    """Tell whether *existing* is still held by *claimed*: the condition of a save, for stores that check it here."""
    return (
        existing is not None
        and (existing.fence, existing.owner) == (claimed.fence, claimed.owner)
        and existing.leased_at(now)
        and not existing.cancel_requested
    )
