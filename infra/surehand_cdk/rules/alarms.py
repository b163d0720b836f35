"""Alarms: that each is evaluated, reaches a person, and says what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from surehand.variables import NAMESPACE

from . import sources
from .assembly import Assembly, location
from .consumption import sources_by_dead_letters
from .rule import Level, NotKnown, Scope, Verdict, refuse, rule
from .template import Resource, Unknown
from .watching import ALARM, COMPOSITE, children, metrics, watchers

MOST_METRICS = 10
_RUNBOOK = re.compile(r"\S+#\S+")
_COMMAND = re.compile(r"`[^`]+`")
_OWN_DIMENSIONS = {"handler", "source"}


def _acts(a: Assembly, alarm: Resource) -> Iterator[Verdict]:
    if a.value(alarm, "AlarmActions"):
        return
    parents = [c for c in a.resources(COMPOSITE) if alarm in children(a, c) or _suppresses(a, c, alarm)]
    if not parents:
        yield refuse(
            alarm,
            location("AlarmActions"),
            "no action, and no composite alarm reads it: it turns red where nobody looks",
            fix="add_alarm_action(SnsAction(topic))",
        )


def _suppresses(a: Assembly, composite: Resource, alarm: Resource) -> bool:
    return a.target(a.peek(composite, "ActionsSuppressor")) is alarm


def _sees_moves(a: Assembly, alarm: Resource) -> Iterator[Verdict]:
    for target in sources_by_dead_letters(a):
        if alarm in watchers(a, target, "NumberOfMessagesSent"):
            yield refuse(
                alarm,
                location("MetricName"),
                f"watches NumberOfMessagesSent of {target.id}, which does not count what SQS moves there",
                fix="ApproximateNumberOfMessagesVisible, Maximum, > 0",
                edits=[alarm.put("MetricName", value="ApproximateNumberOfMessagesVisible")]
                if "MetricName" in alarm.properties
                else [],
            )


def _no_tenant(a: Assembly, alarm: Resource) -> Iterator[Verdict]:
    for metric in metrics(a, alarm):
        extra = set(metric.dimensions) - _OWN_DIMENSIONS
        if metric.namespace == NAMESPACE and extra:
            yield refuse(
                alarm,
                location("Dimensions"),
                f"dimension {', '.join(sorted(extra))} on {NAMESPACE}/{metric.name}: each value is a metric to pay for",
                fix="the dimension handler (a webhook's source) alone; tenants are a field for Contributor Insights",
            )


def _missing_data(a: Assembly, alarm: Resource) -> Iterator[Verdict]:
    if alarm.type == ALARM and a.value(alarm, "TreatMissingData") is None:
        yield refuse(
            alarm,
            location("TreatMissingData"),
            "does not say what missing data means, and SQS metrics stop after six idle hours",
            fix="treat_missing_data=TreatMissingData.NOT_BREACHING (BREACHING for a heartbeat)",
            edits=[alarm.put("TreatMissingData", value="notBreaching")],
        )


def _tells_what_to_do(a: Assembly, alarm: Resource) -> Iterator[Verdict]:
    text = str(a.value(alarm, "AlarmDescription") or "")
    if not _RUNBOOK.search(text) or not _COMMAND.search(text):
        yield refuse(
            alarm,
            location("AlarmDescription"),
            "its description has no link to a runbook heading, or no command",
            fix="alarm_description: what it means, `the command`, runbook.md#heading",
        )


def _legal_math(a: Assembly, alarm: Resource) -> Iterator[Verdict]:
    found = metrics(a, alarm)
    if len([m for m in found if not m.expression]) > MOST_METRICS:
        yield refuse(
            alarm,
            location("Metrics"),
            f"{len([m for m in found if not m.expression])} metrics in one alarm, CloudWatch allows {MOST_METRICS}",
            fix="several alarms, and a composite over them",
        )
    if any("SEARCH(" in m.expression for m in found):
        yield refuse(
            alarm,
            location("Metrics"),
            "a SEARCH expression, which alarms do not evaluate",
            fix="name the metrics",
        )


def _legal_window(a: Assembly, alarm: Resource) -> Iterator[Verdict]:
    if alarm.type != ALARM:
        return
    evaluations = a.number(alarm, "EvaluationPeriods", default=1)
    period = max((m.period for m in metrics(a, alarm)), default=60) or 60
    most = 86_400 if period < 3_600 else 604_800
    if evaluations * period > most:
        yield refuse(
            alarm,
            location("EvaluationPeriods"),
            f"{evaluations} periods of {period} s are {evaluations * period} s, CloudWatch evaluates {most} s at most",
            fix=f"evaluation_periods={most // period}",
            edits=[
                alarm.put("EvaluationPeriods", value=most // period),
                alarm.put(
                    "DatapointsToAlarm",
                    value=min(a.number(alarm, "DatapointsToAlarm", default=evaluations), most // period),
                ),
            ],
        )


def _children_exist(a: Assembly, composite: Resource) -> Iterator[Verdict]:
    for child in children(a, composite):
        if isinstance(child, Unknown):
            yield NotKnown(composite, location("AlarmRule"), child.reason).verdict()


def _of(*types: str) -> Callable[[Assembly], Iterator[Resource]]:
    return lambda a: a.resources(*types)


RULES = (
    rule(
        "A06", "Each alarm has an action, or feeds one that has",
        why="an alarm is a message to a person",
        fix="AlarmActions, or a place in a composite's rule",
        source=sources.ALARMS, over=_of(ALARM, COMPOSITE), judge=_acts,
    ),
    rule(
        "A07", "A dead-letter alarm counts what SQS moves", scope=Scope.ANY,
        why="NumberOfMessagesSent counts SendMessage calls only, so the alarm never fires",
        fix="ApproximateNumberOfMessagesVisible",
        source=sources.SQS_METRICS, over=_of(ALARM), judge=_sees_moves,
    ),
    rule(
        "A08", "No alarm has a dimension per tenant",
        why="metrics are priced by dimension value; tenants belong into log fields",
        fix="the dimension handler, or source for webhooks, alone",
        source=sources.METRIC_PRICE, over=_of(ALARM), judge=_no_tenant,
    ),
    rule(
        "A09", "Each alarm says what missing data means",
        why="the default keeps the old state, so an idle queue stays red and a dead heartbeat stays green",
        fix="TreatMissingData, said",
        source=sources.ALARMS, over=_of(ALARM), judge=_missing_data,
    ),
    rule(
        "A10", "Each alarm says what to do",
        why="the person at night has the text of the alarm, and nothing else at hand",
        fix="a runbook link with a heading, and the exact command",
        source=sources.DESIGN, over=_of(ALARM, COMPOSITE), judge=_tells_what_to_do,
    ),
    rule(
        "A11", "Metric math is what alarms evaluate", scope=Scope.ANY,
        why="CloudWatch refuses the alarm at deployment",
        fix="at most 10 metrics, no SEARCH",
        source=sources.ALARM_MATH, over=_of(ALARM), judge=_legal_math,
    ),
    rule(
        "S05", "An alarm's window is one that CloudWatch evaluates", scope=Scope.ANY,
        why="a heartbeat over a longer window is refused at deployment",
        fix="period x evaluations <= 1 day (period < 1 h) or 7 days",
        source=sources.ALARMS, over=_of(ALARM), judge=_legal_window,
    ),
    rule(
        "A12", "A composite's alarms exist", level=Level.WARNING,
        why="a composite over a name that is gone stays silent for ever",
        fix="reference alarms of this app",
        source=sources.ALARM_COMPOSITE, over=_of(COMPOSITE), judge=_children_exist,
    ),
)  # fmt: skip
