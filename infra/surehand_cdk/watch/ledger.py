"""Signals of the ledger table. Without it nothing runs, so they page by themselves and keep the causes quiet."""

from __future__ import annotations

from collections.abc import Iterator

from .signal import Metric, Signal


def _of_table(table: str, id: str, name: str) -> Metric:
    return Metric(id, "AWS/DynamoDB", name, {"TableName": table}, "Sum")


def signals(table: str) -> Iterator[Signal]:
    """Throttled, throttled by one hot key, at the account's limit, and errors of DynamoDB itself."""
    yield throttled(table)
    yield Signal(
        name="ledger-hot-key",
        metrics=(
            _of_table(table, "written", "WriteKeyRangeThroughputThrottleEvents"),
            _of_table(table, "read", "ReadKeyRangeThroughputThrottleEvents"),
        ),
        expression="FILL(written,0) + FILL(read,0)",
        threshold=0,
        breaches=3,
        periods=5,
        duty="ticket",
    )
    yield Signal(
        name="ledger-errors",
        metrics=(_of_table(table, "errors", "SystemErrors"),),
        threshold=0,
        breaches=3,
        periods=5,
        duty="page",
    )


def throttled(table: str) -> Signal:
    """DynamoDB refuses reads or writes: every handler stands still, by design."""
    return Signal(
        name="ledger-throttled",
        metrics=(
            _of_table(table, "written", "WriteThrottleEvents"),
            _of_table(table, "read", "ReadThrottleEvents"),
        ),
        expression="FILL(written,0) + FILL(read,0)",
        threshold=0,
        breaches=3,
        periods=5,
        duty="page",
    )
