"""How long to wait before the next attempt: exponential, capped, with full jitter.

Source: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015 (full jitter has the least
contention of the variants compared there).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from random import Random

from surehand.errors import DeclarationError

#: SQS counts visibility in whole seconds; 0 would mean "at once".
SHORTEST = timedelta(seconds=1)

#: Beyond this doubling no cap within SQS's 12 hours is left to reach, and a float would overflow.
_DOUBLINGS = 32


@dataclass(frozen=True, slots=True)
class Backoff:
    """A policy: the n-th wait is drawn evenly from 0 to `first` · 2^(n-1), at most `cap`.

    Args:
        first: The longest wait after the first failed attempt; at least 1 s.
        cap: The longest wait at all; from `first` up to 12 h, which is SQS's limit for visibility.

    Raises:
        DeclarationError: A length is outside its range.
    """

    first: timedelta = timedelta(seconds=2)
    cap: timedelta = timedelta(minutes=15)

    def __post_init__(self) -> None:
        if self.first < SHORTEST:
            raise DeclarationError(f"Backoff(first={self.first}): the first wait must be at least 1 s.")
        if not self.first <= self.cap <= timedelta(hours=12):
            raise DeclarationError(
                f"Backoff(cap={self.cap}): the cap must lie between first ({self.first}) and 12 h, SQS's limit."
            )

    def wait(self, attempt: int, random: Random) -> timedelta:
        """Return the wait after the failed attempt number *attempt* (from 1): at least 1 s, at most `cap`."""
        doublings: int = 2 ** min(max(attempt, 1) - 1, _DOUBLINGS)
        ceiling = min(self.cap, self.first * doublings)
        return max(SHORTEST, timedelta(seconds=ceiling.total_seconds() * random.random()))
