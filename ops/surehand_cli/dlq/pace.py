"""How fast letters are moved: a token bucket, and a ramp of growing stages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from surehand_cli.problem import Problem

#: Sizes of the stages after the canaries, each followed by a look at what became of it; then all the rest.
STAGES = (10, 100)
#: The ramp of a run without a look between: everything at once.
UNWATCHED: tuple[int, ...] = ()
#: AWS's own move tasks take at most as many a second.
FASTEST = 500.0


@dataclass(slots=True)
class Bucket:
    """A token bucket: *rate* letters a second, up to *burst* at once. Time comes in as an argument."""

    rate: float
    burst: int
    _tokens: float
    _at: datetime

    @classmethod
    def full(cls, rate: float, *, burst: int, now: datetime) -> Bucket:
        """Return a bucket that is full at *now*."""
        return cls(rate, burst, float(burst), now)

    def wait_for(self, count: int, now: datetime) -> timedelta:
        """Return how long to wait, from *now*, until *count* may go."""
        self._fill(now)
        missing = min(count, self.burst) - self._tokens
        return timedelta(seconds=missing / self.rate) if missing > 0 else timedelta(0)

    def take(self, count: int, now: datetime) -> None:
        """Take *count* tokens; more than there are leaves a debt that later ones wait for."""
        self._fill(now)
        self._tokens -= count

    def _fill(self, now: datetime) -> None:
        passed = max(0.0, (now - self._at).total_seconds())
        self._tokens = min(float(self.burst), self._tokens + passed * self.rate)
        self._at = max(self._at, now)


def rate_of(text: str) -> float:
    """Return letters per second from `5/s`, `300/m` or `5`.

    Raises:
        Problem: It is none of these, or outside 0 to 500 a second.
    """
    number, _, unit = text.partition("/")
    try:
        rate = float(number) / {"": 1, "s": 1, "m": 60, "h": 3_600}[unit]
    except (ValueError, KeyError):
        raise Problem(f"--rate {text!r}: write 5/s, 300/m or 5") from None
    if not 0 < rate <= FASTEST:
        raise Problem(f"--rate {text!r}: it must be above 0 and at most {FASTEST:.0f} a second")
    return rate


def stages(total: int, sizes: tuple[int, ...] = STAGES) -> Iterator[int]:
    """Yield how many letters each stage moves until *total* are moved."""
    for size in sizes:
        if total <= 0:
            return
        yield min(size, total)
        total -= size
    if total > 0:
        yield total
