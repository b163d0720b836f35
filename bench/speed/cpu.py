"""CPU of one record with no round trip: all phases, logging and metrics included, to a stream that goes nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figures import Figure, Target, compared
from bench.speed.invoking import both, fresh
from bench.spread import in_turns

SIZES = (1, 10, 100)


def cpu(*, runs: int) -> Iterator[Figure]:
    """Yield one figure for each batch size. The target is that of Lambda's default batch of ten and beyond."""
    with both() as (mine, theirs):
        for size in SIZES:
            turns = in_turns(mine.cpu(fresh(size)), theirs.cpu(fresh(size)), runs=runs)
            targets = (Target("ratio", 0.4),) if size >= 10 else ()
            yield compared("cpu", {"batch": size}, turns, unit="us", targets=targets)
