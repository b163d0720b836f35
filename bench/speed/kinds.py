"""What a message costs that is not simply handled once: duplicates, retries, rejections, FIFO, parallel handlers.

The deliveries of a case are replayed as the event source mapping would make them; a round trip takes five milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from bench.figures import Figure
from bench.sides.business import Busy, Impossible, doing
from bench.sides.order import Order, order, record
from bench.sides.ours import Kind
from bench.speed.invoking import Event, Side, both
from bench.spread import in_turns
from bench.wire.tables import Used

_ROUND_TRIP = timedelta(milliseconds=5)
_SIZE = 10
#: What a message is received until SQS moves it: AWS's recommendation for the peer, the derived number for us.
_RECEIVES = {"powertools": 5, "surehand": 10}
_RUNS = 7


@dataclass(frozen=True, slots=True)
class _Case:
    """*deliveries* makes the events of one batch's life; *act* is what the handler does."""

    name: str
    deliveries: Callable[[str], Sequence[Event]]
    act: Callable[[Order], object] | None = None
    kind: Kind = "standard"
    note: str = ""


def kinds(*, runs: int) -> Iterator[Figure]:
    """Yield time, calls and units for each message of each case, on both sides."""
    for case in _cases():
        with (
            doing(case.act) if case.act else nullcontext(),
            both(round_trip=_ROUND_TRIP, account=True, kind=case.kind) as (
                mine,
                theirs,
            ),
        ):
            turns = in_turns(
                partial(_timed, case, mine, "surehand"),
                partial(_timed, case, theirs, "powertools"),
                runs=min(runs, _RUNS),
            )
            values: dict[str, Any] = {}
            for name, side, spread in (("surehand", mine, turns.ours), ("powertools", theirs, turns.peer)):
                _, used = _play(case, side, name)
                values[f"{name}_ms"] = round(spread.median / _SIZE, 3)
                values[f"{name}_calls"] = round(sum(used.calls.values()) / _SIZE, 2)
                values[f"{name}_write_units"] = round(used.write_units / _SIZE, 2)
                values[f"{name}_read_units"] = round(used.read_units / _SIZE, 2)
            yield Figure(name="kinds", under={"case": case.name}, values=values, note=case.note)


def _cases() -> Iterator[_Case]:
    yield _Case("fresh", lambda _: [_fresh()])
    yield _Case("fresh and a duplicate", lambda _: _with_duplicates())
    yield _Case("retried once", lambda _: _received(_fresh(), 2), _BusyOnce())
    yield _Case(
        "rejected",
        lambda side: _received(_fresh(), _RECEIVES[side]),
        _never,
        note="until SQS moves it: 1 run of 10 receives, and 5 runs of 5",
    )
    yield _Case("fifo", lambda _: [_fresh(lanes=_SIZE)], kind="fifo")
    yield _Case("handler of 20 ms", lambda _: [_fresh()], _wait)
    yield _Case(
        "parallel, 20 ms",
        lambda _: [_fresh()],
        _wait,
        kind="parallel",
        note="parallel=10; Powertools has no counterpart",
    )


class _BusyOnce:
    """Raises Busy the first time that an order is seen."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, one: Order) -> object:
        if one.order_id in self._seen:
            return None
        self._seen.add(one.order_id)
        raise Busy


def _never(_: Order) -> object:
    raise Impossible


def _wait(_: Order) -> object:
    time.sleep(0.02)
    return None


def _timed(case: _Case, side: Side, name: str) -> float:
    return _play(case, side, name)[0]


def _play(case: _Case, side: Side, name: str) -> tuple[float, Used]:
    events = case.deliveries(name)
    side.responder.tables.used = Used()
    began = time.perf_counter()
    for event in events:
        side.invoke(event)
    return (time.perf_counter() - began) * 1e3, side.responder.tables.used


def _fresh(*, lanes: int = 0) -> Event:
    return {"Records": [record(order(), group=f"lane-{number}" if lanes else None) for number in range(_SIZE)]}


def _with_duplicates() -> list[Event]:
    bodies = [order() for _ in range(_SIZE)]
    return [{"Records": [record(body) for body in bodies]} for _ in range(2)]


def _received(event: Event, times: int) -> list[Event]:
    """The same messages, received so many times. What waits for its backoff is waited for: it is claimable at once."""
    return [
        {
            "Records": [
                {
                    **one,
                    "receiptHandle": f"{one['receiptHandle']}-{count}",
                    "attributes": {**one["attributes"], "ApproximateReceiveCount": str(count)},
                }
                for one in event["Records"]
            ]
        }
        for count in range(1, times + 1)
    ]
