"""The six fields of an AWS cron expression: what each may say, and which minutes, hours and days that means.

Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based. Where that page names a
wildcard without saying what it means exactly (`LW`, `15W`), it means what it does in Quartz, whose dialect AWS's is.
Days of the week count from 1, Sunday.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


class BadField(ValueError):
    """A field of a cron expression cannot be read. The text names the field, what was given and what is allowed."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name, its range, and names that stand for numbers."""

    name: str
    least: int
    most: int
    words: Mapping[str, int] = field(default_factory=dict)

    def numbers(self, text: str) -> frozenset[int]:
        """Return the numbers that `*`, a number, a range, a step or a list of these means.

        Raises:
            BadField: It is none of these, or out of range.
        """
        return frozenset(number for part in text.split(",") for number in self._part(part, text))

    def number(self, text: str, whole: str) -> int:
        """Return one number, or the number of a word.

        Raises:
            BadField: It is neither, or out of range.
        """
        found = self.words.get(text.upper())
        if found is None and text.isascii() and text.isdigit() and len(text) <= 4:
            found = int(text)
        if found is None or not self.least <= found <= self.most:
            raise self.bad(whole, f"{self._range()} was expected where it says '{text}'")
        return found

    def bad(self, given: str, problem: str) -> BadField:
        """Return the error that says what is wrong with this field."""
        return BadField(f"{self.name} = '{given}': {problem}")

    def _part(self, part: str, whole: str) -> Iterable[int]:
        span, slash, step = part.partition("/")
        if slash and not (step.isascii() and step.isdigit() and 1 <= int(step) <= self.most):
            raise self.bad(whole, f"the step after '/' must be a number from 1 to {self.most}")
        first, dash, last = span.partition("-")
        if span == "*":
            start, end = self.least, self.most
        elif dash:
            start, end = self.number(first, whole), self.number(last, whole)
            if start > end:
                raise self.bad(whole, f"the range '{span}' begins after it ends; write it as two, with a comma")
        else:
            start = self.number(span, whole)
            end = self.most if slash else start
        return range(start, end + 1, int(step) if slash else 1)

    def _range(self) -> str:
        words = f", or {next(iter(self.words))} to {list(self.words)[-1]}" if self.words else ""
        return f"a number from {self.least} to {self.most}{words}"


def _words(text: str) -> Mapping[str, int]:
    return MappingProxyType({word: number for number, word in enumerate(text.split(), start=1)})


MINUTES = Field("minutes", 0, 59)
HOURS = Field("hours", 0, 23)
DAY_OF_MONTH = Field("day-of-month", 1, 31)
MONTH = Field("month", 1, 12, _words("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"))
DAY_OF_WEEK = Field("day-of-week", 1, 7, _words("SUN MON TUE WED THU FRI SAT"))
YEAR = Field("year", 1970, 2199)
FIELDS = (MINUTES, HOURS, DAY_OF_MONTH, MONTH, DAY_OF_WEEK, YEAR)


@dataclass(frozen=True, slots=True)
class MonthDays:
    """The day-of-month field: plain days, `L` (last), `LW` (last weekday), `15W` (the weekday nearest to it)."""

    plain: frozenset[int] = frozenset()
    nearest: frozenset[int] = frozenset()
    last: bool = False
    last_weekday: bool = False

    @classmethod
    def parse(cls, text: str) -> MonthDays:
        """Read the field. BadField if it cannot be."""
        plain: set[int] = set()
        nearest: set[int] = set()
        parts = text.upper().split(",")
        for part in parts:
            if part.endswith("W") and part != "LW":
                nearest.add(DAY_OF_MONTH.number(part[:-1], text))
            elif part not in ("L", "LW"):
                plain |= DAY_OF_MONTH.numbers(part)
        return cls(frozenset(plain), frozenset(nearest), last="L" in parts, last_weekday="LW" in parts)

    def of(self, year: int, month: int) -> list[int]:
        """Return the days of that month, in order."""
        length = calendar.monthrange(year, month)[1]
        days = {day for day in self.plain if day <= length}
        days |= {_nearest_weekday(year, month, day, length) for day in self.nearest if day <= length}
        if self.last:
            days.add(length)
        if self.last_weekday:
            days.add(_nearest_weekday(year, month, length, length))
        return sorted(days)


@dataclass(frozen=True, slots=True)
class WeekDays:
    """The day-of-week field: plain days, `6L` (the month's last Friday), `3#2` (its second Tuesday); 1 is Sunday."""

    plain: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    nth: tuple[int, int] | None = None

    @classmethod
    def parse(cls, text: str) -> WeekDays:
        """Read the field. BadField if it cannot be."""
        if "#" in text:
            day, _, which = text.partition("#")
            if which not in ("1", "2", "3", "4", "5"):
                raise DAY_OF_WEEK.bad(text, "after '#' comes a number from 1 to 5, and nothing else beside it")
            return cls(nth=(DAY_OF_WEEK.number(day, text), int(which)))
        plain: set[int] = set()
        last: set[int] = set()
        for part in text.upper().split(","):
            if part == "L":
                plain.add(7)
            elif part.endswith("L"):
                last.add(DAY_OF_WEEK.number(part[:-1], text))
            else:
                plain |= DAY_OF_WEEK.numbers(part)
        return cls(frozenset(plain), frozenset(last))

    def of(self, year: int, month: int) -> list[int]:
        """Return the days of that month, in order."""
        first, length = calendar.monthrange(year, month)
        by_day: dict[int, list[int]] = {}
        for day in range(1, length + 1):
            by_day.setdefault((first + day) % 7 + 1, []).append(day)  # calendar counts from 0, Monday
        days = {day for weekday in self.plain for day in by_day[weekday]}
        days |= {by_day[weekday][-1] for weekday in self.last}
        if self.nth is not None:
            weekday, which = self.nth
            days |= set(by_day[weekday][which - 1 : which])
        return sorted(days)


def _nearest_weekday(year: int, month: int, day: int, length: int) -> int:
    """Return the Monday to Friday nearest to a day, within the month."""
    weekday = calendar.weekday(year, month, day)
    if weekday == calendar.SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == calendar.SUNDAY:
        return day + 1 if day < length else day - 2
    return day
