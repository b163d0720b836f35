"""A service whose schedules reach the edges: zones, windows, periods that are no cron expression, and a plain queue."""

from datetime import timedelta

from pydantic import BaseModel

from surehand import Service, Tick, cron, queue, schedule


class Payload(BaseModel):
    """What the plain handler takes."""

    id: str


@schedule("nightly", cron("30 2 * * ? *", timezone="Europe/Berlin"), timeout=timedelta(minutes=15))
def nightly(tick: Tick) -> None:
    """Once a night."""


@schedule("window", cron("0 0 L * ? *"), flexible=timedelta(minutes=90), catch_up=timedelta(days=2), overlap="queue")
def window(tick: Tick) -> None:
    """Once a month, at some moment of a window."""


@schedule("minutely", timedelta(minutes=1), catch_up=timedelta(minutes=5), overlap="allow")
def minutely(tick: Tick) -> None:
    """As often as Scheduler can."""


@schedule("odd", timedelta(minutes=90))
def odd(tick: Tick) -> None:
    """A period that no cron expression says."""


@schedule("twice", cron("5,50 8 ? * MON-FRI *"))
def twice(tick: Tick) -> None:
    """Two ticks close to each other."""


@queue("plain", key="id")
def plain(payload: Payload) -> None:
    """No schedule at all."""


TIMED = Service("timed", (nightly, window, minutely, odd, twice, plain))
