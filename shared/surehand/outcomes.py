"""What became of one delivery, and how a handler chooses it.

A handler returns, or raises one of the five fates below. Everything else it raises is a failed attempt under a code of
its own (`surehand.classify`). `OUTCOMES` is the table: what each outcome means for SQS and for the group on FIFO. One
place reads it: `surehand.worker`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from surehand.codes import is_code

#: How a handler says when to come back: a length from now, or an aware moment.
After = timedelta | datetime | None

#: The code of a fate that was given none.
_MISCODED = "code.bad_code"


class Fate(Exception):
    """What a handler raises to choose its message's fate. Raise one of the five below, not this.

    One that comes in an exception group, as out of `asyncio.TaskGroup`, counts as if it had been raised alone, also
    beside other exceptions. Of several the most careful one counts: Unknown, then Retry, Defer, Reject and Cancel.

    Args:
        code: A failure code, `<class>.<name>`; no payload values. One that does not have that shape is recorded as
            `code.bad_code`, with a notice in the delivery's line, since a wrong code must not change the fate that was
            chosen.
        after: When to come back: a length from now or an aware moment. Default: the declared backoff. SQS can hide a
            message for 12 hours at most; a later moment is reached by coming back and waiting again.
    """

    #: What a subclass has whose `__init__` does not call this one's.
    code: str = _MISCODED
    after: After = None

    def __init__(self, code: str, *, after: After = None) -> None:
        if isinstance(after, datetime) and after.tzinfo is None:
            raise TypeError(f"{type(self).__name__}(after=…) needs an aware datetime; this one has no time zone.")
        if after is not None and not isinstance(after, timedelta | datetime):
            raise TypeError(
                f"{type(self).__name__}(after=…) takes a timedelta or an aware datetime, not {type(after).__name__}: "
                "write after=timedelta(seconds=…)."
            )
        self.code = code if isinstance(code, str) and is_code(code) else _MISCODED
        self.after = after
        super().__init__(self.code)

    @property
    def miscoded(self) -> bool:
        """Whether it has no code, or was given one that is none. What that was is not kept: it may hold anything."""
        return self.code == _MISCODED or not (isinstance(self.code, str) and is_code(self.code))

    def wait(self, now: datetime) -> timedelta | None:
        """Return how long to wait from *now*, at least 0, or None for the backoff's choice."""
        if self.after is None:
            return None
        length = self.after - now if isinstance(self.after, datetime) else self.after
        return max(timedelta(0), length)


class Retry(Fate):
    """Again later: this attempt has failed and counts."""


class Defer(Fate):
    """Not now: put back without counting an attempt. `give_up_after` bounds the whole waiting.

    Each return costs the message a receive, so a long waiting gets slower than *after* says, without end.
    """


class Reject(Fate):
    """Never: an operator must look. The message becomes a dead letter and an alarm."""


class Cancel(Fate):
    """The business said no: final and counted, nobody is paged. The message is deleted."""


class Unknown(Fate):
    """Nobody knows whether the effect happened. The declared `on_unknown` decides; the attempt counts."""


class Outcome(StrEnum):
    """What became of one delivery."""

    SUCCEEDED = "succeeded"
    ALREADY_APPLIED = "already_applied"
    CANCELED = "canceled"
    RENEWED = "renewed"
    RETRY = "retry"
    DEFERRED = "deferred"
    UNKNOWN = "unknown"
    CONTINUED = "continued"
    UNSTARTED = "unstarted"
    IN_PROGRESS = "in_progress"
    REJECTED = "rejected"
    EXHAUSTED = "exhausted"
    HELD = "held"
    KEY_CONFLICT = "key_conflict"
    FAST_FORWARDED = "fast_forwarded"
    UNCLAIMED = "unclaimed"
    UNCONFIRMED = "unconfirmed"
    FENCE_LOST = "fence_lost"
    STILL_RUNNING = "still_running"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an outcome means for the message.

    *deleted*: SQS may delete it, since its fate is durable. *holds*: on FIFO, later messages of its group must not
    overtake it.
    """

    deleted: bool = False
    holds: bool = True


_DELETED = Meaning(deleted=True, holds=False)
#: Put back only so that SQS itself moves it to the dead-letter queue: durable, so it holds nobody (P4).
_TO_DEAD_LETTERS = Meaning(holds=False)
_WAITS = Meaning()

OUTCOMES: Mapping[Outcome, Meaning] = {
    Outcome.SUCCEEDED: _DELETED,
    Outcome.ALREADY_APPLIED: _DELETED,
    Outcome.CANCELED: _DELETED,
    Outcome.RENEWED: _DELETED,
    Outcome.RETRY: _WAITS,
    Outcome.DEFERRED: _WAITS,
    Outcome.UNKNOWN: _WAITS,
    Outcome.CONTINUED: _WAITS,
    Outcome.UNSTARTED: _WAITS,
    Outcome.IN_PROGRESS: _WAITS,
    Outcome.REJECTED: _TO_DEAD_LETTERS,
    Outcome.EXHAUSTED: _TO_DEAD_LETTERS,
    Outcome.HELD: _TO_DEAD_LETTERS,
    Outcome.KEY_CONFLICT: _TO_DEAD_LETTERS,
    Outcome.FAST_FORWARDED: _TO_DEAD_LETTERS,
    Outcome.UNCLAIMED: _WAITS,
    Outcome.UNCONFIRMED: _WAITS,
    Outcome.FENCE_LOST: _WAITS,
    Outcome.STILL_RUNNING: _WAITS,
}
