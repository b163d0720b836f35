"""Sizes that Lambda accepts for a batch, and the window that fills it."""

from __future__ import annotations

from collections.abc import Iterator

from . import sources
from .assembly import Assembly, location
from .consumption import Consumption, consumptions
from .rule import Scope, Verdict, refuse, rule

LARGEST_WITHOUT_WINDOW = 10
LARGEST = 10_000
LONGEST_WINDOW = 300


def _standard(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    if edge.fifo:
        return
    size = a.number(edge.mapping, "BatchSize", default=10)
    window = a.number(edge.mapping, "MaximumBatchingWindowInSeconds", default=0)
    if size > LARGEST_WITHOUT_WINDOW and window < 1:
        yield refuse(
            edge.mapping,
            location("MaximumBatchingWindowInSeconds"),
            f"batch size {size} without a batching window",
            fix="max_batching_window=Duration.seconds(1), or batch_size=10",
            edits=[edge.mapping.put("MaximumBatchingWindowInSeconds", value=1)],
        )
    if size > LARGEST or window > LONGEST_WINDOW:
        yield refuse(
            edge.mapping,
            location("BatchSize"),
            f"batch size {size} with a window of {window} s; Lambda takes {LARGEST} and {LONGEST_WINDOW} s at most",
            fix=f"batch_size={min(size, LARGEST)}, max_batching_window=Duration.seconds({min(window, LONGEST_WINDOW)})",
            edits=[
                edge.mapping.put("BatchSize", value=min(size, LARGEST)),
                edge.mapping.put("MaximumBatchingWindowInSeconds", value=min(window, LONGEST_WINDOW)),
            ],
        )


def _fifo(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    if not edge.fifo:
        return
    size = a.number(edge.mapping, "BatchSize", default=10)
    window = a.number(edge.mapping, "MaximumBatchingWindowInSeconds", default=0)
    if size > LARGEST_WITHOUT_WINDOW:
        yield refuse(
            edge.mapping,
            location("BatchSize"),
            f"batch size {size} on a FIFO queue",
            fix="batch_size=10",
            edits=[edge.mapping.put("BatchSize", value=10)],
        )
    if window:
        yield refuse(
            edge.mapping,
            location("MaximumBatchingWindowInSeconds"),
            f"a batching window of {window} s on a FIFO queue",
            fix="remove max_batching_window",
            edits=[edge.mapping.drop("MaximumBatchingWindowInSeconds")],
        )


RULES = (
    rule(
        "Q07",
        "A batch of more than ten has a window",
        scope=Scope.ANY,
        why="Lambda refuses the mapping at deployment",
        fix="window >= 1 s when the batch size is above 10; batch <= 10 000, window <= 300 s",
        source=sources.LAMBDA_SQS_PARAMETERS,
        over=consumptions,
        judge=_standard,
    ),
    rule(
        "Q19",
        "A FIFO batch is at most ten and has no window",
        scope=Scope.ANY,
        why="Lambda refuses the mapping at deployment",
        fix="batch <= 10 and no window on FIFO",
        source=sources.LAMBDA_SQS_PARAMETERS,
        over=consumptions,
        judge=_fifo,
    ),
)
