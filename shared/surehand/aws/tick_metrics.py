"""What the metrics say of a schedule: that it ran, that it finished, how late it began, and which ticks were skipped.

The watch on "did not run", "did not finish" and "ran late" is built on these names; `docs/schedules.md` describes them.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from surehand.declare import moment_of
from surehand.outcomes import Outcome
from surehand.worker.endings import Ending
from surehand.worker.handing_over import ran_before

_SKIPPED = frozenset({"schedule.late", "schedule.overlap"})


def tick_counters(ending: Ending) -> list[str]:
    """Return the counters that one delivery of a tick raises by one.

    `ScheduleRan` for each invocation that ran the handler, `ScheduleFinished` for each tick that has succeeded,
    `ScheduleSkipped` for each tick that was canceled for being late or for an earlier one's run.
    """
    names = []
    if _ran(ending):
        names.append("ScheduleRan")
    if ending.outcome is Outcome.SUCCEEDED:
        names.append("ScheduleFinished")
    # A duplicate of a skipped tick is answered from the ledger: the same outcome and code, but no detail.
    if ending.outcome is Outcome.CANCELED and ending.code in _SKIPPED and ending.phase == "claim" and ending.detail:
        names.append("ScheduleSkipped")
    return names


def tick_lag(ending: Ending, now: datetime) -> float | None:
    """Return the seconds from a tick's moment to the start of its first run; None for any other delivery."""
    operation = ending.operation
    moment = moment_of(operation.id) if operation is not None else None
    if operation is None or moment is None or not _ran(ending) or ran_before(operation.history):
        return None
    return max(0.0, (now - (ending.duration or timedelta(0)) - moment).total_seconds())


def _ran(ending: Ending) -> bool:
    """Only a delivery whose handler ran has a duration; a run that could not be stopped has none yet."""
    return ending.duration is not None or ending.outcome is Outcome.STILL_RUNNING
