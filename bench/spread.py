"""Repeated measurements, taken in turns, with the machine's own noise beside them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: One measurement: returns what it found, in the figure's unit.
Measure = Callable[[], float]
#: Runs before the counted ones: connections, caches and the adaptive interpreter.
WARM_UP = 2


@dataclass(frozen=True, slots=True)
class Spread:
    """Repeated values of one figure: median, quartiles and the least."""

    median: float
    lower: float
    upper: float
    least: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of at least one value."""
        if len(values) == 1:
            return cls(values[0], values[0], values[0], values[0], 1)
        lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, lower, upper, min(values), len(values))

    def rounded(self) -> dict[str, float | int | list[float]]:
        """Return it for JSON."""
        return {
            "median": _short(self.median),
            "quartiles": [_short(self.lower), _short(self.upper)],
            "min": _short(self.least),
            "runs": self.runs,
        }


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sides measured in turns. *noise* is the upper quartile of a fixed piece of work over its least time."""

    ours: Spread
    peer: Spread
    noise: float


def in_turns(ours: Measure, peer: Measure, *, runs: int) -> Compared:
    """Measure both sides alternately, each first in every other turn, so that a drift of the machine hits both.

    What this process has loaded besides the two sides is kept out of their garbage collections.
    """
    gc.collect()
    gc.freeze()
    mine: list[float] = []
    theirs: list[float] = []
    spins: list[float] = []
    for turn in range(WARM_UP + runs):
        spins.append(_spin())
        pair = [(mine, ours), (theirs, peer)]
        for values, measure in pair if turn % 2 else reversed(pair):
            gc.collect()
            value = measure()
            if turn >= WARM_UP:
                values.append(value)
    return Compared(Spread.of(mine), Spread.of(theirs), _noise(spins))


def alone(measure: Measure, *, runs: int) -> Spread:
    """Measure one side."""
    values = []
    for turn in range(WARM_UP + runs):
        gc.collect()
        value = measure()
        if turn >= WARM_UP:
            values.append(value)
    return Spread.of(values)


def _spin() -> float:
    began = time.perf_counter()
    sum(range(60_000))
    return time.perf_counter() - began


def _noise(spins: Sequence[float]) -> float:
    return Spread.of(spins).upper / min(spins)


def _short(value: float) -> float:
    return float(f"{value:.4g}")
