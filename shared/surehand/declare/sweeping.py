"""What the sweep is told: how long each handler's operations may be late, how much it may read, and what that costs.

The sweep reads the ledger page by page, a bounded number of megabytes in each run, and goes on in the next run where it
stopped. So its cost follows the table's size up to a limit and then stays there, while a pass takes longer:

    read units of a run  = min(table size, megabytes × 1 MiB) / 8 KiB     (eventually consistent: half a unit per 4 KiB)
    runs of a pass       = table size / (megabytes × 1 MiB), rounded up
    dollars of a month   = read units of a run × 8,640 runs × $0.125 per million + the function's time

`cost` computes it, `docs/sweep.md` has the table, and `surehand ledger sweep --cost` computes it for a real one.
Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html (Scan: the sum of
the sizes of all items that were read, rounded up to 4 KB per page; filters change nothing).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from surehand.declare.derived import physical_name, visibility_timeout
from surehand.declare.handler import Handler
from surehand.errors import ConfigurationError
from surehand.ledger.stuck import Patience

#: The sweep's own name, beside the handlers' names.
SWEEP = "sweep"
#: Partition key of the item that holds the sweep's position, the only one that its role may write. No handler's name
#: begins so.
POSITION = f'["!{SWEEP}",null,["position"]]'
#: How often it runs; the gauge's alarm counts periods of this length.
EVERY = timedelta(minutes=5)
#: How many pages of 1 MB a run reads unless the construct is told otherwise. At two pages a second that is 20 s.
MEGABYTES = 40
#: The most that fits into a run's time.
MOST_MEGABYTES = 80
#: A page is read at most so often. One page is 128 read units; a partition of the table serves 3,000 a second.
PAGE_EVERY = timedelta(seconds=0.5)
#: Time for a run: the pages, and room for a slow start.
TIMEOUT = timedelta(seconds=60)
#: What a run keeps of it for a slow last page, its position and telling.
SPARE = timedelta(seconds=15)
MEMORY = 256

#: Beyond a backlog's usual delay: an operation that is late by less is waiting, not stuck.
_SLACK = timedelta(hours=1)

_MEBIBYTE = 2**20
_BYTES_OF_UNIT = 8_192
_MONTH = timedelta(days=30)
#: us-east-1, on demand, per read unit; Lambda on arm64, per GB-second. https://aws.amazon.com/dynamodb/pricing/on-demand/
_DOLLARS_OF_UNIT = 0.125e-6
_DOLLARS_OF_GB_SECOND = 13.3334e-6
#: A run without any page: start, position, telling.
_BARE_RUN = timedelta(seconds=1)


def patience(handler: Handler[Any]) -> Patience:
    """Return how long a handler's operations may be late before they count as stuck.

    SQS delivers again when the visibility timeout ends; two of them and an hour cover a throttled batch and an ordinary
    backlog. On FIFO what waits may wait for an earlier message of its group, which may wait up to `give_up_after`.
    """
    late = 2 * visibility_timeout(handler) + _SLACK
    options = handler.options
    return Patience(
        abandoned=late,
        overdue=late + options.give_up_after if options.fifo else late,
        retention=options.retention,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one run of the sweep shall do. *patience* is by handler's name; *megabytes* are pages of at most 1 MB."""

    patience: Mapping[str, Patience]
    megabytes: int

    @classmethod
    def of(cls, handlers: Iterable[Handler[Any]], *, megabytes: int = MEGABYTES) -> Task:
        """Return the task that follows from a service's declarations."""
        return cls(patience={handler.name: patience(handler) for handler in handlers}, megabytes=megabytes)

    def dump(self) -> dict[str, Any]:
        """Return the task as the schedule's input has it: lengths in whole seconds."""
        handlers = {
            name: [math.ceil(length.total_seconds()) for length in (one.abandoned, one.overdue, one.retention)]
            for name, one in self.patience.items()
        }
        return {"megabytes": self.megabytes, "handlers": handlers}

    @classmethod
    def read(cls, event: Any) -> Task:
        """Read the task that the function was invoked with.

        Raises:
            ConfigurationError: The event is none; says what one looks like.
        """
        try:
            return cls(
                patience={
                    str(name): Patience(
                        abandoned=timedelta(seconds=abandoned),
                        overdue=timedelta(seconds=overdue),
                        retention=timedelta(seconds=retention),
                    )
                    for name, (abandoned, overdue, retention) in event["handlers"].items()
                },
                megabytes=int(event["megabytes"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            example = json.dumps({"megabytes": MEGABYTES, "handlers": {"NAME": [3960, 3960, 345600]}})
            raise ConfigurationError(
                f"The sweep's event must look like {example}: seconds until a lease counts as abandoned, until a "
                "delivery counts as overdue, and the queue's retention. Its schedule sends that."
            ) from error


def function_name(service: str, stage: str) -> str:
    """Return the name of the sweep's function, schedule and schedule group."""
    return physical_name(service, stage, SWEEP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the sweep of one table takes: the time of a whole pass, and dollars a month."""

    passes: timedelta
    dollars: float


def cost(table_bytes: int, *, megabytes: int = MEGABYTES) -> Cost:
    """Compute the cost of sweeping a table of that size, at us-east-1 list prices."""
    most = megabytes * _MEBIBYTE
    runs = max(1, math.ceil(table_bytes / most))
    read = min(table_bytes, most)
    units = math.ceil(read / _BYTES_OF_UNIT)
    seconds = _BARE_RUN.total_seconds() + math.ceil(read / _MEBIBYTE) * PAGE_EVERY.total_seconds()
    dollars_of_run = units * _DOLLARS_OF_UNIT + seconds * MEMORY / 1024 * _DOLLARS_OF_GB_SECOND
    return Cost(passes=runs * EVERY, dollars=_MONTH / EVERY * dollars_of_run)
