"""The event source mapping between a queue and its function."""

from __future__ import annotations

from collections.abc import Iterator

from . import sources
from .assembly import Assembly, location
from .consumption import Consumption, consumptions, mappings
from .rule import Level, Scope, Verdict, refuse, rule
from .shapes import listed
from .template import Resource, Unknown

_PARTIAL = "ReportBatchItemFailures"


def _known_ends(a: Assembly, mapping: Resource) -> Iterator[Verdict]:
    ends = {
        "EventSourceArn": a.target(a.peek(mapping, "EventSourceArn")),
        "FunctionName": a.function(a.peek(mapping, "FunctionName")),
    }
    for key, end in ends.items():
        if isinstance(end, Unknown):
            yield Verdict(
                subject=mapping,
                at=location(key),
                says=f"not checkable: {end.reason}, so no rule about queue and function could be checked",
                fix="define both ends in this app, or acknowledge it with how you made sure",
                checkable=False,
            )


def _partial_failures(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    types = listed(a.value(edge.mapping, "FunctionResponseTypes"))
    if _PARTIAL not in types:
        yield refuse(
            edge.mapping,
            location("FunctionResponseTypes"),
            f"without {_PARTIAL} SQS deletes every message of a batch, also those that the handler reports as failed",
            fix="report_batch_item_failures=True",
            edits=[edge.mapping.put("FunctionResponseTypes", value=[_PARTIAL])],
            level=None if edge.marked else Level.WARNING,
        )


def _counted(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    metrics = listed(a.value(edge.mapping, "MetricsConfig", "Metrics"))
    if "EventCount" not in metrics:
        yield refuse(
            edge.mapping,
            location("MetricsConfig", "Metrics"),
            "EventCount metrics are off, so partial failures appear in no metric (Errors does not count them)",
            fix="metrics_config=MetricsConfig(metrics=[MetricType.EVENT_COUNT])",
            edits=[edge.mapping.put("MetricsConfig", value={"Metrics": ["EventCount"]})],
        )


def _one_consumer(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    others = [other for other in consumptions(a) if other.queue is edge.queue and other.mapping is not edge.mapping]
    if others:
        names = ", ".join(sorted(other.function.construct_path for other in others))
        yield refuse(
            edge.mapping,
            location("EventSourceArn"),
            f"{edge.queue.label} is read by {names} too: each message reaches one of them, by chance",
            fix="one queue per function; fan out with SNS or EventBridge in front of the queues",
        )


def _nothing_filtered(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    if a.value(edge.mapping, "FilterCriteria", "Filters"):
        yield refuse(
            edge.mapping,
            location("FilterCriteria"),
            "Lambda deletes every message that its filter does not match, unseen",
            fix="filter at the producer (SNS filter policy, EventBridge pattern) or in the handler (Cancel)",
            edits=[edge.mapping.drop("FilterCriteria")],
        )


def _enabled(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    if not a.flag(edge.mapping, "Enabled", default=True):
        yield refuse(
            edge.mapping,
            location("Enabled"),
            "the mapping is disabled, so messages wait in the queue until its retention deletes them",
            fix="enabled=True; pause with `aws lambda update-event-source-mapping` and an alarm that is watched",
            edits=[edge.mapping.put("Enabled", value=True)],
        )


RULES = (
    rule(
        "Q03",
        "Both ends of a mapping can be read",
        level=Level.WARNING,
        scope=Scope.ANY,
        why="a rule that cannot see queue and function together would pass in silence",
        fix="keep queue and function in stacks of this app; aliases, versions and cross-stack references are followed",
        source=sources.DESIGN,
        over=mappings,
        judge=_known_ends,
    ),
    rule(
        "Q04",
        "The mapping reports failures message by message",
        scope=Scope.ANY,
        why="the flag decides whether the answer of the function is read at all",
        fix="FunctionResponseTypes: [ReportBatchItemFailures]",
        source=sources.LAMBDA_SQS_ERRORS,
        over=consumptions,
        judge=_partial_failures,
    ),
    rule(
        "Q11",
        "The mapping counts events",
        why="FailedInvokeEventCount and PolledEventCount do not exist without it, and alarms on them never fire",
        fix="MetricsConfig: {Metrics: [EventCount]}",
        source=sources.LAMBDA_METRICS,
        over=consumptions,
        judge=_counted,
    ),
    rule(
        "Q14",
        "A queue has one consumer",
        scope=Scope.ANY,
        why="two mappings on one queue share its messages out at random",
        fix="one mapping per queue",
        source=sources.LAMBDA_SQS,
        over=consumptions,
        judge=_one_consumer,
    ),
    rule(
        "Q15",
        "The mapping filters nothing away",
        scope=Scope.ANY,
        why="a filtered message is deleted: no attempt, no dead letter, no trace",
        fix="no FilterCriteria on an SQS mapping, or an acknowledgement that says why the loss is meant",
        source=sources.LAMBDA_FILTERING,
        over=consumptions,
        judge=_nothing_filtered,
    ),
    rule(
        "Q16",
        "The mapping is enabled",
        level=Level.WARNING,
        why="a consumer that was switched off in a template is forgotten until messages expire",
        fix="Enabled: true",
        source=sources.LAMBDA_SQS,
        over=consumptions,
        judge=_enabled,
    ),
)
