"""What became of each delivery of a batch, as data: read by acknowledge and tell."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from surehand.declare import Handler
from surehand.delivery import Delivery, Unreadable
from surehand.ledger import Operation
from surehand.outcomes import OUTCOMES, Outcome
from surehand.worker.origin import Origin
from surehand.worker.receive import Away, Notice

#: On a standard queue a message that is only waiting for SQS to move it comes back after this long: at 0 it would
#: starve healthy messages behind a burst of bad ones (p99 10 s against 1.6 s in the protocol's arithmetic).
_JITTER = (timedelta(seconds=1), timedelta(seconds=5))
#: When the ledger is away, the first wait and the longest one. They grow with the receive count, or an outage of an
#: hour would spend every receive and fill the dead-letter queue.
_OUTAGE_FIRST, _OUTAGE_LONGEST = timedelta(seconds=30), timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What became of one delivery.

    *wait* is how long SQS shall hide the message from now on; None leaves the queue's visibility timeout.
    *operation* is the ledger's item as far as it is known; *phase* is where the delivery ended. *replay*: a webhook's
    operation came again under another id that nobody signs. *notice* is what must be told beside. *copied*: it
    shares the fate of another message of the batch, for which the operation was claimed. *origin* is where an
    exception comes from that was no chosen fate, or that one was raised from.
    """

    index: int
    delivery: Delivery | Unreadable
    outcome: Outcome
    phase: str
    operation_id: str | None = None
    tenant: str | None = None
    operation: Operation | None = None
    code: str | None = None
    detail: str | None = None
    wait: timedelta | None = None
    attempt: int | None = None
    redrive: bool = False
    copied: bool = False
    interrupted: bool = False
    replay: bool = False
    notice: Notice | None = None
    origin: Origin | None = None
    duration: timedelta | None = None

    @property
    def deleted(self) -> bool:
        """Whether SQS may delete the message: its fate is durable."""
        return OUTCOMES[self.outcome].deleted

    @property
    def holds(self) -> bool:
        """Whether later messages of the same FIFO group must not overtake it."""
        return OUTCOMES[self.outcome].holds


def to_dead_letters(handler: Handler[object], random: Random) -> timedelta:
    """Return the wait of a message that only waits for SQS to move it: 1 to 5 s, 0 on FIFO."""
    if handler.options.fifo:
        return timedelta(0)
    return _JITTER[0] + (_JITTER[1] - _JITTER[0]) * random.random()


def through_outage(receive_count: int, random: Random) -> timedelta:
    """Return the wait of a message that could not be claimed because the ledger is away."""
    doublings: int = 2 ** min(receive_count - 1, 16)
    ceiling = min(_OUTAGE_LONGEST, _OUTAGE_FIRST * doublings)
    return ceiling / 2 * (1 + random.random())


def put_back(away: Away, random: Random) -> Ending:
    """Return the ending of a message whose body cannot be fetched: unclaimed, and back after the storage's outage."""
    return Ending(
        index=away.index,
        delivery=away.delivery,
        outcome=Outcome.UNCLAIMED,
        phase="validate",
        operation_id=away.operation,
        tenant=away.tenant,
        code=away.code,
        detail=away.detail,
        wait=through_outage(away.delivery.receive_count, random),
    )


def until(moment: datetime | None, now: datetime) -> timedelta:
    """Return the wait until a moment, at least 0."""
    return timedelta(0) if moment is None else max(timedelta(0), moment - now)
