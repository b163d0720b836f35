"""Measure what the bill is made of, on both sides alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.figures import Figure
from bench.money.bill import BATCH, Bill, Measured, bill
from bench.speed.invoking import Side, both, fresh
from bench.spread import in_turns
from bench.wire.tables import Used

MEMORIES_MB = (256, 1_769)
ROUND_TRIP_MS = 5.0
#: A send each, and a receive and a delete for each ten.
_SQS_REQUESTS = 1 + 2 / BATCH


def money(*, runs: int) -> Iterator[Figure]:
    """Yield what a message consumes on either side, and the bill for a million at each size of function."""
    ours, theirs = measured(runs)
    for one in (ours, theirs):
        yield Figure(
            name="consumed",
            under={"side": one.side},
            values={
                "cpu_us": round(one.cpu_us, 1),
                "waits_per_batch": one.waits,
                "write_units": one.write_units,
                "log_bytes": round(one.log_bytes),
                "item_bytes": round(one.item_bytes),
            },
        )
    for memory in MEMORIES_MB:
        bills = {one.side: bill(one, memory_mb=memory, round_trip_ms=ROUND_TRIP_MS) for one in (ours, theirs)}
        yield Figure(
            name="money",
            under={"memory_mb": memory},
            values={
                **{f"{side}_dollars": round(one.total, 2) for side, one in bills.items()},
                **{f"{side}_lambda": round(one.requests + one.duration, 3) for side, one in bills.items()},
                **{side: _parts(one) for side, one in bills.items()},
                "ratio": round(bills["surehand"].total / bills["powertools"].total, 3),
            },
        )


def measured(runs: int) -> tuple[Measured, Measured]:
    """Return what a message consumes: ours, then the peer's."""
    with both() as (mine, theirs):
        turns = in_turns(mine.cpu(fresh(BATCH)), theirs.cpu(fresh(BATCH)), runs=runs)
    with both(account=True) as (mine, theirs):
        return (
            # Claims in one call and settles in another one; the peer makes its calls one after the other.
            _of("surehand", mine, cpu_us=turns.ours.median),
            _of("powertools", theirs, cpu_us=turns.peer.median),
        )


def _of(name: str, side: Side, *, cpu_us: float) -> Measured:
    side.invoke(fresh(BATCH)())
    side.responder.tables.used = used = Used()
    logged = side.sink.characters
    side.invoke(fresh(BATCH)())
    return Measured(
        side=name,
        cpu_us=cpu_us,
        waits=sum(used.calls.values()),
        write_units=used.write_units / BATCH,
        read_units=used.read_units / BATCH,
        log_bytes=(side.sink.characters - logged) / BATCH,
        item_bytes=used.largest_item,
        sqs_requests=_SQS_REQUESTS,
    )


def _parts(one: Bill) -> dict[str, Any]:
    return {
        "sqs": round(one.sqs, 3),
        "lambda_requests": round(one.requests, 3),
        "lambda_duration": round(one.duration, 3),
        "dynamodb": round(one.dynamodb, 3),
        "storage": round(one.storage, 3),
        "logs": round(one.logs, 3),
    }
