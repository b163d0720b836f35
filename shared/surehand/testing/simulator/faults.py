"""What goes wrong, at which rate. All drawn from the simulation's one seeded random source."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Rates between 0 and 1 of what AWS allows itself, or what befalls a process. All 0: a perfect day.

    Attributes:
        duplicate: A standard queue delivers a received or deleted message once more ("at-least-once delivery").
        reorder: A standard queue hands out some other message than the oldest ("best-effort ordering").
        short: A receive returns fewer messages than are there (SQS samples its servers).
        throttle: An invocation is refused with TooManyRequestsException.
        kill: At a call of ledger, queue or effect, the process dies just before or just after it.
        lose_reply: A call has its effect and its caller gets an error all the same.
        refuse: A call has no effect and its caller gets an error (throttled, unreachable).
        tick_duplicate: EventBridge Scheduler delivers a tick twice.
        latency: The longest time that one call takes; drawn evenly. 0 means that calls take no time.
    """

    duplicate: float = 0.0
    reorder: float = 0.0
    short: float = 0.0
    throttle: float = 0.0
    kill: float = 0.0
    lose_reply: float = 0.0
    refuse: float = 0.0
    tick_duplicate: float = 0.0
    latency: timedelta = timedelta(0)


@dataclass(slots=True)
class Chance:
    """The seeded source and the rates in force; the rates may be changed while a simulation runs."""

    random: Random
    faults: Faults = field(default_factory=Faults)

    def of(self, rate: float) -> bool:
        """Draw: True at *rate*. A rate of 0 draws nothing, so switching one fault on leaves the others' draws alone."""
        return rate > 0 and self.random.random() < rate

    def within(self, longest: timedelta) -> timedelta:
        """Draw a length evenly from 0 to *longest*."""
        return longest * self.random.random() if longest else longest

    def identifier(self) -> str:
        """Draw a UUID, as AWS's message and request ids are."""
        text = f"{self.random.getrandbits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"
