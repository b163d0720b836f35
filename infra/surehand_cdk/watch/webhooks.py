"""Signals of a webhook source, from what the ingress writes (dimension ``source``)."""

from __future__ import annotations

from collections.abc import Iterator

from surehand.variables import NAMESPACE

from .signal import Metric, Signal
from .subject import Subject


def signals(subject: Subject) -> Iterator[Signal]:
    """Signatures that do not match, a sender that went silent, and requests that could not be stored."""
    yield Signal(
        name="webhook-mismatch",
        metrics=(_of_source(subject, "received", "Received", 900), _of_source(subject, "wrong", "Mismatched", 900)),
        # A ratio and not a count: strangers can send wrong signatures, but not make them most of the traffic unseen.
        expression="IF(FILL(received,0) >= 20, 100 * FILL(wrong,0) / received, 0)",
        threshold=5,
        breaches=1,
        periods=1,
        duty="page",
    )
    yield Signal(
        name="webhook-not-stored",
        metrics=(_of_source(subject, "failed", "EnqueueFailed", 60),),
        threshold=0,
        breaches=1,
        periods=1,
        duty="page",
    )
    hours = round(subject.traffic.silent_after.total_seconds() / 3_600)
    yield Signal(
        name="webhook-silence",
        metrics=(_of_source(subject, "accepted", "Accepted", 3_600),),
        expression="FILL(accepted,0)",
        threshold=1,
        below=True,
        breaches=hours,
        periods=hours,
        missing="breaching",
        duty="ticket",
    )


def ingress(function: str) -> Iterator[Signal]:
    """The ingress of all sources: it fails, is throttled, or is slower than the most impatient senders."""
    errors, throttles = (_of_ingress(function, name, "Sum") for name in ("Errors", "Throttles"))
    yield Signal(name="webhook-errors", metrics=(errors,), threshold=0, breaches=3, periods=5, duty="page")
    yield Signal(name="webhook-throttles", metrics=(throttles,), threshold=0, breaches=3, periods=5, duty="page")
    yield Signal(
        name="webhook-slow",
        metrics=(_of_ingress(function, "Duration", "p99"),),
        threshold=2_000,
        breaches=3,
        periods=5,
        duty="ticket",
    )


def _of_ingress(function: str, name: str, stat: str) -> Metric:
    return Metric("value", "AWS/Lambda", name, {"FunctionName": function}, stat, 300)


def _of_source(subject: Subject, id: str, name: str, period: int) -> Metric:
    return Metric(id, NAMESPACE, name, subject.source_dimensions, "Sum", period)
