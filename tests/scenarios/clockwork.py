"""A small service of schedules: its handlers do what a test tells them to."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from surehand import Handler, Job, Service, Tick, cron, schedule

BERLIN = "Europe/Berlin"
#: The moment at which a world in memory begins.
NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


class Script:
    """What the handlers do: `act` is called for each run, and `runs` remembers the moments of the ticks."""

    def __init__(self) -> None:
        self.act: Callable[[Tick, Job], object] = lambda tick, job: None
        self.runs: list[datetime] = []
        self.jobs: list[Job] = []

    def run(self, tick: Tick, job: Job) -> object:
        self.runs.append(tick.at)
        self.jobs.append(job)
        return self.act(tick, job)


SCRIPT = Script()


@contextmanager
def script(act: Callable[[Tick, Job], object] = lambda tick, job: None):
    """Give the handlers a fresh script for the body."""
    SCRIPT.act, SCRIPT.runs, SCRIPT.jobs = act, [], []
    yield SCRIPT


@schedule("nightly", cron("30 2 * * ? *", timezone=BERLIN), timeout=timedelta(minutes=10))
def nightly(tick: Tick, job: Job) -> object:
    """Once a night, by the clocks of Berlin."""
    return SCRIPT.run(tick, job)


@schedule("often", timedelta(minutes=5), timeout=timedelta(minutes=1), catch_up=timedelta(minutes=30))
def often(tick: Tick, job: Job) -> object:
    """Every five minutes; a tick during a run is skipped."""
    return SCRIPT.run(tick, job)


@schedule("in-line", timedelta(minutes=5), overlap="queue", timeout=timedelta(minutes=1))
def in_line(tick: Tick, job: Job) -> object:
    """Every five minutes; one tick waits for the end of a run."""
    return SCRIPT.run(tick, job)


@schedule("abreast", timedelta(minutes=5), overlap="allow", timeout=timedelta(minutes=1))
def abreast(tick: Tick, job: Job) -> object:
    """Every five minutes, beside whatever runs."""
    return SCRIPT.run(tick, job)


@schedule("odd", timedelta(minutes=7))
def odd(tick: Tick) -> object:
    """A period whose grid only AWS knows."""
    return SCRIPT.run(tick, odd.first_job(tick))


CLOCKWORK = Service("clockwork", (nightly, often, in_line, abreast, odd))


def body(moment: datetime) -> str:
    """Return a tick's message as EventBridge Scheduler sends it."""
    return json.dumps({"at": f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"})


def event(made: Any, handler: Handler[Any], *moments: datetime, **options: Any) -> dict[str, Any]:
    """Return an SQS event with one tick for each moment."""
    records: dict[str, Any] = made.event(handler, *(body(moment) for moment in moments), **options)
    return records
