"""A metric alarm as plain data, before it is a CloudFormation resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Missing = Literal["breaching", "notBreaching", "ignore", "missing"]
Duty = Literal["cause", "page", "ticket"]
"""What an alarm does when it turns red: feed a cause, notify by itself, or go to the tickets."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric over one period (seconds). Dimension values may be CDK tokens."""

    id: str
    namespace: str
    name: str
    dimensions: Mapping[str, str]
    stat: str
    period: int = 60


@dataclass(frozen=True, slots=True)
class Insight:
    """A number from a Contributor Insights rule: *what* is one of CloudWatch's ``INSIGHT_RULE_METRIC`` names."""

    id: str
    rule: str
    what: Literal["MaxContributorValue", "Sum", "UniqueContributors"]
    period: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """An alarm on *expression* over *metrics* (or on the single metric): above (or below) *threshold*, M out of N."""

    name: str
    metrics: tuple[Metric | Insight, ...]
    threshold: float
    breaches: int
    periods: int
    expression: str = ""
    below: bool = False
    missing: Missing = "notBreaching"
    duty: Duty = "cause"

    @property
    def period(self) -> int:
        """Seconds of one evaluation period."""
        return self.metrics[0].period

    @property
    def billed(self) -> int:
        """How many metrics CloudWatch bills for the alarm."""
        return len(self.metrics)


def queries(signal: Signal) -> list[dict[str, Any]]:
    """The signal's metrics and expression as an alarm's ``Metrics``; only the last one is the result."""
    found = [_query(metric) for metric in signal.metrics]
    if not signal.expression:
        found[0]["returnData"] = True
        return found
    return [*found, {"id": "result", "expression": signal.expression, "label": signal.name, "returnData": True}]


def _query(metric: Metric | Insight) -> dict[str, Any]:
    if isinstance(metric, Insight):
        expression = f'INSIGHT_RULE_METRIC("{metric.rule}", "{metric.what}")'
        return {"id": metric.id, "expression": expression, "period": metric.period, "returnData": False}
    return {
        "id": metric.id,
        "returnData": False,
        "metricStat": {
            "period": metric.period,
            "stat": metric.stat,
            "metric": {
                "namespace": metric.namespace,
                "metricName": metric.name,
                "dimensions": [{"name": name, "value": value} for name, value in metric.dimensions.items()],
            },
        },
    }
