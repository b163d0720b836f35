"""When a schedule fires: a cron expression or a fixed period, and the ticks of either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, takewhile

from surehand.declare.cron import Cron
from surehand.errors import DeclarationError

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_EPOCH = datetime.fromtimestamp(0, UTC)
#: The first year that no cron expression reaches.
_LAST = datetime(2200, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Every:
    """A fixed period. One that divides an hour or a day counts from midnight UTC; any other from AWS's start."""

    period: timedelta

    timezone = "UTC"

    @property
    def anchored(self) -> bool:
        """Whether the ticks are known beforehand: only then can they be listed."""
        return self._cron() is not None

    @property
    def expression(self) -> str:
        """The expression as EventBridge Scheduler takes it: a cron expression where that says the same."""
        if (text := self._cron()) is not None:
            return f"cron({text})"
        for length, unit in ((_DAY, "day"), (_HOUR, "hour")):
            if not self.period % length:
                return f"rate({_counted(self.period // length, unit)})"
        return f"rate({_counted(self.period // _MINUTE, 'minute')})"

    def following(self, after: datetime) -> datetime:
        """Return the first tick later than *after* (aware), in UTC; an estimate unless `anchored`."""
        return self.latest(after) + self.period

    def since(self, start: datetime) -> Iterator[datetime]:
        """Yield the ticks not earlier than *start* (aware), in order, in UTC; estimates unless `anchored`."""
        tick = self.following(start - timedelta(microseconds=1))
        while True:
            yield tick
            tick += self.period

    def latest(self, at: datetime) -> datetime:
        """Return the last tick not later than *at* (aware), in UTC; an estimate unless `anchored`."""
        return _EPOCH + (at - _EPOCH) // self.period * self.period

    def _cron(self) -> str | None:
        minutes = self.period // _MINUTE
        if self.period < _HOUR and not _HOUR % self.period:
            return f"0/{minutes} * * * ? *" if minutes > 1 else "* * * * ? *"
        if not self.period % _HOUR and not _DAY % self.period:
            hours = self.period // _HOUR
            return {1: "0 * * * ? *", 24: "0 0 * * ? *"}.get(hours, f"0 0/{hours} * * ? *")
        return None


When = Cron | Every


def every(period: timedelta) -> Every:
    """Return a fixed period.

    Raises:
        DeclarationError: It is not a whole number of minutes, at least one: EventBridge Scheduler has no finer rate.
    """
    if period < _MINUTE or period % _MINUTE:
        raise DeclarationError(
            f"{period!r} is no period for a schedule: EventBridge Scheduler takes whole minutes, at least one."
        )
    return Every(period)


def ticks(when: When, start: datetime, end: datetime) -> Iterator[datetime]:
    """Return the ticks from *start* (inclusive) to *end* (exclusive), both aware, in order."""
    end = end.astimezone(UTC)
    return takewhile(lambda tick: tick < end, when.since(start))


def shortest_gap(when: When, since: datetime = datetime(2024, 1, 1, tzinfo=UTC)) -> timedelta | None:
    """Return the shortest time between two of the first 400 ticks after *since*; None if there is one at most."""
    if isinstance(when, Every):
        return when.period
    found = list(islice(ticks(when, since, _LAST), 400))
    return min((later.astimezone(UTC) - tick.astimezone(UTC) for tick, later in pairwise(found)), default=None)


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
