"""The ticks of a range, and how each of them stands in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any

from surehand import Handler, Tick
from surehand.declare import Timing, ticks
from surehand.ledger import Ledger, Operation
from surehand.states import FINAL, State
from surehand_cli.problem import Problem, Refusal

#: Without --max a backfill sends at most this many ticks.
MOST = 1_000
_SKIPPED = frozenset({"schedule.late", "schedule.overlap"})


class Standing(StrEnum):
    """How a tick that was due stands."""

    #: The ledger does not know it: it was never delivered.
    MISSING = "missing"
    #: It was canceled without a run: too late, or during another one's run.
    SKIPPED = "skipped"
    #: It has run to its end, or its handler has canceled it.
    DONE = "done"
    #: It runs, waits, or is to be tried again.
    GOING_ON = "going on"
    #: It is older than the ledger remembers: nobody knows here whether it has run.
    FORGOTTEN = "forgotten"
    #: It has failed permanently; its message is, or was, in the handler's dead-letter queue.
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Due:
    """One tick that was due, with what the ledger knows of it."""

    tick: Tick
    operation_id: str
    known: Operation | None
    standing: Standing


def timing_of(handler: Handler[Any]) -> Timing:
    """Return when a schedule's handler runs.

    Raises:
        Problem: It is no schedule.
    """
    if handler.options.timing is None:
        raise Problem(f"'{handler.name}' is no schedule but a {handler.trigger} handler; only schedules have ticks")
    return handler.options.timing


def due(
    handler: Handler[Any],
    ledger: Ledger,
    *,
    start: datetime,
    end: datetime,
    now: datetime,
    remembered: timedelta,
    most: int,
) -> Sequence[Due]:
    """Return the ticks from *start* (inclusive) to *end* (exclusive) with their standings, in order.

    *remembered* is how long the ledger knows an operation.

    Raises:
        Problem: The handler is no schedule, or the range is empty or reaches into the future.
        Refusal: There are more than *most*, or only AWS knows the schedule's ticks.
        LedgerUnavailable: The ledger could not be read.
    """
    when = timing_of(handler).when
    if not start < end <= now:
        raise Problem(f"the range must lie in the past and end after it begins; it is {start} to {end}")
    if not when.anchored:
        raise Refusal(
            f"'{handler.name}' fires by {when.expression}, which AWS counts from the moment at which the schedule was "
            "created; its ticks of the past are not known here"
        )
    found = [Tick(moment) for moment in islice(ticks(when, start, end), most + 1)]
    if len(found) > most:
        raise Refusal(f"the range has more than {most} ticks; make it shorter, or say --max")
    ids = [handler.identify(tick, handler.payload.dump(tick)).operation for tick in found]
    known = ledger.read(ids)
    return [
        Due(tick, operation, known.get(operation), standing(tick, known.get(operation), now=now, remembered=remembered))
        for tick, operation in zip(found, ids, strict=True)
    ]


def standing(tick: Tick, operation: Operation | None, *, now: datetime, remembered: timedelta) -> Standing:
    """Say how a tick stands whose operation the ledger knows so."""
    if operation is None or operation.expired_at(now):
        return Standing.FORGOTTEN if tick.at < now - remembered else Standing.MISSING
    if operation.state is State.CANCELED and operation.code in _SKIPPED:
        return Standing.SKIPPED
    if operation.state in FINAL:
        return Standing.DONE
    if operation.state in (State.PERMANENTLY_FAILED, State.DEAD_LETTERED):
        return Standing.FAILED
    return Standing.GOING_ON


def counted(found: Sequence[Due]) -> Mapping[Standing, int]:
    """Count the standings, in their order."""
    return {one: count for one in Standing if (count := sum(1 for each in found if each.standing is one))}
