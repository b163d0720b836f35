"""What became of one webhook request, as CloudWatch reads it: a JSON line and an EMF record.

No value of the request is in either, but for the event's id and type, by which an operator finds it again. The metrics
have one dimension, `source`, with the service and the stage in its value. Its name is one of the declared ones: a
stranger cannot make up new ones.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from surehand.aws.emf import record
from surehand.variables import metrics_of
from surehand.webhooks.keys import SecretUnusable
from surehand.webhooks.outcome import Kind, Outcome

#: Stands for the name in the dimension of requests that belong to no declared source.
UNKNOWN = "(unknown)"
_encode = json.JSONEncoder(separators=(",", ":")).encode
_UNITS = {
    "PayloadBytes": "Bytes",
    "SignedAge": "Seconds",
    "EventAge": "Seconds",
    "EnqueueLatency": "Seconds",
    "VerifyLatency": "Seconds",
}
_LEVELS = {Kind.FAILED: "ERROR", Kind.REJECTED: "WARNING", Kind.PAUSED: "WARNING"}


def lines(
    outcome: Outcome,
    *,
    service: str,
    stage: str,
    version: str,
    now: datetime,
    seconds: float,
    spent: Mapping[str, float],
) -> Iterator[str]:
    """Yield the lines of one request. *seconds* is how long it took, *spent* how much of that it waited for AWS."""
    waited = sum(spent.values())
    yield _encode(
        {
            "timestamp": now.isoformat(timespec="milliseconds"),
            "level": _LEVELS.get(outcome.kind, "INFO"),
            "event": "webhook",
            "service": service,
            **outcome.log_fields(),
            **_failure(outcome),
            "duration_ms": round(seconds * 1000, 1),
            "waited_ms": {name: round(length * 1000, 1) for name, length in spent.items()},
            "version": version,
        }
    )
    values = outcome.metrics() | {"VerifyLatency": max(0.0, seconds - waited)}
    if "queue" in spent:
        values["EnqueueLatency"] = spent["queue"]
    named = metrics_of(service, stage, outcome.source or UNKNOWN)
    yield _encode(record("source", named, values, units=_UNITS, now=now))


def _failure(outcome: Outcome) -> dict[str, Any]:
    """Return what an operator needs to know of our own failure: AWS's error code, or what is wrong with a secret."""
    error: BaseException | None = outcome.error
    found: dict[str, Any] = {}
    while error is not None:
        if isinstance(error, SecretUnusable):
            found["detail"] = str(error)
        if isinstance(error, ClientError):
            found["error_code"] = error.response.get("Error", {}).get("Code")
        elif error.__cause__ is None and error.__context__ is None:
            found.setdefault("error_code", type(error).__name__)
        error = error.__cause__ or error.__context__
    return found
