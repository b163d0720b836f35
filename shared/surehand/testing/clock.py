"""Time that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class FakeClock:
    """A `Clock` that is set by hand. Starts at a fixed moment, so that runs are repeatable."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        """Return the moment that was set, aware, in UTC."""
        return self._now

    def advance(self, length: timedelta) -> None:
        """Move on by *length*; back, if it is negative (a clock that was corrected)."""
        self._now += length
