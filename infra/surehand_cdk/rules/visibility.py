"""A message must stay hidden for as long as anyone may still be working on it."""

from __future__ import annotations

from collections.abc import Iterator

from . import sources
from .assembly import Assembly, location
from .consumption import Consumption, consumptions, is_fifo
from .rule import Level, Scope, Verdict, refuse, rule

FACTOR = 6
LONGEST_VISIBILITY = 43_200
LONGEST_TIMEOUT = 900


def _covers_the_retries(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    timeout = a.number(edge.function, "Timeout", default=3)
    window = a.number(edge.mapping, "MaximumBatchingWindowInSeconds", default=0)
    visibility = a.number(edge.queue, "VisibilityTimeout", default=30)
    needed = FACTOR * timeout + window
    if visibility < needed:
        yield refuse(
            edge.queue,
            location("VisibilityTimeout"),
            f"visibility {visibility} s, needs {needed} s ({FACTOR} x {timeout} s timeout + {window} s window)",
            fix=f"visibility_timeout=Duration.seconds({needed})",
            edits=[edge.queue.put("VisibilityTimeout", value=needed)],
        )


def _within_limits(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    timeout = a.number(edge.function, "Timeout", default=3)
    if timeout > LONGEST_TIMEOUT:
        yield refuse(
            edge.function,
            location("Timeout"),
            f"timeout {timeout} s, and Lambda ends an invocation after {LONGEST_TIMEOUT} s",
            fix=f"timeout=Duration.seconds({LONGEST_TIMEOUT}); hand longer runs over with a cursor",
            edits=[edge.function.put("Timeout", value=LONGEST_TIMEOUT)],
        )
    visibility = a.number(edge.queue, "VisibilityTimeout", default=30)
    if visibility > LONGEST_VISIBILITY:
        yield refuse(
            edge.queue,
            location("VisibilityTimeout"),
            f"visibility {visibility} s, and SQS hides a message for {LONGEST_VISIBILITY} s at most",
            fix=f"visibility_timeout=Duration.seconds({LONGEST_VISIBILITY})",
            edits=[edge.queue.put("VisibilityTimeout", value=LONGEST_VISIBILITY)],
        )


def _no_delay_on_fifo_groups(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    delay = a.number(edge.queue, "DelaySeconds", default=0)
    if delay and is_fifo(a, edge.queue):
        yield refuse(
            edge.queue,
            location("DelaySeconds"),
            f"every message of a FIFO queue waits {delay} s, and a put-back head waits with its whole group",
            fix="remove delivery_delay; a handler that must wait raises Defer(after=...)",
            edits=[edge.queue.drop("DelaySeconds")],
        )


RULES = (
    rule(
        "Q01",
        "Visibility is six function timeouts plus the batching window",
        scope=Scope.ANY,
        why="Lambda retries a throttled batch until the visibility ends; a shorter one has the message received twice",
        fix="visibility_timeout = 6 x function timeout + batching window",
        source=sources.LAMBDA_SQS,
        over=consumptions,
        judge=_covers_the_retries,
    ),
    rule(
        "Q02",
        "Timeouts are within what Lambda and SQS allow",
        scope=Scope.ANY,
        why="the deployment fails halfway through the change set",
        fix="function timeout <= 900 s, visibility <= 43 200 s",
        source=sources.SQS_LIMITS,
        over=consumptions,
        judge=_within_limits,
    ),
    rule(
        "Q17",
        "A consumed FIFO queue has no delivery delay",
        level=Level.WARNING,
        scope=Scope.ANY,
        why="on FIFO the delay is the queue's, never the message's, and it adds to every retry of a group",
        fix="no DelaySeconds on a FIFO queue that a function consumes",
        source=sources.SQS_LIMITS,
        over=consumptions,
        judge=_no_delay_on_fifo_groups,
    ),
)
