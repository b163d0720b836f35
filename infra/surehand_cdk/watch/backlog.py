"""Signals of a queue that is not emptied: backlog, and a consumer that stands still."""

from __future__ import annotations

import math
from collections.abc import Iterator

from .signal import Signal
from .subject import Subject


def signals(subject: Subject) -> Iterator[Signal]:
    """Age and growth feed BACKLOG, a mapping that polls nothing feeds STUCK, the others are tickets."""
    yield age(subject)
    yield Signal(
        name="backlog-growth",
        metrics=(
            subject.of_queue("sent", "NumberOfMessagesSent", "Sum"),
            subject.of_queue("deleted", "NumberOfMessagesDeleted", "Sum"),
            subject.of_queue("visible", "ApproximateNumberOfMessagesVisible", "Maximum"),
        ),
        expression="IF(FILL(sent,0) > FILL(deleted,0), FILL(visible,0), 0)",
        threshold=subject.crowd,
        breaches=10,
        periods=15,
    )
    yield Signal(
        name="mapping-dead",
        metrics=(
            subject.of_queue("visible", "ApproximateNumberOfMessagesVisible", "Minimum"),
            subject.of_mapping("polled", "PolledEventCount"),
        ),
        # Messages wait and nobody fetches any. Pollers that are busy with a long batch look the same for one timeout.
        expression="IF(FILL(visible,0) > 0, IF(FILL(polled,0) < 1, 1, 0), 0)",
        threshold=0,
        breaches=(minutes := 8 + math.ceil(subject.timeout / 60)),
        periods=minutes,
    )
    yield Signal(
        name="concurrency-saturation",
        metrics=(subject.of_function("running", "ConcurrentExecutions", "Maximum"),),
        expression=f"100 * FILL(running,0) / {subject.handler.options.max_concurrency}",
        threshold=90,
        breaches=10,
        periods=15,
        duty="ticket",
    )
    if subject.by_tenant and not subject.handler.options.fifo:
        yield _noisy_tenant(subject)


def age(subject: Subject) -> Signal:
    """The oldest message waits longer than it may. Blind to poison: SQS leaves out what was received three times."""
    return Signal(
        name="backlog-age",
        metrics=(subject.of_queue("age", "ApproximateAgeOfOldestMessage", "Maximum"),),
        threshold=subject.oldest,
        breaches=5,
        periods=5,
    )


def _noisy_tenant(subject: Subject) -> Signal:
    """All together wait, and the quiet tenants do not: one tenant's load, not a lack of capacity."""
    return Signal(
        name="noisy-tenant",
        metrics=(
            subject.of_queue("age", "ApproximateAgeOfOldestMessage", "Maximum"),
            subject.of_queue("quiet", "ApproximateAgeOfOldestMessageInQuietGroups", "Maximum"),
        ),
        expression=f"IF(FILL(age,0) > {subject.oldest}, IF(FILL(quiet,0) < {subject.oldest // 2}, 1, 0), 0)",
        threshold=0,
        breaches=5,
        periods=5,
        duty="ticket",
    )
