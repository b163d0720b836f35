"""Metric math, as far as alarms of ours use it: evaluated over whole series, missing points included.

A series is a list of numbers or None (no data point), oldest first, one for each minute; point *t* is the period that
ends at *t*. Functions that look at earlier points (DIFF, FILL with REPEAT) therefore need a period of one minute.
Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

Series = list[float | None]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>[<>=!]=|[-+*/(),<>\[\]]))"
)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def evaluate(expression: str, series: Mapping[str, Series]) -> Series:
    """The series that *expression* makes of *series* (by id). Raises ValueError for what it does not know."""
    length = max((len(one) for one in series.values()), default=0)
    parser = _Parser(_tokens(expression), series, length)
    result = parser.comparison()
    if parser.rest():
        raise ValueError(f"cannot read {parser.rest()!r} in {expression!r}")
    return result


def _tokens(expression: str) -> list[str]:
    tokens, at = [], 0
    while at < len(expression.rstrip()):
        match = _TOKEN.match(expression, at)
        if match is None:
            raise ValueError(f"cannot read {expression[at:]!r}")
        tokens.append(match.group().strip())
        at = match.end()
    return tokens


@dataclass
class _Parser:
    tokens: list[str]
    series: Mapping[str, Series]
    length: int
    at: int = field(default=0)

    def rest(self) -> list[str]:
        return self.tokens[self.at :]

    def comparison(self) -> Series:
        left = self.sum()
        while self._peek() in _COMPARISONS:
            left = _pairwise(_COMPARISONS[self._next()], left, self.sum())
        return left

    def sum(self) -> Series:
        left = self.product()
        while self._peek() in ("+", "-"):
            left = _pairwise(_ARITHMETIC[self._next()], left, self.product())
        return left

    def product(self) -> Series:
        left = self.atom()
        while self._peek() in ("*", "/"):
            sign = self._next()
            right = self.atom()
            # A division by zero is no data point.
            right = [None if sign == "/" and value == 0 else value for value in right]
            left = _pairwise(_ARITHMETIC[sign], left, right)
        return left

    def atom(self) -> Series:
        token = self._next()
        if token[0].isdigit():
            return [float(token)] * self.length
        if token == "(":
            inner = self.comparison()
            self._expect(")")
            return inner
        if self._peek() == "(":
            return self._function(token)
        if token not in self.series:
            raise ValueError(f"there is no metric {token!r}")
        return self.series[token]

    def _function(self, name: str) -> Series:
        self._expect("(")
        if name == "FILL":
            return self._fill()
        if name == "MAX":
            return self._largest()
        arguments = [self.comparison()]
        while self._peek() == ",":
            self._next()
            arguments.append(self.comparison())
        self._expect(")")
        if name == "IF":
            return _choose(*arguments)
        if name == "DIFF":
            return _difference(*arguments)
        raise ValueError(f"function {name} is not known here")

    def _fill(self) -> Series:
        values = self.comparison()
        self._expect(",")
        if self._peek() == "REPEAT":
            self._next()
            self._expect(")")
            return _repeated(values)
        filler = self.comparison()
        self._expect(")")
        return [given if given is not None else other for given, other in zip(values, filler, strict=True)]

    def _largest(self) -> Series:
        self._expect("[")
        parts = [self.comparison()]
        while self._peek() == ",":
            self._next()
            parts.append(self.comparison())
        self._expect("]")
        self._expect(")")
        return [max((v for v in point if v is not None), default=None) for point in zip(*parts, strict=True)]

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        if not token:
            raise ValueError("the expression ends too early")
        self.at += 1
        return token

    def _expect(self, token: str) -> None:
        if self._next() != token:
            raise ValueError(f"expected {token!r} before {self.rest()!r}")


def _pairwise(combine: Callable[[float, float], float], left: Series, right: Series) -> Series:
    return [None if a is None or b is None else combine(a, b) for a, b in zip(left, right, strict=True)]


def _choose(condition: Series, yes: Series, no: Series) -> Series:
    return [None if c is None else (y if c else n) for c, y, n in zip(condition, yes, no, strict=True)]


def _difference(values: Series) -> Series:
    return [None, *(None if a is None or b is None else b - a for a, b in pairwise(values))]


def _repeated(values: Series) -> Series:
    filled: Series = []
    for value in values:
        filled.append(value if value is not None else (filled[-1] if filled else None))
    return filled
