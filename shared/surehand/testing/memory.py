"""The ledger in memory: the same compare-and-set as on DynamoDB, under one lock."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime

from surehand.ledger import Answer, NotWritten, Operation, Write, Written, is_own


class MemoryLedger:
    """The `Ledger` of tests and of the simulator. Thread-safe; `items` is what it holds, under `lock`."""

    def __init__(self) -> None:
        self.items: dict[str, Operation] = {}
        self.lock = threading.Lock()

    def read(self, ids: Sequence[str]) -> dict[str, Operation]:
        """See `Ledger.read`."""
        with self.lock:
            return {operation_id: self.items[operation_id] for operation_id in ids if operation_id in self.items}

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        """See `Ledger.write`."""
        return [self._write(write, now) for write in writes]

    def _write(self, write: Write, now: datetime) -> Answer:
        with self.lock:
            existing = self.items.get(write.operation.id)
            if not _still(existing, write, now):
                if existing is not None and is_own(write, existing):
                    return Written()
                return NotWritten(existing)
            self.items[write.operation.id] = write.operation
            return Written()


def _still(existing: Operation | None, write: Write, now: datetime) -> bool:
    previous = write.previous
    if existing is None or previous is None:
        return existing is previous
    same = (existing.fence, existing.owner, existing.state, existing.cancel_requested) == (
        previous.fence,
        previous.owner,
        previous.state,
        previous.cancel_requested,
    )
    return same and existing.expired_at(now) == write.revives
