"""Where the time of the hot path goes: own time by area, of batches of ten with no round trip.

Taken with cProfile, which makes small Python functions look dearer than they are: read it as shares.
"""

from __future__ import annotations

import cProfile
import pstats
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from bench.figures import Figure
from bench.speed.invoking import both, fresh

_SIZE, _BATCHES = 10, 300
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


def _stats(profiler: cProfile.Profile) -> dict[tuple[str, int, str], tuple[int, int, float, float, Any]]:
    return pstats.Stats(profiler).stats  # type: ignore[attr-defined, no-any-return]  # not in the stub


def _area(path: str, name: str) -> str | None:
    if path == "~":
        if "acquire" in name or "sleep" in name:
            return None  # waiting
        return "JSON" if "json" in name or "Encoder" in name else "built-in functions"
    place = path.replace("\\", "/")
    return next((area for part, area in _AREAS if part in place), "standard library")
