"""Phase tell, as CloudWatch reads it: one JSON line per delivery, and one EMF record per batch.

Both go to standard output, which Lambda's log group collects. No payload value is in either: a line carries names, ids,
codes, counts and lengths, and of an exception its type and place, never its text. The metrics have a single dimension,
`handler`, with the service and the stage in its value; tenants are log fields, never a dimension.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TextIO

from surehand.aws.emf import record
from surehand.aws.encoding import json_line
from surehand.aws.tick_metrics import tick_counters, tick_lag
from surehand.codes import failure_class
from surehand.declare import Handler, max_receive_count, metrics_of
from surehand.delivery import Delivery
from surehand.outcomes import OUTCOMES, Outcome
from surehand.states import State
from surehand.worker.endings import Ending

_MILLISECOND = timedelta(milliseconds=1)
#: EMF: values in one metric of one record.
_MOST_VALUES = 100
_CLASS_METRICS = {"provider": "FailedProvider", "code": "FailedCode", "data": "FailedData"}
_OUTCOME_METRICS = {
    Outcome.SUCCEEDED: "Succeeded",
    Outcome.ALREADY_APPLIED: "Duplicate",
    Outcome.CANCELED: "Canceled",
    Outcome.IN_PROGRESS: "InProgress",
    Outcome.UNSTARTED: "Unstarted",
    Outcome.FENCE_LOST: "FenceLost",
    Outcome.RENEWED: "Renewed",
}
_NOTICE_METRICS = {"input.id_conflict": "IdConflict", "ledger.id_unchecked": "IdUnchecked"}
#: Outcomes that are a failure for the alarms, once per operation and attempt.
_FAILURES = frozenset({
    Outcome.RETRY, Outcome.UNKNOWN, Outcome.REJECTED, Outcome.EXHAUSTED, Outcome.HELD, Outcome.KEY_CONFLICT,
    Outcome.UNCLAIMED, Outcome.UNCONFIRMED, Outcome.STILL_RUNNING,
})  # fmt: skip


class CloudWatchTeller:
    """Tells to a text stream, standard output by default. *service* and *stage* name the metrics, see `metrics_of`."""

    def __init__(self, *, service: str, stage: str, version: str, stream: TextIO | None = None) -> None:
        self._service = service
        self._stage = stage
        self._version = version
        self._stream = stream

    def tell(self, handler: Handler[Any], endings: Sequence[Ending], *, now: datetime) -> None:
        """See `Teller.tell`."""
        lines = [json_line(self._line(handler, ending, now)) for ending in endings]
        dimension = metrics_of(self._service, self._stage, handler.name)
        lines += [json_line(record) for record in metrics(handler, endings, now, dimension=dimension)]
        stream = self._stream or sys.stdout
        stream.write("".join(f"{line}\n" for line in lines))
        stream.flush()

    def _line(self, handler: Handler[Any], ending: Ending, now: datetime) -> dict[str, Any]:
        delivery, operation = ending.delivery, ending.operation
        failed = ending.outcome in _FAILURES
        line: dict[str, Any] = {
            "timestamp": now.isoformat(timespec="milliseconds"),
            "level": "ERROR" if ending.outcome in _LOUD else "WARNING" if failed or ending.notice else "INFO",
            "event": "delivery",
            "service": self._service,
            "handler": handler.name,
            "trigger": handler.trigger,
            "message_id": delivery.message_id,
            "operation": ending.operation_id or (operation.id if operation else None),
            "tenant": ending.tenant,
            "outcome": ending.outcome.value,
            "phase": ending.phase,
            "state": operation.state.value if operation else None,
            "attempt": ending.attempt,
            "receive_count": delivery.receive_count,
            "fence": operation.fence if operation else None,
            "failure_code": ending.code,
            "failure_class": failure_class(ending.code) if ending.code and failed else None,
            "detail": ending.detail,
            "duration_ms": _ms(ending.duration),
            "queue_lag_ms": _ms(now - delivery.sent_at) if isinstance(delivery, Delivery) else None,
            "wait_ms": _ms(ending.wait),
            "redrive": ending.redrive or None,
            "replay_suspected": ending.replay or None,
            "notice": ending.notice.code if ending.notice else None,
            "notice_detail": ending.notice.detail if ending.notice else None,
            "trace_id": _trace_id(delivery.trace) if isinstance(delivery, Delivery) else None,
            "version": self._version,
        }
        if ending.origin is not None:
            line |= {"error_type": ending.origin.type, "raised_at": list(ending.origin.raised_at) or None}
            line["caused_by"] = list(ending.origin.caused_by) or None
        return {name: value for name, value in line.items() if value is not None}


def metrics(
    handler: Handler[Any], endings: Sequence[Ending], now: datetime, *, dimension: str
) -> Iterator[dict[str, Any]]:
    """Yield the EMF records of a batch: one, or more where a metric has over 100 values.

    *dimension* is the value of their one dimension.
    """
    counts: dict[str, int] = dict.fromkeys(("Attempts", "Succeeded", *_CLASS_METRICS.values()), 0)
    values: dict[str, list[float]] = defaultdict(list)
    for ending in endings:
        for name in counted(handler, ending):
            counts[name] = counts.get(name, 0) + 1
        for name, length in lengths(ending, now).items():
            values[name].append(length)
        if handler.trigger == "schedule" and (lag := tick_lag(ending, now)) is not None:
            values["TickLag"].append(lag)
    most = max((len(listed) for listed in values.values()), default=0)
    for start in range(0, max(most, 1 if endings else 0), _MOST_VALUES):
        part = {name: listed[start : start + _MOST_VALUES] for name, listed in values.items()}
        told: dict[str, float | list[float]] = {**(counts if start == 0 else {})}
        told |= {name: some for name, some in part.items() if some}
        yield record("handler", dimension, told, units=dict.fromkeys(values, "Seconds"), now=now)


def counted(handler: Handler[Any], ending: Ending) -> list[str]:
    """Return the counters that one delivery raises by one."""
    names = []
    if ending.attempt is not None or (ending.outcome is Outcome.STILL_RUNNING and not ending.copied):
        names.append("Attempts")
    elif ending.outcome in (Outcome.REJECTED, Outcome.KEY_CONFLICT) and ending.operation_id is None:
        names.append("Attempts")  # refused before it could run: the rates of the alarms must see it
    if ending.outcome in _OUTCOME_METRICS:
        names.append(_OUTCOME_METRICS[ending.outcome])
    if ending.outcome in _FAILURES and ending.code is not None and not ending.copied:
        names.append(_CLASS_METRICS[failure_class(ending.code)])
    if ending.interrupted:
        names.append("Interrupted")
    if ending.replay:
        names.append("ReplaySuspected")
    if ending.notice and (notice_metric := _NOTICE_METRICS.get(ending.notice.code)):
        names.append(notice_metric)
    if not ending.deleted and ending.delivery.receive_count >= max_receive_count(handler):
        names.append("DeadLettered")
    return names + tick_counters(ending) if handler.trigger == "schedule" else names


def lengths(ending: Ending, now: datetime) -> dict[str, float]:
    """Return the measured lengths of one delivery, in seconds."""
    found = {}
    operation, delivery = ending.operation, ending.delivery
    if isinstance(delivery, Delivery):
        found["QueueLag"] = max(0.0, (now - delivery.sent_at).total_seconds())
    if operation is not None and operation.history and operation.state is not State.PERMANENTLY_FAILED:
        found["OperationAge"] = max(0.0, (now - operation.history[0].at).total_seconds())
    if ending.duration is not None:
        found["Duration"] = ending.duration.total_seconds()
    return found


_LOUD = frozenset(outcome for outcome in _FAILURES if not OUTCOMES[outcome].holds or outcome is Outcome.STILL_RUNNING)


def _ms(length: timedelta | None) -> int | None:
    return None if length is None else round(length / _MILLISECOND)


def _trace_id(header: str | None) -> str | None:
    """Return the Root of an X-Ray header: `Root=1-…;Parent=…;Sampled=…`."""
    if header is None:
        return None
    fields: Mapping[str, str] = dict(part.split("=", 1) for part in header.split(";") if "=" in part)
    return fields.get("Root")
