"""Signals of the dead-letter queue."""

from __future__ import annotations

import math
from collections.abc import Iterator

from surehand.declare import DEAD_LETTER_RETENTION

from .signal import Signal
from .subject import Subject

_DAY = 86_400
TRIAGE = 3 * _DAY
_STALE_HOURS = 72


def signals(subject: Subject) -> Iterator[Signal]:
    """Arrivals feed POISON; that something lies there, and for how long, are tickets."""
    yield Signal(
        name="dlq-arrivals",
        metrics=(
            subject.own("ours", "DeadLettered", period=60),
            subject.of_dead_letters("visible", "ApproximateNumberOfMessagesVisible", "Maximum"),
            subject.of_dead_letters("looked_at", "ApproximateNumberOfMessagesNotVisible", "Maximum"),
        ),
        # What the run time saw go, or what SQS moved without us. A look at dead letters only moves them between both.
        expression="MAX([FILL(ours,0), DIFF(FILL(visible,REPEAT) + FILL(looked_at,REPEAT))])",
        threshold=0,
        breaches=1,
        # Red for longer than POISON waits for a larger cause, or its notification would be forgotten.
        periods=math.ceil((subject.rhythm.delay + 300) / 60),
    )
    yield not_empty(subject)
    yield from keeping(subject)


def arrivals_without_own_metrics(subject: Subject) -> Signal:
    """For the lean profile: what SQS shows, without the run time's metrics."""
    return Signal(
        name="dlq-arrivals",
        metrics=(
            subject.of_dead_letters("visible", "ApproximateNumberOfMessagesVisible", "Maximum"),
            subject.of_dead_letters("looked_at", "ApproximateNumberOfMessagesNotVisible", "Maximum"),
        ),
        expression="DIFF(FILL(visible,REPEAT) + FILL(looked_at,REPEAT))",
        threshold=0,
        breaches=1,
        periods=5,
        duty="page",
    )


def not_empty(subject: Subject) -> Signal:
    """Something lies in the dead-letter queue: a ticket until it is drained."""
    return Signal(
        name="dlq-not-empty",
        metrics=(subject.of_dead_letters("visible", "ApproximateNumberOfMessagesVisible", "Maximum", period=300),),
        threshold=0,
        breaches=2,
        periods=2,
        duty="ticket",
    )


def keeping(subject: Subject) -> Iterator[Signal]:
    """Dead letters that SQS will soon delete, and ones that nobody has touched for three days."""
    kept, before = int(DEAD_LETTER_RETENTION.total_seconds()), int(subject.handler.options.retention.total_seconds())
    # A standard queue's dead letter expires by its first enqueue time, but its age here counts from the move.
    left = kept if subject.handler.options.fifo else kept - before
    yield Signal(
        name="dlq-expiring",
        metrics=(subject.of_dead_letters("age", "ApproximateAgeOfOldestMessage", "Maximum", period=3_600),),
        threshold=max(_DAY // 2, left - TRIAGE),
        breaches=1,
        periods=1,
        duty="page",
    )
    yield Signal(
        name="dlq-stale",
        metrics=(subject.of_dead_letters("visible", "ApproximateNumberOfMessagesVisible", "Minimum", period=3_600),),
        threshold=0,
        breaches=_STALE_HOURS,
        periods=_STALE_HOURS,
        duty="ticket",
    )
