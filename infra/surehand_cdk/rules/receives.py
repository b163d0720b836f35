"""How often a message may be received before SQS gives it up."""

from __future__ import annotations

from collections.abc import Iterator

from . import sources
from .assembly import Assembly, location
from .consumption import Consumption, consumptions, receive_limit, retention
from .rule import Level, Scope, Verdict, refuse, rule

FLOOR = 5
FLOOR_FIFO = 3
CEILING = 20
HANDED_OVER = 200
"""A marked handler with a cursor gets at least this many receives more: each hand-over of its run is one."""


def _enough(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    limit = receive_limit(a, edge.queue)
    floor = FLOOR_FIFO if edge.fifo and not edge.marked else FLOOR
    if limit is not None and limit < floor:
        yield refuse(
            edge.queue,
            location("RedrivePolicy", "maxReceiveCount"),
            f"maxReceiveCount {limit}, needs {floor}: a throttled invocation is a receive too",
            fix=f"DeadLetterQueue(max_receive_count={floor}, ...)",
            edits=[edge.queue.put("RedrivePolicy", "maxReceiveCount", value=floor)],
        )


def _not_too_many(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    limit = receive_limit(a, edge.queue)
    exempt = edge.fifo or (edge.marked and limit is not None and limit > HANDED_OVER)
    if limit is not None and limit > CEILING and not exempt:
        yield refuse(
            edge.queue,
            location("RedrivePolicy", "maxReceiveCount"),
            f"maxReceiveCount {limit}: a message that cannot succeed is received {limit} times first",
            fix=f"DeadLetterQueue(max_receive_count={CEILING}, ...), or fewer max_attempts",
            edits=[edge.queue.put("RedrivePolicy", "maxReceiveCount", value=CEILING)],
        )


def _dead_before_deleted(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    limit = receive_limit(a, edge.queue)
    if limit is None or edge.fifo or limit > HANDED_OVER:
        return
    visibility = a.number(edge.queue, "VisibilityTimeout", default=30)
    worst, kept = limit * visibility, retention(a, edge.queue)
    if worst >= kept / 2:
        yield refuse(
            edge.queue,
            location("MessageRetentionPeriod"),
            f"{limit} receives of {visibility} s take up to {worst} s, and the queue keeps a message {kept} s",
            fix=f"retention_period=Duration.seconds({min(2 * worst + 1, 1_209_600)}), or fewer receives",
            edits=[edge.queue.put("MessageRetentionPeriod", value=min(2 * worst + 1, 1_209_600))],
        )


RULES = (
    rule(
        "Q05",
        "A message is received at least five times before it is a dead letter",
        scope=Scope.ANY,
        why="throttles and scale-downs consume receives, so with a low limit healthy messages end in the DLQ",
        fix="maxReceiveCount >= 5 (FIFO by hand: >= 3)",
        source=sources.LAMBDA_SQS,
        over=consumptions,
        judge=_enough,
    ),
    rule(
        "Q18",
        "A message that cannot succeed becomes visible as a dead letter soon",
        level=Level.WARNING,
        scope=Scope.ANY,
        why="every further receive costs an invocation and delays the alarm",
        fix="maxReceiveCount <= 20; FIFO queues and handlers with a cursor are exempt, their receives are no attempts",
        source=sources.SQS_DEAD_LETTERS,
        over=consumptions,
        judge=_not_too_many,
    ),
    rule(
        "Q06",
        "A failing message reaches the DLQ before the queue deletes it",
        level=Level.WARNING,
        scope=Scope.ANY,
        why="SQS deletes a message at the end of its retention in silence, whatever its receive count",
        fix="maxReceiveCount x visibility < half of the retention",
        source=sources.SQS_LIMITS,
        over=consumptions,
        judge=_dead_before_deleted,
    ),
)
