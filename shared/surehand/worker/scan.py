"""The cursors of one attempt: read from and saved to the ledger, and the hand-over when the time runs out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from surehand.errors import LedgerUnavailable, WritesRefused
from surehand.ledger import Cursor, NotHeld, Operation, RefusedWrites, Save, Unavailable
from surehand.worker.handing_over import HandOver, Superseded
from surehand.worker.ports import Ports

#: Another page may take longer than the longest so far by this factor.
_ALLOWANCE = 1.5


class Scan:
    """What `Job.cursor` and `Job.save_cursor` work with inside the worker.

    *moved* says whether one of the attempt's saves changed what had been saved before.
    """

    def __init__(self, claimed: Operation, *, ports: Ports, until: datetime, reserve: timedelta) -> None:
        self.moved = False
        self._claimed = claimed
        self._ports = ports
        self._until = until
        self._reserve = reserve
        self._known: dict[str, str | None] = {}
        self._since = ports.clock.now()
        self._pages: list[timedelta] = []

    def load(self, shard: str) -> str | None:
        """See `JobCursors.load`."""
        if shard not in self._known:
            cursor = self._ports.cursors.read(self._claimed.id, shard, now=self._ports.clock.now())
            self._known[shard] = None if cursor is None else cursor.value
        return self._known[shard]

    def save(self, shard: str, text: str, writes: Sequence[Mapping[str, Any]]) -> None:
        """See `JobCursors.save`.

        Raises:
            HandOver: Saved, and there may not be time for another page; or an operator has asked for a cancel.
            Superseded: Not saved: the operation is another claim's by now.
        """
        before = self.load(shard)
        self._save(shard, text, writes, moves=text != before)
        self._known[shard] = text
        self.moved = self.moved or text != before
        now = self._ports.clock.now()
        self._pages.append(now - self._since)
        self._since = now
        if self._until - now < max(self._reserve, _ALLOWANCE * self._longest_page()):
            raise HandOver

    def _save(self, shard: str, text: str, writes: Sequence[Mapping[str, Any]], *, moves: bool) -> None:
        now = self._ports.clock.now()
        cursor = Cursor(
            operation=self._claimed.id,
            shard=shard,
            value=text,
            fence=self._claimed.fence,
            saved_at=now,
            expires_at=now + self._ports.retention,
        )
        suspected = self._claimed.marks > 0 and not self.moved
        save = Save(claimed=self._claimed, cursor=cursor, writes=writes, cleared=moves and suspected)
        answer = self._ports.cursors.save(save, now=now)
        if isinstance(answer, RefusedWrites):
            raise WritesRefused(answer.reasons)
        if isinstance(answer, Unavailable):
            raise LedgerUnavailable(answer.reason)
        if isinstance(answer, NotHeld):
            existing = answer.existing
            mine = (self._claimed.owner, self._claimed.fence)
            if existing is not None and existing.cancel_requested and (existing.owner, existing.fence) == mine:
                raise HandOver  # the settle then meets the request, and the operation ends as canceled (P8)
            raise Superseded(existing)

    def _longest_page(self) -> timedelta:
        """The first page counts with what comes before it, so it only counts while it is alone."""
        return max(self._pages[1:] or self._pages)
