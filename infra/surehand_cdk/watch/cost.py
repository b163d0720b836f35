"""What watching costs a month, so that nobody has to find out from the bill."""

from __future__ import annotations

from dataclasses import dataclass

METRIC_IN_ALARM = 0.10
COMPOSITE = 0.50
INSIGHT_RULE = 0.50
CUSTOM_METRIC = 0.30
DASHBOARD = 3.00
KEY = 1.00
OWN_METRICS = 13
"""Metric names that a busy handler's run time writes, of which CloudWatch bills each that had a value in the month."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Counts of what CloudWatch bills."""

    metrics: int
    composites: int
    insight_rules: int
    handlers: int
    dashboards: int
    keys: int

    @property
    def alarms(self) -> float:
        """Dollars a month for what this construct creates."""
        return (
            self.metrics * METRIC_IN_ALARM
            + self.composites * COMPOSITE
            + self.insight_rules * INSIGHT_RULE
            + self.dashboards * DASHBOARD
            + self.keys * KEY
        )

    @property
    def text(self) -> str:
        """The output's value: the sum, its parts and its assumptions."""
        return (
            f"about ${self.alarms:.2f} a month: {self.metrics} metrics in alarms, {self.composites} composite alarms, "
            f"{self.insight_rules} Contributor Insights rules, {self.dashboards} dashboard, {self.keys} KMS key; "
            "and up to "
            f"${self.handlers * OWN_METRICS * CUSTOM_METRIC:.2f} for the metrics that {self.handlers} handlers write. "
            "Assumes us-east-1 list prices, a month of use, no free tier, no matched log events ($0.02 a million)."
        )
