"""A dashboard that a person can read: causes first, then a row for each handler, then what they share."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from surehand.variables import NAMESPACE

from .subject import Subject
from .ticks import Ticking

_MINUTE = Duration.minutes(1)
_HEIGHT = 6


def dashboard(
    scope: Construct,
    *,
    name: str,
    subjects: Sequence[Subject],
    causes: Sequence[cloudwatch.IAlarm],
    table: str,
    ticking: dict[str, Ticking],
) -> cloudwatch.Dashboard:
    """The dashboard *name*; *causes* are the alarms that notify, *ticking* the schedules by handler."""
    board = cloudwatch.Dashboard(scope, "Dashboard", dashboard_name=name)
    if causes:
        board.add_widgets(cloudwatch.AlarmStatusWidget(title="What is wrong", alarms=list(causes), width=24, height=4))
    for subject in subjects:
        board.add_widgets(cloudwatch.TextWidget(markdown=f"## {subject.handler.name}", width=24, height=1))
        board.add_widgets(*_queue(subject), _outcomes(subject), _duration(subject))
        board.add_widgets(_attempts(subject), _dead_letters(subject), _health(subject), *_ticks(subject, ticking))
    board.add_widgets(cloudwatch.TextWidget(markdown="## ledger", width=24, height=1))
    board.add_widgets(*_ledger(table))
    return board


def _metric(
    namespace: str, name: str, dimensions: dict[str, str], *, stat: str = "Sum", label: str = ""
) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map=dimensions,
        statistic=stat,
        period=_MINUTE,
        label=label or name,
    )


def _graph(
    title: str,
    left: Sequence[cloudwatch.IMetric],
    *,
    right: Sequence[cloudwatch.IMetric] = (),
    stacked: bool = False,
    unit: str = "",
) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(
        title=title,
        left=list(left),
        right=list(right),
        stacked=stacked,
        width=6,
        height=_HEIGHT,
        left_y_axis=cloudwatch.YAxisProps(min=0, label=unit or None, show_units=not unit),
    )


def _queue(subject: Subject) -> list[cloudwatch.GraphWidget]:
    def of(name: str, stat: str, label: str) -> cloudwatch.Metric:
        return _metric("AWS/SQS", name, {"QueueName": subject.queue}, stat=stat, label=label)

    depth = [
        of("ApproximateNumberOfMessagesVisible", "Maximum", "waiting"),
        of("ApproximateNumberOfMessagesNotVisible", "Maximum", "in flight"),
        of("ApproximateNumberOfMessagesDelayed", "Maximum", "delayed"),
    ]
    flow = [of("NumberOfMessagesSent", "Sum", "sent"), of("NumberOfMessagesDeleted", "Sum", "deleted")]
    age = [of("ApproximateAgeOfOldestMessage", "Maximum", "oldest")]
    return [
        _graph("Depth", depth, right=flow),
        _graph(f"Age of the oldest message (may be {subject.oldest} s)", age, unit="seconds"),
    ]


def _own(subject: Subject, name: str, *, stat: str = "Sum", label: str = "") -> cloudwatch.Metric:
    return _metric(NAMESPACE, name, subject.dimensions, stat=stat, label=label)


def _outcomes(subject: Subject) -> cloudwatch.GraphWidget:
    names = ("Succeeded", "Duplicate", "FailedProvider", "FailedCode", "FailedData", "DeadLettered")
    return _graph("Outcomes by class", [_own(subject, name) for name in names], stacked=True)


def _attempts(subject: Subject) -> cloudwatch.GraphWidget:
    names = ("Attempts", "InProgress", "Unstarted", "Interrupted", "FenceLost")
    age = _own(subject, "OperationAge", stat="p90", label="age of operations, p90")
    return _graph("Attempts", [_own(subject, name) for name in names], right=[age])


def _duration(subject: Subject) -> cloudwatch.GraphWidget:
    found = [_own(subject, "Duration", stat=stat, label=stat) for stat in ("p50", "p90", "p99")]
    return _graph(f"Duration of one attempt (timeout {subject.timeout} s)", found, unit="seconds")


def _dead_letters(subject: Subject) -> cloudwatch.GraphWidget:
    dimensions = {"QueueName": subject.dead_letters}
    waiting = _metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", dimensions, stat="Maximum", label="waiting")
    oldest = _metric("AWS/SQS", "ApproximateAgeOfOldestMessage", dimensions, stat="Maximum", label="oldest, seconds")
    return _graph("Dead letters", [waiting], right=[oldest])


def _health(subject: Subject) -> cloudwatch.GraphWidget:
    dimensions = {"FunctionName": subject.name}
    counts = [_metric("AWS/Lambda", name, dimensions) for name in ("Invocations", "Errors", "Throttles")]
    running = _metric("AWS/Lambda", "ConcurrentExecutions", dimensions, stat="Maximum", label="running")
    return _graph(f"Function (at most {subject.handler.options.max_concurrency})", counts, right=[running])


def _ticks(subject: Subject, ticking: dict[str, Ticking]) -> list[cloudwatch.GraphWidget]:
    if subject.handler.name not in ticking:
        return []
    group = {"ScheduleGroup": ticking[subject.handler.name].group}
    ran = [_own(subject, "ScheduleRan", label="started"), _own(subject, "ScheduleFinished", label="finished")]
    dropped = _metric("AWS/Scheduler", "InvocationDroppedCount", group, label="dropped")
    late = _own(subject, "TickLag", stat="Maximum", label="began late by, seconds")
    return [_graph("Ticks", [*ran, _own(subject, "ScheduleSkipped", label="skipped"), dropped], right=[late])]


def _ledger(table: str) -> list[cloudwatch.GraphWidget]:
    def of(name: str, stat: str = "Sum") -> cloudwatch.Metric:
        return _metric("AWS/DynamoDB", name, {"TableName": table}, stat=stat)

    throttles = ("ReadThrottleEvents", "WriteThrottleEvents", "SystemErrors")
    conflicts = ("ConditionalCheckFailedRequests", "TransactionConflict")
    return [
        _graph("Capacity used", [of("ConsumedReadCapacityUnits"), of("ConsumedWriteCapacityUnits")]),
        _graph("Throttled, failed", [of(name) for name in throttles]),
        _graph("Refused claims and settles", [of(name) for name in conflicts]),
    ]
