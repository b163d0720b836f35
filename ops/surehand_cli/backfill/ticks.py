"""`surehand ticks`: the last and the next tick of each schedule, and what became of the last ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from surehand import Handler, Tick
from surehand.declare import Timing, moment_text
from surehand.ledger import Ledger, Operation
from surehand.states import State
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.backfill.due import Standing, standing, timing_of
from surehand_cli.problem import Problem
from surehand_cli.terminal.output import Output


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """A tick that was due: *lag* is how late its first claim was, *ended* when it came to its end."""

    at: datetime
    standing: Standing
    operation: Operation | None
    lag: timedelta | None = None
    ended: datetime | None = None


def last_firings(
    handler: Handler[Any], ledger: Ledger, *, count: int, now: datetime, remembered: timedelta
) -> Sequence[Firing]:
    """Return the latest *count* ticks that were due by *now*, the latest first; none where only AWS knows them.

    Raises:
        Problem: The handler is no schedule.
        LedgerUnavailable: The ledger could not be read.
    """
    due = [Tick(moment) for moment in _latest(timing_of(handler), now, count)]
    ids = {tick: handler.identify(tick, handler.payload.dump(tick)).operation for tick in due}
    known = ledger.read(list(ids.values())) if ids else {}
    return [_firing(tick, known.get(ids[tick]), now=now, remembered=remembered) for tick in due]


def next_tick(handler: Handler[Any], now: datetime) -> datetime | None:
    """Return the first moment after *now* at which a schedule is due by what is declared; None if only AWS knows.

    Raises:
        Problem: The handler is no schedule.
    """
    when = timing_of(handler).when
    return when.following(now) if when.anchored else None


def none_left(handler: Handler[Any]) -> str:
    """Return what is told in place of a next tick where there is none."""
    return "none any more" if timing_of(handler).when.anchored else "known to AWS"


def next_text(handler: Handler[Any], now: datetime) -> str | None:
    """Return the next tick's moment as Scheduler writes it, or None if only AWS knows it."""
    moment = next_tick(handler, now)
    return None if moment is None else moment_text(moment)


def last_tick(handler: Handler[Any], place: Place, *, now: datetime) -> dict[str, Any] | None:
    """Return the last tick that was due, as `surehand ticks` tells of it; None if there was none, or only AWS knows.

    Raises:
        LedgerUnavailable, Unreachable: The ledger could not be read.
    """
    firings = last_firings(handler, place.ledger, count=1, now=now, remembered=place.retention)
    return record(firings[0]) if firings else None


@located
def ticks(
    place: Place,
    output: Output,
    schedule: Annotated[str | None, typer.Argument(help="Only this one; default: every schedule.")] = None,
    *,
    last: Annotated[int, typer.Option("--last", min=1, max=1_000, help="Ticks to look back.")] = 1,
) -> None:
    """Show the last ticks of each schedule, what became of them, and the next one.

    Example: [bold]surehand ticks invoice-export --last 14 --stage prod[/bold]

    Exit status 1 if a tick is missing or has failed.
    """
    now = place.waiting.now()
    chosen = [one for one in place.service.handlers if one.options.timing and schedule in (None, one.name)]
    if schedule is not None and not chosen:
        raise Problem(f"service '{place.service.name}' has no schedule '{schedule}'")
    rows: list[tuple[object, ...]] = []
    troubled = False
    for handler in chosen:
        when = timing_of(handler).when
        following = next_tick(handler, now)
        firings = last_firings(handler, place.ledger, count=last, now=now, remembered=place.retention)
        output.line(
            {
                "schedule": handler.name,
                "expression": when.expression,
                "timezone": when.timezone,
                "next": next_text(handler, now),
                "last": [record(one) for one in firings],
            }
        )
        rows += [_row(handler.name, one) for one in reversed(firings)]
        rows.append(
            (handler.name, following and following.astimezone(UTC), "next" if following else none_left(handler))
        )
        expected = now - timing_of(handler).flexible - _DELIVERY
        troubled = troubled or any(one.standing in _TROUBLE and one.at < expected for one in firings)
    output.table(("schedule", "tick", "standing", "late by", "ended", "code"), rows)
    raise typer.Exit(1 if troubled else 0)


def _latest(timing: Timing, now: datetime, count: int) -> Iterator[datetime]:
    moment = timing.when.latest(now) if timing.when.anchored else None
    for _ in range(count):
        if moment is None:
            return
        yield moment
        moment = timing.when.latest(moment - timedelta(microseconds=1))


def _firing(tick: Tick, operation: Operation | None, *, now: datetime, remembered: timedelta) -> Firing:
    stands = standing(tick, operation, now=now, remembered=remembered)
    begun = operation.history[0].at if operation is not None and operation.history else None
    ended = operation.history[-1].at if operation is not None and operation.history else None
    return Firing(
        at=tick.at,
        standing=stands,
        operation=operation,
        lag=None if begun is None else begun - tick.at,
        ended=ended if operation is not None and operation.state not in _OPEN else None,
    )


#: AWS delivers a tick within a minute, and the function needs a moment.
_DELIVERY = timedelta(minutes=2)
_TROUBLE = frozenset({Standing.MISSING, Standing.FAILED})
_OPEN = frozenset({State.PENDING, State.LEASED, State.PROCESSING, State.RETRYABLE_FAILED})


def _row(name: str, one: Firing) -> tuple[object, ...]:
    late = None if one.lag is None else str(timedelta(seconds=int(one.lag.total_seconds())))
    code = one.operation.code if one.operation is not None else None
    return (name, one.at.astimezone(UTC), one.standing.value, late, one.ended, code)


def record(one: Firing) -> dict[str, Any]:
    """Return a firing as JSON has it: the stable shape of `--json`."""
    return {
        "tick": moment_text(one.at),
        "standing": one.standing.value,
        "late_seconds": None if one.lag is None else round(one.lag.total_seconds(), 1),
        "ended": one.ended,
        "code": one.operation.code if one.operation is not None else None,
    }
