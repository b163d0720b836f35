"""A run's journal and its progress, which are written together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surehand_cli.account.waiting import Waiting
from surehand_cli.dlq.journal import Entry, Journal
from surehand_cli.dlq.progress import Progress


@dataclass(slots=True)
class Record:
    """A run's journal and its progress, which are written together."""

    journal: Journal
    progress: Progress
    waiting: Waiting

    def write(self, kind: str, **said: Any) -> Entry:
        """Write an entry and apply it."""
        entry = self.journal.write(kind, self.waiting.now(), **said)
        self.progress.apply(entry)
        return entry
