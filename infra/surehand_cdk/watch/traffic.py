"""How much a handler is expected to do: what the alarms' periods and thresholds follow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Traffic:
    """A handler's usual load.

    *per_minute* is messages a minute in a usual busy hour; *oldest* is how old the oldest message may get before
    somebody must know (default: 5 minutes, or two visibility timeouts if that is longer).
    """

    per_minute: float = 30.0
    oldest: timedelta | None = None

    def __post_init__(self) -> None:
        if self.per_minute <= 0:
            raise ValueError(
                f"Traffic(per_minute={self.per_minute}): say more than 0; 0.1 is one message in ten minutes."
            )


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often a rate is looked at: *period* seconds, *least* attempts for a rate to mean anything, M out of N."""

    period: int
    least: int
    breaches: int
    periods: int

    @property
    def delay(self) -> int:
        """Seconds after which a rate is red at the latest: its periods, and two minutes until the metrics are there."""
        return (self.breaches + 1) * self.period + 120


BUSY = Rhythm(period=60, least=10, breaches=3, periods=5)
QUIET = Rhythm(period=300, least=10, breaches=2, periods=3)
RARE = Rhythm(period=900, least=5, breaches=1, periods=2)


def rhythm(traffic: Traffic) -> Rhythm:
    """The rhythm at which *traffic* fills a period with enough attempts for a rate."""
    if traffic.per_minute >= 20:
        return BUSY
    return QUIET if traffic.per_minute >= 2 else RARE
