"""Batch latency: fresh batches, a handler that returns at once, and a round trip of fixed length to DynamoDB."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from bench.figures import Figure, Target, compared
from bench.speed.invoking import both, fresh
from bench.spread import in_turns

SIZES = (1, 10, 100, 1_000)
ROUND_TRIPS_MS = (0, 2, 5, 20)
#: At five milliseconds: how many times faster than the peer a batch must be.
_TARGETS = {1: 1.0, 10: 8.0, 100: 25.0}
#: A batch of the peer beyond this many seconds is measured five times, not as often as the others: it is two round
#: trips for each message, one after the other, and little else.
_LONG = 5.0


def latency(
    *, runs: int, sizes: tuple[int, ...] = SIZES, round_trips_ms: tuple[int, ...] = ROUND_TRIPS_MS
) -> Iterator[Figure]:
    """Yield one figure for each batch size and round trip."""
    for round_trip in round_trips_ms:
        with both(round_trip=timedelta(milliseconds=round_trip)) as (mine, theirs):
            for size in sizes:
                long = 2 * size * round_trip / 1e3 > _LONG
                turns = in_turns(mine.wall(fresh(size)), theirs.wall(fresh(size)), runs=min(5, runs) if long else runs)
                took = mine.responder.round_trip * 1e3
                under = {"batch": size, "round_trip_ms": round_trip}
                figure = compared("latency", under, turns, unit="ms", targets=_targets(size, round_trip))
                # Two round trips are the least that a claim before the effect and a settle after it can take.
                limit = {"of_limit": round(turns.ours.median / (2 * took), 3)} if round_trip else {}
                yield replace(figure, values={**figure.values, **limit})


def _targets(size: int, round_trip: int) -> tuple[Target, ...]:
    if round_trip != 5 or size not in _TARGETS:
        return ()
    faster = Target("times_faster", _TARGETS[size], least=True)
    return (faster, Target("of_limit", 1.3)) if size == 10 else (faster,)
