"""What a message consumes: calls, write units by the item's size, bytes on the wire and in the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.figures import Figure, Target
from bench.sides.order import order, record
from bench.speed.invoking import Event, Side, both, fresh
from bench.wire.tables import Used

_SIZE = 10


def units(*, runs: int) -> Iterator[Figure]:  # noqa: ARG001 - counts need no repetition
    """Yield the figures of the happy path, of duplicates, and of a batch of one."""
    with both(account=True) as (mine, theirs):
        mine.invoke(fresh(1)())
        theirs.invoke(fresh(1)())
        for case, events in (("fresh", _fresh), ("duplicate", _duplicates), ("redelivered", _redelivered)):
            first, then = events()
            for name, side in (("surehand", mine), ("powertools", theirs)):
                side.invoke(first())
                yield _used(case, name, side, then)
        yield from (
            _used("fresh, one", name, side, fresh(1)) for name, side in (("surehand", mine), ("powertools", theirs))
        )


def _fresh() -> tuple[Callable[[], Event], Callable[[], Event]]:
    return fresh(_SIZE), fresh(_SIZE)


def _duplicates() -> tuple[Callable[[], Event], Callable[[], Event]]:
    """The same orders again in new messages, as a producer sends them twice."""
    bodies = [order() for _ in range(_SIZE)]
    return (lambda: {"Records": [record(body) for body in bodies]},) * 2


def _redelivered() -> tuple[Callable[[], Event], Callable[[], Event]]:
    """The same messages again, received for the second time."""
    records = [record(order()) for _ in range(_SIZE)]
    again = [
        {**one, "attributes": {**one["attributes"], "ApproximateReceiveCount": "2"}, "receiptHandle": "again"}
        for one in records
    ]
    return lambda: {"Records": records}, lambda: {"Records": again}


def _used(case: str, name: str, side: Side, event: Callable[[], Event]) -> Figure:
    made = event()
    side.responder.tables.used = Used()
    logged = side.sink.characters
    side.invoke(made)
    used, size = side.responder.tables.used, len(made["Records"])
    targets: tuple[Target, ...] = ()
    if name == "surehand":
        most = 2.0 if case.startswith("fresh") else 1.0
        targets = (Target("write_units", most), Target("largest_item_bytes", 1024))
    return Figure(
        name="units",
        under={"case": case, "side": name},
        values={
            "calls": round(sum(used.calls.values()) / size, 3),
            "write_units": round(used.write_units / size, 3),
            "read_units": round(used.read_units / size, 3),
            "largest_item_bytes": used.largest_item,
            "request_bytes": round(used.request_bytes / size),
            "log_bytes": round((side.sink.characters - logged) / size),
            "by_call": dict(used.calls),
        },
        targets=targets,
    )
