"""What happened, counted without end and told for the last few thousand events."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from datetime import datetime

from surehand.testing.simulator.timeline import Timeline

#: How many events are kept in full; a soak of millions must not fill the memory.
KEPT = 5_000


@dataclass(frozen=True, slots=True)
class Happening:
    """One event: its moment, what kind it was, where (queue, function, schedule) and which message or invocation."""

    moment: datetime
    kind: str
    where: str
    which: str

    def __str__(self) -> str:
        return f"{self.moment:%d %H:%M:%S.%f} {self.kind} {self.where} {self.which}"


class Trail:
    """The record of one simulation."""

    def __init__(self, timeline: Timeline, *, kept: int = KEPT) -> None:
        self._timeline = timeline
        self.counts: Counter[str] = Counter()
        self.happenings: deque[Happening] = deque(maxlen=kept)

    def note(self, kind: str, where: str, which: str = "") -> None:
        """Write down one event."""
        self.counts[kind] += 1
        self.happenings.append(Happening(self._timeline.now(), kind, where, which))

    def of(self, kind: str) -> list[Happening]:
        """Return the kept events of one kind, oldest first."""
        return [happening for happening in self.happenings if happening.kind == kind]

    def __str__(self) -> str:
        return "\n".join(map(str, self.happenings))
