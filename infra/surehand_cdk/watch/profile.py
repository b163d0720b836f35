"""How closely a stage is watched, and which signals that means for one handler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from surehand_cdk.rules.production import NAMES

from . import backlog, dead_letters, failures, stuck, ticks, webhooks
from .signal import Signal
from .subject import Subject
from .ticks import Ticking


class Profile(StrEnum):
    """Full: signals, causes and dashboard. Lean: six plain alarms for each handler that notify by themselves."""

    FULL = "full"
    LEAN = "lean"
    NONE = "none"


def of_stage(stage: str) -> Profile:
    """Return the profile of a stage for which none is chosen: alarms that page are for where data is real."""
    return Profile.FULL if stage.lower() in NAMES else Profile.LEAN


def full(subject: Subject, *, ticking: Ticking | None, swept: bool) -> tuple[Signal, ...]:
    """Every signal that applies. *swept* is whether the service has a sweep, which writes the gauge of stuck states."""
    found = [*backlog.signals(subject), *failures.signals(subject), *dead_letters.signals(subject)]
    if ticking is not None:
        found += ticks.signals(subject, ticking)
    if swept:
        found.append(stuck.signal(subject))
    if subject.handler.trigger == "webhook":
        found += webhooks.signals(subject)
    return tuple(found)


def stuck_signals(signals: tuple[Signal, ...]) -> tuple[str, ...]:
    """Those of *signals* that mean: something waits for nobody."""
    names = ("mapping-dead", "stuck-states", "sched-missed", "sched-unfinished", "sched-dropped")
    return tuple(signal.name for signal in signals if signal.name in names)


def lean(subject: Subject, *, ticking: Ticking | None) -> tuple[Signal, ...]:
    """What needs no metric of ours: age, dead letters, reported failures, errors, throttles; dropped ticks."""
    return tuple(_lean(subject, ticking))


def _lean(subject: Subject, ticking: Ticking | None) -> Iterator[Signal]:
    yield replace(backlog.age(subject), duty="page")
    yield dead_letters.arrivals_without_own_metrics(subject)
    yield dead_letters.not_empty(subject)
    yield Signal(
        name="mapping-failures",
        metrics=(subject.of_mapping("failed", "FailedInvokeEventCount", period=300),),
        threshold=0,
        breaches=3,
        periods=3,
        duty="ticket",
    )
    yield Signal(
        name="fn-errors",
        metrics=(subject.of_function("errors", "Errors", "Sum", period=300),),
        threshold=0,
        breaches=2,
        periods=3,
        duty="page",
    )
    yield next(signal for signal in failures.function(subject) if signal.name == "throttles")
    if ticking is not None:
        yield replace(ticks.dropped(ticking.group), duty="page")
