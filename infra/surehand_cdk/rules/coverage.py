"""Alarms: that everything of ours is watched."""

from __future__ import annotations

from collections.abc import Iterator

from . import sources
from .assembly import Assembly, location
from .consumption import Consumption, consumptions, sources_by_dead_letters
from .ownership import SCHEDULE, ledgers, owned
from .production import in_production
from .rule import Verdict, refuse, rule
from .template import Resource
from .watching import ALARM, COMPOSITE, watchers

_ADD = "Watch(self, ..., watched=...), or an alarm of your own"


def _watched(a: Assembly) -> bool:
    """Whether alarms are meant to be here: there are some of ours, or it is production."""
    return in_production(a) or any(resource.type in (ALARM, COMPOSITE) for resource in owned(a))


def _unwatched(a: Assembly, resource: Resource, what: str, *names: str) -> Iterator[Verdict]:
    if _watched(a) and next(watchers(a, resource, *names), None) is None:
        yield refuse(resource, location(), f"no alarm on {what} ({' or '.join(names)})", fix=_ADD)


def _queue(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    yield from _unwatched(
        a, edge.queue, "its backlog", "ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"
    )


def _letters(a: Assembly, queue: Resource) -> Iterator[Verdict]:
    yield from _unwatched(a, queue, "its content", "ApproximateNumberOfMessagesVisible")


def _failures(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    yield from _unwatched(a, edge.mapping, "what it polls or puts back", "FailedInvokeEventCount", "PolledEventCount")


def _errors(a: Assembly, function: Resource) -> Iterator[Verdict]:
    yield from _unwatched(a, function, "errors", "Errors")
    yield from _unwatched(a, function, "throttles", "Throttles")


def _ticks(a: Assembly, schedule: Resource) -> Iterator[Verdict]:
    group = a.target(a.peek(schedule, "GroupName"))
    if isinstance(group, Resource):
        for verdict in _unwatched(a, group, "dropped ticks", "InvocationDroppedCount"):
            yield refuse(schedule, verdict.at, verdict.says, fix=verdict.fix)


def _table(a: Assembly, table: Resource) -> Iterator[Verdict]:
    names = ("WriteThrottleEvents", "ReadThrottleEvents", "ThrottledRequests")
    yield from _unwatched(a, table, "throttling", *names)


RULES = (
    rule(
        "A01", "Each handler's backlog is watched",
        why="a queue that grows is the first sign of most failures",
        fix="alarms on the age of the oldest message and on the number visible",
        source=sources.SQS_METRICS, over=consumptions, judge=_queue,
    ),
    rule(
        "A13", "Each dead-letter queue is watched",
        why="a dead letter that nobody sees is deleted after fourteen days",
        fix="an alarm on ApproximateNumberOfMessagesVisible > 0",
        source=sources.SQS_METRICS, over=sources_by_dead_letters, judge=_letters,
    ),
    rule(
        "A02", "Each mapping is watched",
        why="Errors counts neither messages that a batch reports as failed nor a mapping that stands still",
        fix="an alarm on FailedInvokeEventCount or PolledEventCount",
        source=sources.LAMBDA_METRICS, over=consumptions, judge=_failures,
    ),
    rule(
        "A03", "Each function's errors and throttles are watched",
        why="a function that cannot start reports nothing by itself",
        fix="alarms on Errors and Throttles",
        source=sources.LAMBDA_METRICS, over=lambda a: a.functions, judge=_errors,
    ),
    rule(
        "A04", "Dropped ticks are watched",
        why="Scheduler drops in silence",
        fix="an alarm on InvocationDroppedCount of the schedule group",
        source=sources.SCHEDULER_GROUPS, over=lambda a: a.resources(SCHEDULE), judge=_ticks,
    ),
    rule(
        "A05", "The ledger's throttling is watched",
        why="a throttled ledger stops every handler, since nothing runs unclaimed",
        fix="an alarm on WriteThrottleEvents and ReadThrottleEvents",
        source=sources.DYNAMODB_CAPACITY, over=ledgers, judge=_table,
    ),
)  # fmt: skip
