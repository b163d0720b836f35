"""From measured quantities to dollars for a million messages."""

from __future__ import annotations

from dataclasses import dataclass

from bench.money import prices

#: Messages of one bill, and of one invocation.
MESSAGES, BATCH = 1_000_000, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a message consumes on one side, in batches of ten. *waits* are round trips in a row for each batch."""

    side: str
    cpu_us: float
    waits: float
    write_units: float
    read_units: float
    log_bytes: float
    item_bytes: float
    sqs_requests: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """Dollars for a million messages, the handler's own time left out."""

    sqs: float
    requests: float
    duration: float
    dynamodb: float
    storage: float
    logs: float

    @property
    def total(self) -> float:
        """Return the sum."""
        return self.sqs + self.requests + self.duration + self.dynamodb + self.storage + self.logs


def bill(measured: Measured, *, memory_mb: int, round_trip_ms: float) -> Bill:
    """Return the bill for functions of that size with DynamoDB that far away.

    Below a whole vCPU the measured CPU takes longer in proportion; waiting takes as long as it takes.
    """
    share = min(1.0, memory_mb / prices.WHOLE_CPU_MB)
    seconds = measured.waits * round_trip_ms / 1e3 + measured.cpu_us * BATCH / 1e6 / share
    batches = MESSAGES / BATCH
    return Bill(
        sqs=measured.sqs_requests * prices.SQS_STANDARD,
        requests=batches / 1e6 * prices.LAMBDA_REQUESTS,
        duration=batches * seconds * memory_mb / 1024 * prices.LAMBDA_GB_SECOND,
        dynamodb=measured.write_units * prices.WRITE_UNITS + measured.read_units * prices.READ_UNITS,
        # Kept for 30 days on both sides; AWS adds 100 bytes to each item.
        storage=MESSAGES * (measured.item_bytes + 100) / 1e9 * prices.STORED_GB_MONTH,
        logs=(MESSAGES * measured.log_bytes + batches * prices.PLATFORM_LOG_BYTES) / 1e9 * prices.LOGS_GB,
    )
