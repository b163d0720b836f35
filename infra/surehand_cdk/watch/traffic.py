"""How much a handler is expected to do: what the alarms' periods and thresholds follow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Traffic:
    """A handler's usual load.

    *per_minute* is messages a minute in the quieter hours of a day: many times more changes nothing, a third of it
    makes a regression look like poison (docs/alarms.md). *oldest* is how old the oldest message may get before somebody
    must know (default: 5 minutes, or two visibility timeouts if that is longer). *silent_after* is for webhooks: the
    time without a request after which the sender may have given up; whole hours, 1 hour to 1 day.
    """

    per_minute: float = 4.0
    oldest: timedelta | None = None
    silent_after: timedelta = timedelta(days=1)

    def __post_init__(self) -> None:
        if self.per_minute <= 0:
            raise ValueError(
                f"Traffic(per_minute={self.per_minute}): say more than 0; 0.1 is one message in 10 minutes."
            )
        hours = self.silent_after / timedelta(hours=1)
        if not 1 <= hours <= 24 or hours % 1:
            raise ValueError(f"Traffic(silent_after={self.silent_after}): whole hours, from 1 to 24.")


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often a rate is looked at: *period* seconds, M out of N.

    A rate means something from *least* attempts on, a concentration and a contract break from *few* failed messages on.
    """

    period: int
    least: int
    few: int
    breaches: int
    periods: int

    @property
    def immediate(self) -> bool:
        """Whether one period alone turns a rate red, so that nothing that arrives later can explain it in time."""
        return self.breaches == 1

    @property
    def delay(self) -> int:
        """Seconds after which a rate is red at the latest: its periods, and two minutes until the metrics are there."""
        return self.period + 300 if self.immediate else (self.breaches + 1) * self.period + 120


BUSY = Rhythm(period=60, least=10, few=5, breaches=3, periods=5)
QUIET = Rhythm(period=300, least=10, few=4, breaches=2, periods=3)
RARE = Rhythm(period=1800, least=5, few=3, breaches=1, periods=2)


def rhythm(traffic: Traffic) -> Rhythm:
    """The rhythm at which *traffic* fills a period with enough attempts for a rate."""
    if traffic.per_minute >= 20:
        return BUSY
    return QUIET if traffic.per_minute >= 2 else RARE
