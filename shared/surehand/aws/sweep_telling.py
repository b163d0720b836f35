"""What the sweep tells: a JSON line for each stuck operation, the gauge of each handler, and a line for the run.

No payload value is in any of them: names, ids (which carry the declared key and tenant), codes, counts and lengths.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from surehand.aws.emf import record
from surehand.aws.encoding import json_line
from surehand.aws.sweep import Report
from surehand.declare import metrics_of
from surehand.declare.sweeping import Task
from surehand.ledger.stuck import Stuck

#: The gauge. 0 is told too: a handler without a value has no sweep any more.
GAUGE = "StuckStates"
#: Stuck operations that one run names; all are counted.
MOST_LINES = 100


def lines(report: Report, task: Task, *, service: str, stage: str, version: str, now: datetime) -> Iterator[str]:
    """Yield what one run tells, line by line."""
    common = {"timestamp": now.isoformat(timespec="milliseconds"), "service": service}
    oldest_first = sorted(report.stuck.values(), key=lambda one: one.since)
    for one in oldest_first[:MOST_LINES]:
        yield _line({**common, "level": "WARNING", "event": "stuck", **_named(one)})
    for operation_id in report.unreadable[:MOST_LINES]:
        yield _line({**common, "level": "ERROR", "event": "unreadable", "operation": operation_id})
    for handler, count in report.by_handler(task).items():
        yield json_line(record("handler", metrics_of(service, stage, handler), {GAUGE: count}, units={}, now=now))
    yield _line({**common, "version": version, **summary(report, now=now)})


def summary(report: Report, *, now: datetime) -> dict[str, Any]:
    """Return what one run did. *read_units* and the pass's own say exactly what it cost."""
    done = report.finished
    told: dict[str, Any] = {
        "level": "INFO" if report.cut_short is None and not report.unreadable else "WARNING",
        "event": "sweep",
        "stuck": len(report.stuck) + report.more.total(),
        "unreadable": len(report.unreadable),
        "pages": report.pages,
        "items": report.items,
        "read_units": report.units,
        "cut_short": report.cut_short,
        "overtaken": report.overtaken or None,
    }
    if done is not None:
        seconds = round((now - done.began_at).total_seconds())
        told["pass"] = {"items": done.items, "read_units": done.units, "seconds": seconds}
    return {name: value for name, value in told.items() if value is not None}


def _named(one: Stuck) -> dict[str, Any]:
    operation = one.operation
    return {
        "handler": operation.handler,
        "tenant": operation.tenant,
        "operation": operation.id,
        "state": operation.state.value,
        "kind": one.kind.value,
        "since": one.since.isoformat(timespec="milliseconds"),
        "attempt": operation.attempts,
        "fence": operation.fence,
        "failure_code": operation.code,
    }


def _line(fields: dict[str, Any]) -> str:
    return json_line({name: value for name, value in fields.items() if value is not None})
