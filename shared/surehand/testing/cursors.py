"""Cursors in memory, beside a ledger in memory: the same condition as on DynamoDB, under the ledger's own lock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from surehand.errors import LedgerUnavailable
from surehand.ledger import Cursor, Cursors, NotHeld, Save, Saved, Unavailable, Written, holds
from surehand.testing.memory import MemoryLedger
from surehand.testing.simulator import Crossings


class MemoryCursors:
    """The `Cursors` of tests and of the simulator.

    *items* maps operation and shard to what is saved; *writes* are the callers' own writes that were made with them,
    in order (their conditions are not looked at); *saved* is every save, in order.
    """

    def __init__(self, ledger: MemoryLedger) -> None:
        self.items: dict[tuple[str, str], Cursor] = {}
        self.saved: list[Cursor] = []
        self.writes: list[Mapping[str, Any]] = []
        self._ledger = ledger

    def read(self, operation: str, shard: str, *, now: datetime) -> Cursor | None:
        """See `Cursors.read`."""
        with self._ledger.lock:
            cursor = self.items.get((operation, shard))
            return None if cursor is None or cursor.expires_at <= now else cursor

    def save(self, save: Save, *, now: datetime) -> Saved:
        """See `Cursors.save`."""
        with self._ledger.lock:
            existing = self._ledger.items.get(save.claimed.id)
            if not holds(save.claimed, existing, now):
                return NotHeld(existing)
            if save.cleared and existing is not None:
                self._ledger.items[existing.id] = replace(existing, marks=0)
            self.items[save.cursor.operation, save.cursor.shard] = save.cursor
            self.saved.append(save.cursor)
            self.writes += save.writes
            return Written()


class CrossedCursors:
    """`Cursors` around other ones, whose every call is a crossing of the running invocation."""

    def __init__(self, inner: Cursors, crossings: Crossings) -> None:
        self._inner = inner
        self._crossings = crossings

    def read(self, operation: str, shard: str, *, now: datetime) -> Cursor | None:
        """See `Cursors.read`."""
        with self._crossings.cross("cursor.read", error=lambda: LedgerUnavailable("ThrottlingException")):
            return self._inner.read(operation, shard, now=now)

    def save(self, save: Save, *, now: datetime) -> Saved:
        """See `Cursors.save`."""
        try:
            with self._crossings.cross("cursor.save", save.cursor.shard, error=TimeoutError):
                return self._inner.save(save, now=now)
        except TimeoutError:
            return Unavailable("ReadTimeoutError")
