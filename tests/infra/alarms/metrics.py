"""Metrics minute by minute, as CloudWatch keeps them: periods, missing points, and the time until they arrive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.infra.alarms.expression import Series

#: Minutes until a metric of the namespace can be seen; an assumption, on the slow side of what is observed.
ARRIVES_AFTER = {"AWS/SQS": 2, "AWS/Lambda": 1, "surehand": 1, "AWS/DynamoDB": 1, "AWS/Scheduler": 1, "insight": 2}

_COMBINE: Mapping[str, Callable[[list[float]], float]] = {"Sum": sum, "Maximum": max, "Minimum": min}


class Key(NamedTuple):
    """One metric: namespace, name and the value of its one dimension."""

    namespace: str
    name: str
    of: str


@dataclass(slots=True)
class Recorded:
    """What was recorded in each of *minutes* minutes. Insight contributions are kept by contributor."""

    minutes: int
    points: dict[Key, Series] = field(default_factory=dict)
    contributions: dict[str, list[dict[tuple[str, str], int]]] = field(default_factory=dict)

    def put(self, minute: int, key: Key, value: float) -> None:
        """The value of a metric for a minute: the sum of a counter, or what was sampled of a gauge."""
        self.points.setdefault(key, [None] * self.minutes)[minute] = value

    def contribute(self, minute: int, rule: str, code: str, tenant: str) -> None:
        """One matched log event of a Contributor Insights rule."""
        counts = self.contributions.setdefault(rule, [{} for _ in range(self.minutes)])[minute]
        counts[code, tenant] = counts.get((code, tenant), 0) + 1

    def series(self, key: Key, stat: str, period: int) -> Series:
        """The statistic over the *period* (seconds) that ends at each minute, as seen when it has arrived."""
        each = self.points.get(key)
        if each is None:
            return [None] * self.minutes
        return _late(_windows(each, stat, period // 60), ARRIVES_AFTER[key.namespace])

    def insight(self, rule: str, what: str, period: int) -> Series:
        """INSIGHT_RULE_METRIC over sliding periods."""
        recorded = self.contributions.get(rule)
        if recorded is None:
            return [None] * self.minutes
        found: Series = []
        window: dict[tuple[str, str], int] = {}
        for minute, counts in enumerate(recorded):
            _add(window, counts, 1)
            if minute >= period // 60:
                _add(window, recorded[minute - period // 60], -1)
            values = [count for count in window.values() if count]
            found.append(float(max(values) if what == "MaxContributorValue" else sum(values)) if values else None)
        return _late(found, ARRIVES_AFTER["insight"])


def _add(window: dict[tuple[str, str], int], counts: Mapping[tuple[str, str], int], sign: int) -> None:
    for contributor, count in counts.items():
        window[contributor] = window.get(contributor, 0) + sign * count


def _windows(each: Series, stat: str, width: int) -> Series:
    if width == 1:
        return each
    combine = _COMBINE[stat]
    found: Series = []
    for end in range(1, len(each) + 1):
        values = [value for value in each[max(0, end - width) : end] if value is not None]
        found.append(combine(values) if values else None)
    return found


def _late(series: Series, minutes: int) -> Series:
    return [None] * minutes + series[: len(series) - minutes]
