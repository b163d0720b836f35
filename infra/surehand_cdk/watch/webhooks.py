"""Signals of a webhook source, from what the ingress writes (dimension ``source``, the handler's name)."""

from __future__ import annotations

from collections.abc import Iterator

from .signal import Metric, Signal
from .subject import NAMESPACE, Subject

_QUIET_HOURS = 24


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
    hours = _silence(subject)
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


def _silence(subject: Subject) -> int:
    """Hours without a request that are unusual: fifty usual gaps, from 2 hours to a day."""
    return min(_QUIET_HOURS, max(2, round(50 / subject.traffic.per_minute / 60)))


def _of_source(subject: Subject, id: str, name: str, period: int) -> Metric:
    return Metric(id, NAMESPACE, name, {"source": subject.handler.name}, "Sum", period)
