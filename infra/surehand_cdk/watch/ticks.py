"""Signals of a schedule: ticks that Scheduler dropped, that began late, that did not run, that did not end."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from .signal import Metric, Signal
from .subject import Subject

_DAY = 86_400
_WEEK = 604_800
_SLACK = 1.25
"""A tick may be this much later than its interval before it counts as missed."""


LATE = 300
"""Seconds after its moment (and its flexible window) at which a tick that begins is late."""


@dataclass(frozen=True, slots=True)
class Ticking:
    """A schedule: the longest time between two ticks, its group's name, and the window in which AWS may deliver."""

    every: timedelta
    group: str
    flexible: timedelta = timedelta(0)


def signals(subject: Subject, ticking: Ticking) -> Iterator[Signal]:
    """Dropped, late, not run, not finished."""
    yield dropped(ticking.group)
    yield Signal(
        name="sched-late",
        metrics=(subject.own("lag", "TickLag", stat="Maximum", period=300),),
        threshold=LATE + ticking.flexible.total_seconds(),
        breaches=1,
        periods=1,
        duty="ticket",
    )
    for name, metric in (("sched-missed", "ScheduleRan"), ("sched-unfinished", "ScheduleFinished")):
        heartbeat = _heartbeat(subject, name, metric, ticking.every)
        if heartbeat is not None:
            yield heartbeat


def dropped(group: str) -> Signal:
    """Scheduler gave up a tick, or could not even keep it as a dead letter. Its metrics exist per group only."""
    dimensions = {"ScheduleGroup": group}
    return Signal(
        name="sched-dropped",
        metrics=(
            Metric("dropped", "AWS/Scheduler", "InvocationDroppedCount", dimensions, "Sum", 300),
            Metric("lost", "AWS/Scheduler", "InvocationsFailedToBeSentToDeadLetterCount", dimensions, "Sum", 300),
        ),
        expression="FILL(dropped,0) + FILL(lost,0)",
        threshold=0,
        breaches=1,
        periods=1,
    )


def undelivered(queue: str) -> Signal:
    """A tick lies in the schedules' dead-letter queue: no handler has seen it."""
    metric = Metric("visible", "AWS/SQS", "ApproximateNumberOfMessagesVisible", {"QueueName": queue}, "Maximum", 300)
    return Signal(name="sched-undelivered", metrics=(metric,), threshold=0, breaches=1, periods=1, duty="page")


def _heartbeat(subject: Subject, name: str, metric: str, every: timedelta) -> Signal | None:
    """None for a tick so rare that CloudWatch cannot look back to the last one (about five days)."""
    interval = int(every.total_seconds())
    period = _period(interval)
    periods = math.ceil(_SLACK * interval / period)
    # CloudWatch evaluates a day (periods below an hour) or a week.
    if periods * period > (_DAY if period < 3_600 else _WEEK):
        return None
    return Signal(
        name=name,
        metrics=(subject.own("ran", metric, period=period),),
        # Without FILL CloudWatch waits for the missing points before it calls them missing.
        expression="FILL(ran,0)",
        threshold=1,
        below=True,
        breaches=periods,
        periods=periods,
        missing="breaching",
    )


def _period(interval: int) -> int:
    """A quarter of the interval, at least five minutes, as a period that CloudWatch takes."""
    wanted = max(300, interval // 4)
    return next((period for period in (300, 900, 3_600, 21_600) if period >= wanted), _DAY)
