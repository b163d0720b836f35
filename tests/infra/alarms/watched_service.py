"""A service with a handler of each rhythm and a schedule, and how each is simulated."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel

from surehand import Handler, Service, queue
from surehand.declare import Tick, metrics_of, schedule
from surehand_cdk.watch import Traffic
from tests.infra.alarms.incidents import Watched
from tests.infra.alarms.workload import Names


class Work(BaseModel):
    """What the handlers take."""

    id: str
    customer: str


@queue("busy", key="id", tenant="customer")
def busy(work: Work) -> None:
    """Thirty messages a minute."""


@queue("quiet", key="id", tenant="customer")
def quiet(work: Work) -> None:
    """Four messages a minute."""


@queue("rare", key="id", tenant="customer")
def rare(work: Work) -> None:
    """One message in two minutes."""


@schedule("hourly", timedelta(hours=1))
def hourly(tick: Tick) -> None:
    """A tick an hour."""


SERVICE = Service("shop", (busy, quiet, rare, hourly))
TRAFFIC: dict[Handler, Traffic] = {busy: Traffic(30), quiet: Traffic(4), rare: Traffic(0.5), hourly: Traffic(0.02)}


def _watched(kind: str, per_minute: float, *, before: int, after: int, every: int | None = None) -> Watched:
    stem = f"shop-dev-{kind}"
    own = metrics_of("shop", "dev", kind)
    names = Names(own, stem, stem, f"{stem}-dlq", f"{stem}-failures", "shop-dev-ledger", "shop-dev")
    return Watched(kind, names, per_minute, before, after, every=every)


WATCHED = (
    _watched("busy", 30, before=30, after=45),
    _watched("quiet", 4, before=40, after=75),
    _watched("rare", 0.5, before=70, after=115),
    _watched("hourly", 0.02, before=150, after=100, every=60),
)
