"""Numbers and names that follow from a declaration: derived here, typed nowhere else.

Names and the `SUREHAND_*` variables are a public, versioned contract: Terraform, SAM and Serverless users wire the run
time with them (`docs/adopting.md`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from surehand import variables
from surehand.declare import limits
from surehand.declare.handler import Handler
from surehand.errors import DeclarationError

CONTRACT = variables.CONTRACT
SERVICE, STAGE, HANDLER, VERSION = variables.SERVICE, variables.STAGE, variables.HANDLER, variables.VERSION
TABLE, WRITES, LEDGER_RETENTION = variables.TABLE, variables.WRITES, variables.LEDGER_RETENTION
QUEUE, queue_variable = variables.QUEUE, variables.queue_variable
SOURCES, BODIES = variables.SOURCES, variables.BODIES
metrics_of = variables.metrics_of

#: The ledger's key attributes, TTL attribute and sparse index.
TABLE_KEYS = ("id", "part")
TTL_ATTRIBUTE = "expires_at"
ATTENTION_INDEX = "attention"
ATTENTION_KEYS = ("attention", "attention_at")


def physical_name(service: str, stage: str, handler: str) -> str:
    """Return the name of the function and the stem of the queues: `{service}-{stage}-{handler}`.

    Raises:
        DeclarationError: It is longer than 64 characters, where Lambda's function names and IAM's role names end.
    """
    name = f"{service}-{stage}-{handler}"
    if len(name) > limits.LONGEST_FUNCTION_NAME:
        raise DeclarationError(
            f"Handler '{handler}': the name '{name}' has {len(name)} characters, and Lambda allows "
            f"{limits.LONGEST_FUNCTION_NAME}. "
            "Shorten the service, the stage or, before its first deployment, the handler."
        )
    return name


def queue_name(service: str, stage: str, handler: Handler[Any]) -> str:
    """Return the name of a handler's queue; FIFO queues must end in `.fifo`."""
    return physical_name(service, stage, handler.name) + (".fifo" if handler.options.fifo else "")


def dead_letter_queue_name(service: str, stage: str, handler: Handler[Any]) -> str:
    """Return the name of a handler's dead-letter queue."""
    return physical_name(service, stage, handler.name) + "-dlq" + (".fifo" if handler.options.fifo else "")


def table_name(service: str, stage: str) -> str:
    """Return the name of a service's ledger table."""
    return f"{service}-{stage}-ledger"


def schedule_group_name(service: str, stage: str) -> str:
    """Return the name of a service's schedule group. Each schedule in it has its function's name."""
    return f"{service}-{stage}"


def tick_dead_letter_queue_name(service: str, stage: str) -> str:
    """Return the name of the queue for ticks that EventBridge Scheduler could not deliver."""
    return f"{service}-{stage}-ticks-dlq"


def lambda_handler(handler: Handler[Any]) -> str:
    """Return what Lambda's `Handler` setting must say, such as `handlers.orders.charge_order`."""
    return f"{handler.__module__}.{handler.__name__}"


def visibility_timeout(handler: Handler[Any]) -> timedelta:
    """Return 6 × timeout + batch window, AWS's recommendation, so that a throttled batch is not received twice."""
    return limits.VISIBILITY_FACTOR * handler.options.timeout + handler.options.batch_window


def max_receive_count(handler: Handler[Any]) -> int:
    """Return after how many receives SQS moves a message to the dead-letter queue.

    Receives are cheap and attempts are ours, so it exceeds `max_attempts`: by 5 on a standard queue; on FIFO it is
    max_attempts × batch_size + 50, since each receive of a blocked head counts for its followers (rule P4) and nothing
    is renewed there (rule P7); a schedule gets 200 more, since each hand-over of a long run is a receive.
    """
    options = handler.options
    if options.fifo:
        return min(1_000, options.max_attempts * options.batch_size + limits.SPARE_RECEIVES_FIFO)
    spare = limits.SPARE_RECEIVES + (limits.CURSOR_RECEIVES if handler.trigger == "schedule" else 0)
    return options.max_attempts + spare


def longest_wait(handler: Handler[Any]) -> timedelta:
    """Return how long SQS can hide a message: 12 hours from its receive, at most a batch window and a timeout ago."""
    since = handler.options.batch_window + handler.options.timeout
    return limits.LONGEST_VISIBILITY - since - timedelta(minutes=1)


def ledger_retention(handlers: Iterable[Handler[Any]]) -> timedelta:
    """Return how long the ledger knows an operation after its last write.

    The longest queue retention, plus the dead-letter queue's, plus slack: a dead letter that is redriven after 13 days
    must still be recognised. 30 days with the defaults.
    """
    longest = max((handler.options.retention for handler in handlers), default=timedelta(days=4))
    return longest + limits.DEAD_LETTER_RETENTION + limits.LEDGER_SLACK
