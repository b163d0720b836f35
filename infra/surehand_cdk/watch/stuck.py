"""The signal of operations that wait for nobody: leases that ended unsettled, counted by the sweep."""

from __future__ import annotations

from .signal import Signal
from .subject import Subject


def signal(subject: Subject) -> Signal:
    """Missing data breaches: without the sweep's gauge nobody would know."""
    return Signal(
        name="stuck-states",
        metrics=(subject.own("stuck", "StuckStates", stat="Maximum", period=300),),
        threshold=0,
        breaches=3,
        periods=3,
        missing="breaching",
    )
