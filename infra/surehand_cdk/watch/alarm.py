"""Signals and causes as CloudWatch resources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from .causes import Cause
from .signal import Signal, queries

EXTENSION = 300
"""Seconds for which a cause stays quiet after its explanation went away: that one may only have paused."""


def metric_alarm(
    scope: Construct, signal: Signal, *, name: str, text: str, actions: Sequence[str]
) -> cloudwatch.CfnAlarm:
    """The metric alarm *name* of *signal*; it notifies *actions* (topic ARNs) in both directions."""
    return cloudwatch.CfnAlarm(
        scope,
        signal.name,
        alarm_name=name,
        alarm_description=text,
        metrics=[cloudwatch.CfnAlarm.MetricDataQueryProperty(**_python(query)) for query in queries(signal)],
        comparison_operator="LessThanThreshold" if signal.below else "GreaterThanThreshold",
        threshold=signal.threshold,
        evaluation_periods=signal.periods,
        datapoints_to_alarm=signal.breaches,
        treat_missing_data=signal.missing,
        alarm_actions=list(actions) or None,
        ok_actions=list(actions) or None,
    )


def composite_alarm(
    scope: Construct,
    cause: Cause,
    *,
    name: str,
    text: str,
    actions: Sequence[str],
    alarm: Callable[[str], str],
    resources: Mapping[str, Construct],
) -> cloudwatch.CfnCompositeAlarm:
    """The composite alarm *name* of *cause*. *alarm* names the alarm of a part; *resources* are created before it."""
    suppressed: dict[str, Any] = (
        {
            "actions_suppressor": alarm(cause.suppressor),
            "actions_suppressor_wait_period": cause.wait,
            "actions_suppressor_extension_period": EXTENSION,
        }
        if cause.suppressor
        else {}
    )
    composite = cloudwatch.CfnCompositeAlarm(
        scope,
        cause.name,
        alarm_name=name,
        alarm_description=text,
        alarm_rule=cause.named(alarm),
        alarm_actions=[] if cause.quiet else list(actions),
        ok_actions=[] if cause.quiet else list(actions),
        **suppressed,
    )
    for part in (*cause.parts, *([cause.suppressor] if cause.suppressor else [])):
        composite.node.add_dependency(resources[part])
    return composite


def _python(query: dict[str, Any]) -> dict[str, Any]:
    """CloudFormation's property names as the CDK's Python takes them, one level down; the rest it takes as it is."""
    names = {"returnData": "return_data", "metricStat": "metric_stat"}
    return {names.get(name, name): value for name, value in query.items()}
