"""Memory: the resident size of a warm process, and what 10,000 more messages add to it. Linux only."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from bench.figures import Figure, Target
from bench.speed.cold import ROOT

_MESSAGES = 10_000


def memory(*, runs: int) -> Iterator[Figure]:  # noqa: ARG001 - a size needs no repetition
    """Yield one figure for each side. The allowance is a few arenas of the allocator, not a rate."""
    for side in ("surehand", "powertools"):
        done = subprocess.run(
            [sys.executable, "-m", "bench.speed.warm", side, str(_MESSAGES)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
        )
        told = json.loads(done.stdout.strip().splitlines()[-1])
        yield Figure(
            name="memory",
            under={"side": side, "messages": _MESSAGES},
            values={
                "warm_mb": round(told["warm_kb"] / 1024, 1),
                "after_mb": round(told["after_kb"] / 1024, 1),
                "growth_mb": round((told["after_kb"] - told["warm_kb"]) / 1024, 2),
            },
            targets=(Target("growth_mb", 2.0),) if side == "surehand" else (),
        )
