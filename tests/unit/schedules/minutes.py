"""A second opinion on cron expressions: every minute of UTC is looked at, and none is calculated."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


def matching(expression: str, timezone: str, start: datetime, end: datetime) -> Iterator[datetime]:
    """Yield the minutes from *start* to *end* at which the expression fires, in UTC."""
    fields = expression.split()
    zone = ZoneInfo(timezone)
    moment = start
    while moment < end:
        local = moment.astimezone(zone)
        if local.fold == 0 and _fires(fields, local):
            yield moment
        moment += timedelta(minutes=1)


def _fires(fields: list[str], local: datetime) -> bool:
    minute, hour, day_of_month, month, day_of_week, year = fields
    return (
        _plain(minute, local.minute, 0)
        and _plain(hour, local.hour, 0)
        and _plain(month, local.month, 1, MONTHS)
        and _plain(year, local.year, 1970)
        and (day_of_month == "?" or any(_day_of_month(part, local) for part in day_of_month.split(",")))
        and (day_of_week == "?" or any(_day_of_week(part, local) for part in day_of_week.split(",")))
    )


def _plain(text: str, value: int, least: int, words: list[str] = []) -> bool:  # noqa: B006 - never changed
    def number(part: str) -> int:
        return words.index(part.upper()) + 1 if part.upper() in words else int(part)

    for part in text.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        low = least if span == "*" else number(first)
        high = number(last) if dash else low if not step and span != "*" else 10_000
        if low <= value <= high and (value - low) % int(step or 1) == 0:
            return True
    return False


def _day_of_month(part: str, local: datetime) -> bool:
    length = calendar.monthrange(local.year, local.month)[1]
    if part == "L":
        return local.day == length
    if part.endswith("W"):
        wanted = length if part == "LW" else int(part[:-1])
        if wanted > length:
            return False
        working = [day for day in range(1, length + 1) if calendar.weekday(local.year, local.month, day) < 5]
        return local.day == min(working, key=lambda day: (abs(day - wanted), abs(day - wanted + 0.1)))
    return _plain(part, local.day, 1)


def _day_of_week(part: str, local: datetime) -> bool:
    weekday = (local.weekday() + 1) % 7 + 1
    if "#" in part:
        day, _, which = part.partition("#")
        return _plain(day, weekday, 1, DAYS) and (local.day - 1) // 7 + 1 == int(which)
    if part == "L":
        return weekday == 7
    if part.endswith("L"):
        length = calendar.monthrange(local.year, local.month)[1]
        return _plain(part[:-1], weekday, 1, DAYS) and local.day + 7 > length
    return _plain(part, weekday, 1, DAYS)
