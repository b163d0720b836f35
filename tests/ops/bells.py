"""A small service of schedules for the tests of the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

from pydantic import BaseModel

from surehand import Job, Service, Tick, cron, queue, schedule


class Bells:
    """What the handlers do, and the moments at which they ran."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.act: Callable[[Tick, Job], object] = lambda tick, job: None
        self.rung: Counter[datetime] = Counter()


BELLS = Bells()


class Visitor(BaseModel):
    """Somebody who pulls the rope."""

    name: str


@schedule("hourly", timedelta(hours=1))
def hourly(tick: Tick, job: Job) -> None:
    """Ring at each full hour."""
    BELLS.act(tick, job)
    BELLS.rung[tick.at] += 1


@schedule("evening", cron("0 18 * * ? *", timezone="Europe/Berlin"))
def evening(tick: Tick) -> None:
    """Ring in the evening."""


@schedule("odd", timedelta(minutes=50))
def odd(tick: Tick) -> None:
    """Ring by a grid that only AWS knows."""


@queue("visitors", key="name")
def visitors(visitor: Visitor) -> None:
    """No schedule."""


TOWER = Service("tower", (hourly, evening, odd, visitors))
