"""Cron expressions in AWS's dialect, with the arithmetic to list their ticks.

Why not a library: `docs/decisions/0005-cron-arithmetic.md`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo

from surehand.declare.cron_fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    FIELDS,
    HOURS,
    MINUTES,
    MONTH,
    YEAR,
    BadField,
    MonthDays,
    WeekDays,
)
from surehand.errors import DeclarationError

_EPOCH = datetime.fromtimestamp(0, UTC)
#: No schedule of this framework is older. The present would not do: a function must still be importable when its last
#: tick has come, since messages of it may be on their way.
_BORN = datetime(2026, 1, 1, tzinfo=UTC)
#: Clocks are put back by at most this much, so a wall time this far ahead may be an earlier moment.
_PUT_BACK = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class Cron:
    """A validated cron expression in a time zone. Made by `cron`.

    Local times that do not exist when clocks go forward are skipped, and those that occur twice when clocks go back
    count once, the first time: so does EventBridge Scheduler
    (https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time).
    """

    text: str
    timezone: str
    zone: tzinfo = field(repr=False, compare=False)
    minutes: tuple[int, ...] = field(repr=False, compare=False)
    hours: tuple[int, ...] = field(repr=False, compare=False)
    days: MonthDays | WeekDays = field(repr=False, compare=False)
    months: tuple[int, ...] = field(repr=False, compare=False)
    years: tuple[int, ...] = field(repr=False, compare=False)

    #: Whether the ticks are known beforehand.
    anchored = True

    @property
    def expression(self) -> str:
        """The expression as EventBridge Scheduler takes it."""
        return f"cron({self.text})"

    def following(self, after: datetime) -> datetime | None:
        """Return the first tick later than *after* (aware), in the expression's zone; None if there is none."""
        return next((tick for tick in self.since(after) if tick > after.astimezone(UTC)), None)

    def since(self, start: datetime) -> Iterator[datetime]:
        """Yield the ticks not earlier than *start* (aware), in order, in the expression's zone."""
        start = start.astimezone(UTC)  # two times of one zone would be compared by the wall clock
        wall = start.astimezone(self.zone).replace(tzinfo=None, second=0, microsecond=0)
        return (tick for tick in self._moments(wall, 1) if tick >= start)

    def latest(self, at: datetime) -> datetime | None:
        """Return the last tick not later than *at* (aware), in the expression's zone; None if there is none."""
        at = at.astimezone(UTC)
        wall = at.astimezone(self.zone).replace(tzinfo=None) + _PUT_BACK
        return next((tick for tick in self._moments(wall, -1) if tick <= at), None)

    def _moments(self, wall: datetime, step: int) -> Iterator[datetime]:
        """Yield the ticks from a local time onwards (*step* 1) or back (-1), without those that do not exist."""
        for local in self._walls(wall, step):
            moment = local.replace(tzinfo=self.zone)
            if moment.astimezone(UTC).astimezone(self.zone).replace(tzinfo=None) == local:
                yield moment

    def _walls(self, start: datetime, step: int) -> Iterator[datetime]:
        first = bisect_left(self.years, start.year) if step > 0 else bisect_right(self.years, start.year)
        for year in self.years[first:] if step > 0 else self.years[:first][::-1]:
            for month in self.months[::step]:
                if _before((year, month), start, step):
                    continue
                for day in self.days.of(year, month)[::step]:
                    date = datetime(year, month, day)  # noqa: DTZ001 - a wall clock; the zone is applied by the caller
                    if (date.date() - start.date()).days * step < 0:
                        continue
                    yield from self._of_day(date, start, step)

    def _of_day(self, date: datetime, start: datetime, step: int) -> Iterator[datetime]:
        for hour in self.hours[::step]:
            if date.date() == start.date() and (hour - start.hour) * step < 0:
                continue
            for minute in self.minutes[::step]:
                local = date.replace(hour=hour, minute=minute)
                if (local >= start) if step > 0 else (local <= start):
                    yield local


def cron(expression: str, *, timezone: str = "UTC") -> Cron:
    """Return a cron expression of AWS's dialect: minutes hours day-of-month month day-of-week year.

    `?`, `*`, `,`, `-`, `/`, `L`, `W` and `#` mean what they mean to EventBridge Scheduler; 1 is Sunday; one of the two
    day fields must be `?`.

    Args:
        expression: Six fields, without `cron(…)` around them.
        timezone: An IANA name, such as `Europe/Berlin`.

    Raises:
        DeclarationError: At import, naming the field at fault, what it says and what it may say.
    """
    texts = expression.split() if isinstance(expression, str) else []
    if len(texts) != len(FIELDS):
        raise DeclarationError(
            f"cron({expression!r}): six fields are needed, {' '.join(each.name for each in FIELDS)}; these are "
            f"{len(texts)}. AWS's dialect has a year at the end, and '?' in one of the two day fields."
        )
    try:
        minutes, hours, months, years = (
            tuple(sorted(each.numbers(texts[FIELDS.index(each)]))) for each in (MINUTES, HOURS, MONTH, YEAR)
        )
        days = _days(texts[FIELDS.index(DAY_OF_MONTH)], texts[FIELDS.index(DAY_OF_WEEK)])
    except BadField as error:
        raise DeclarationError(f"cron('{expression}'): {error}.") from None
    made = Cron(" ".join(texts), timezone, _zone(expression, timezone), minutes, hours, days, months, years)
    if made.following(_EPOCH - timedelta(days=1)) is None:
        raise DeclarationError(f"cron('{expression}'): no such day exists, so it never fires.")
    if made.following(_BORN) is None:
        raise DeclarationError(f"cron('{expression}'): its last moment was before {_BORN.year}, so it never fires.")
    return made


def _days(of_month: str, of_week: str) -> MonthDays | WeekDays:
    if of_month == "?" and of_week != "?":
        return WeekDays.parse(of_week)
    if of_week == "?" and of_month != "?":
        return MonthDays.parse(of_month)
    raise BadField(
        f"{DAY_OF_MONTH.name} = '{of_month}' and {DAY_OF_WEEK.name} = '{of_week}': exactly one of them must be '?', "
        "and the other says which days"
    )


def _zone(expression: str, timezone: str) -> tzinfo:
    if timezone == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(timezone)
    except (LookupError, ValueError, OSError, TypeError):
        raise DeclarationError(
            f"cron('{expression}', timezone={timezone!r}): no such time zone. Use an IANA name, such as "
            "'Europe/Berlin'."
        ) from None


def _before(month: tuple[int, int], start: datetime, step: int) -> bool:
    at = (start.year, start.month)
    return month < at if step > 0 else month > at
