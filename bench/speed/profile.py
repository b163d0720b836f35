"""Where the time of the hot path goes: own time by area, of batches of ten with no round trip.

Taken with cProfile, which makes small Python functions look dearer than they are: read it as shares.
"""

from __future__ import annotations

import cProfile
import gc
import pstats
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from bench.figures import Figure
from bench.speed.invoking import both, fresh
from bench.spread import WARM_UP

_SIZE, _BATCHES = 10, 300
_STRETCHES = ("until_claim_ms", "claim_ms", "run_until_settle_ms", "settle_ms", "until_answer_ms")
#: Area by a part of the file's path, the first that fits; what fits none is Python's own.
_AREAS = (
    ("bench/", None),
    ("botocore/auth", "botocore: signature"),
    ("botocore/regions", "botocore: endpoint"),
    ("botocore/endpoint_provider", "botocore: endpoint"),
    ("botocore/parsers", "botocore: answer"),
    ("botocore/retries", "botocore: retries"),
    ("botocore/", "botocore: the rest"),
    ("urllib3/", "botocore: the rest"),
    ("email/", "botocore: headers"),
    ("surehand/aws/telling", "surehand: tell"),
    ("surehand/aws/", "surehand: statements and items"),
    ("surehand/ledger/", "surehand: rules of the ledger"),
    ("surehand/worker/", "surehand: plan, run, settle"),
    ("surehand/delivery", "surehand: parse, validate, identify"),
    ("surehand/declare/", "surehand: parse, validate, identify"),
    ("surehand/", "surehand: the rest"),
    ("json/", "JSON"),
    ("pydantic", "pydantic"),
    ("dataclasses", "dataclasses"),
)


def profile(*, runs: int) -> Iterator[Figure]:  # noqa: ARG001 - one profile of many batches
    """Yield the share of each area."""
    with both() as (mine, _):
        for _unmeasured in range(30):
            mine.invoke(fresh(_SIZE)())
        events = [fresh(_SIZE)() for _ in range(_BATCHES)]
        profiler = cProfile.Profile()
        profiler.enable()
        for event in events:
            mine.invoke(event)
        profiler.disable()
    own: dict[str, float] = defaultdict(float)
    for (path, _line, name), (_, _, seconds, _, _) in _stats(profiler).items():
        area = _area(path, name)
        if area is not None:
            own[area] += seconds
    total = sum(own.values())
    shares = sorted(own.items(), key=lambda entry: -entry[1])
    yield Figure(
        name="profile",
        under={"batch": _SIZE},
        values={area: f"{seconds / total:.0%}" for area, seconds in shares if seconds / total >= 0.005},
    )


def timeline(*, runs: int) -> Iterator[Figure]:
    """Yield where the time of one batch of ten goes at five milliseconds: ours before, between and after two calls."""
    parts: dict[str, list[float]] = defaultdict(list)
    with both(round_trip=timedelta(milliseconds=5)) as (mine, _):
        for turn in range(WARM_UP + runs):
            event = fresh(_SIZE)()
            gc.collect()
            mine.responder.moments.clear()
            began = time.perf_counter()
            mine.invoke(event)
            ended = time.perf_counter()
            (claim, claimed), (settle, settled) = mine.responder.moments
            stretches = (claim - began, claimed - claim, settle - claimed, settled - settle, ended - settled)
            if turn >= WARM_UP:
                for name, length in zip(_STRETCHES, stretches, strict=True):
                    parts[name].append(length * 1e3)
    values = {name: round(statistics.median(lengths), 2) for name, lengths in parts.items()}
    yield Figure(name="timeline", under={"batch": _SIZE, "round_trip_ms": 5}, values=values)


def _stats(profiler: cProfile.Profile) -> dict[tuple[str, int, str], tuple[int, int, float, float, Any]]:
    return pstats.Stats(profiler).stats  # type: ignore[attr-defined, no-any-return]  # not in the stub


def _area(path: str, name: str) -> str | None:
    if path == "~":
        if "acquire" in name or "sleep" in name:
            return None  # waiting
        return "JSON" if "json" in name or "Encoder" in name else "built-in functions"
    place = path.replace("\\", "/")
    return next((area for part, area in _AREAS if part in place), "standard library")
