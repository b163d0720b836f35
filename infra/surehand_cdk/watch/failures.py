"""Signals of attempts that fail, by the class of their failure code, and of functions that do not get so far."""

from __future__ import annotations

import math
from collections.abc import Iterator

from .signal import Signal
from .subject import INSIGHTS_ARRIVE, Subject

FEW_CRASHES = 3
"""A message that kills its process does so three times before it is poison: no regression yet."""


def signals(subject: Subject) -> Iterator[Signal]:
    """Rates per class, which the causes tell apart; concentration in one tenant; and the function's own health."""
    yield _rate(subject, "provider-rate", "FailedProvider", above=50)
    # Two messages that fail on code and are retried to their end must not look like a regression.
    yield _rate(subject, "code-rate", "FailedCode", above=10, more_than=2 * subject.handler.options.max_attempts)
    yield _rate(subject, "data-rate", "FailedData", above=20, more_than=subject.rhythm.few - 1)
    yield Signal(
        name="data-count",
        metrics=(subject.own("failed", "FailedData", period=60),),
        threshold=0,
        breaches=1,
        # Red for longer than DATA-REPAIR waits for a larger cause, or its notification would be forgotten.
        periods=math.ceil((subject.rhythm.delay + 300) / 60),
    )
    if subject.by_tenant:
        yield _by_contributor(subject, "concentrated", "IF(FILL(total,0) >= {few}, 100 * FILL(top,0) / total, 0)", 80)
        if subject.rhythm.immediate:
            spread = "IF(FILL(total,0) >= {few}, IF(100 * FILL(top,0) / total <= 80, 1, 0), 0)"
            yield _by_contributor(subject, "spread", spread, 0)
    yield from function(subject)


def _by_contributor(subject: Subject, name: str, expression: str, above: float) -> Signal:
    rhythm = subject.rhythm
    return Signal(
        name=name,
        metrics=(subject.insight("top", "MaxContributorValue"), subject.insight("total", "Sum")),
        expression=expression.format(few=rhythm.few),
        threshold=above,
        breaches=1,
        # Red for as long as the rates that it explains look back, or they would lose their explanation first.
        periods=math.ceil((rhythm.periods * rhythm.period + INSIGHTS_ARRIVE) / subject.insight_period),
    )


def _rate(subject: Subject, name: str, metric: str, *, above: float, more_than: int = 0) -> Signal:
    rhythm = subject.rhythm
    # What is refused before it runs (a ledger that is away) fails without an attempt; a rate never exceeds 100 %.
    attempts = "MAX([FILL(attempts,0), FILL(failed,0)])"
    rate = f"100 * FILL(failed,0) / {attempts}"
    enough = f"IF({attempts} >= {rhythm.least}, {rate}, 0)"
    return Signal(
        name=name,
        metrics=(subject.own("attempts", "Attempts"), subject.own("failed", metric)),
        expression=f"IF(FILL(failed,0) > {more_than}, {enough}, 0)" if more_than else enough,
        threshold=above,
        breaches=rhythm.breaches,
        periods=rhythm.periods,
    )


def function(subject: Subject) -> Iterator[Signal]:
    """What Lambda itself counts: invocations that ended without an answer, and limits that were reached."""
    rhythm = subject.rhythm
    yield Signal(
        name="fn-error-rate",
        metrics=(
            subject.of_function("invocations", "Invocations", "Sum", period=rhythm.period),
            subject.of_function("errors", "Errors", "Sum", period=rhythm.period),
        ),
        expression=f"IF(FILL(errors,0) > {FEW_CRASHES}, 100 * errors / MAX([FILL(invocations,0), errors]), 0)",
        threshold=20,
        breaches=rhythm.breaches,
        periods=rhythm.periods,
    )
    yield Signal(
        name="throttles",
        metrics=(subject.of_function("throttles", "Throttles", "Sum"),),
        threshold=0,
        breaches=5,
        periods=5,
        duty="ticket",
    )
    yield Signal(
        name="near-timeout",
        metrics=(subject.of_function("longest", "Duration", "Maximum"),),
        threshold=0.9 * subject.timeout * 1_000,
        breaches=3,
        periods=15,
        duty="ticket",
    )
    yield Signal(
        name="recursion",
        metrics=(subject.of_function("dropped", "RecursiveInvocationsDropped", "Sum"),),
        threshold=0,
        breaches=1,
        periods=1,
        duty="page",
    )
