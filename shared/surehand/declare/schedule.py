"""The declaration of a handler that runs at times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Never, Protocol, overload

from surehand.backoff import Backoff
from surehand.declare.cron import Cron
from surehand.declare.handler import Handler
from surehand.declare.options import OnUnknown, Options, check_name, refuse_unknown
from surehand.declare.several import several
from surehand.declare.signature import payload_of
from surehand.declare.tick import Tick, TickType, tick_key
from surehand.declare.timing import Overlap, timing
from surehand.errors import DeclarationError
from surehand.job import Job


class DeclareTick(Protocol):
    """What `schedule` returns: it takes the plain function and makes it a `Handler[Tick]`."""

    @overload
    def __call__(self, function: Callable[[Tick, Job], object], /) -> Handler[Tick]: ...
    @overload
    def __call__(self, function: Callable[[Tick], object], /) -> Handler[Tick]: ...


def schedule(
    name: str,
    when: Cron | timedelta,
    *,
    overlap: Overlap = "skip",
    catch_up: timedelta = timedelta(hours=1),
    flexible: timedelta = timedelta(0),
    timeout: timedelta = timedelta(seconds=30),
    max_attempts: int = 5,
    backoff: Backoff = Backoff(),
    give_up_after: timedelta = timedelta(days=3),
    on_unknown: OnUnknown = "retry",
    sends_to: Sequence[Handler[Any] | str] = (),
    max_concurrency: int = 10,
    retention: timedelta = timedelta(days=4),
    memory: int = 512,
    **misspelt: Never,
) -> DeclareTick:
    """Declare a function that runs at times. EventBridge Scheduler sends each tick to the handler's queue.

    The key of a tick is the moment that it stands for, so one that is delivered twice runs once.

    Args:
        name: Identity for ever, as for `queue`. The moments that have run are remembered under it.
        when: `cron(…)`, or a period in whole minutes. A period that divides an hour or a day counts from midnight UTC;
            any other from the moment at which AWS creates the schedule.
        overlap: For a tick that comes while an earlier one's run has not ended, over all its attempts and
            hand-overs: "skip" cancels it with `schedule.overlap`; "queue" lets one wait and cancels further ones;
            "allow" runs it beside.
        catch_up: A tick that first comes later than this after its moment is canceled with `schedule.late`. What has
            begun in time is finished, however late.
        flexible: AWS delivers each tick at some moment of this window; 0, or 1 min to 24 h, less than the period.
        timeout: Lambda's limit for one invocation, 1 s to 15 min. A run that saves cursors may take many.
        give_up_after: Bounds the whole run over all attempts and hand-overs, and a waiting tick's wait.
        max_attempts, backoff, on_unknown, sends_to, max_concurrency, retention, memory: As for `queue`.

    Raises:
        DeclarationError: At import, if any of this cannot work.
    """
    check_name(name, "Handler")
    refuse_unknown(name, misspelt, sorted(schedule.__kwdefaults__ or {}), what="schedule()")
    times = timing(name, when, overlap=overlap, catch_up=catch_up, flexible=flexible)
    options = Options(
        key=tick_key,
        timing=times,
        timeout=timeout,
        max_attempts=max_attempts,
        backoff=backoff,
        give_up_after=give_up_after,
        on_unknown=on_unknown,
        sends_to=several(sends_to, "sends_to", of=f"Handler '{name}'"),
        # Each tick alone: a batch-mate that hangs would spend the time of a run.
        batch_size=1,
        max_concurrency=max_concurrency,
        retention=retention,
        memory=memory,
    )

    def declare(function: Callable[..., object], /) -> Handler[Tick]:
        annotation, _ = payload_of(function, of=name)
        if annotation is not Tick:
            raise DeclarationError(
                f"Handler '{name}': a schedule's payload is a Tick: def {function.__name__}(tick: Tick, job: Job). "
                f"{function.__qualname__} takes {getattr(annotation, '__name__', annotation)}."
            )
        return Handler(function, name, "schedule", options, payload=TickType(times.zone, of=name))

    return declare
