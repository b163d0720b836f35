"""Declarations as data, and what follows from them. Public to infra and the command line.

Importing a declaration costs no AWS import and does no I/O.
"""

from surehand.declare.cron import Cron, cron
from surehand.declare.derived import (
    ATTENTION_INDEX,
    ATTENTION_KEYS,
    CONTRACT,
    HANDLER,
    LEDGER_RETENTION,
    QUEUE,
    SERVICE,
    STAGE,
    TABLE,
    TABLE_KEYS,
    TTL_ATTRIBUTE,
    VERSION,
    WRITES,
    dead_letter_queue_name,
    lambda_handler,
    ledger_retention,
    max_receive_count,
    metrics_of,
    physical_name,
    queue_name,
    queue_variable,
    table_name,
    visibility_timeout,
)
from surehand.declare.handler import Handler
from surehand.declare.identity import Identity, NoKey, operation_id, payload_hash, rejection_id, slot_id
from surehand.declare.limits import DEAD_LETTER_RETENTION
from surehand.declare.options import Options
from surehand.declare.payload import NotValid
from surehand.declare.queue import Declare, queue
from surehand.declare.schedule import DeclareTick, schedule
from surehand.declare.service import Service, target_names
from surehand.declare.tick import SCHEDULED_TIME, TICK_BODY, Tick, moment_of, moment_text
from surehand.declare.timing import Overlap, Timing
from surehand.declare.when import Every, When, shortest_gap, ticks

__all__ = [
    "ATTENTION_INDEX",
    "ATTENTION_KEYS",
    "CONTRACT",
    "DEAD_LETTER_RETENTION",
    "HANDLER",
    "LEDGER_RETENTION",
    "QUEUE",
    "SCHEDULED_TIME",
    "SERVICE",
    "STAGE",
    "TABLE",
    "TABLE_KEYS",
    "TICK_BODY",
    "TTL_ATTRIBUTE",
    "VERSION",
    "WRITES",
    "Cron",
    "Declare",
    "DeclareTick",
    "Every",
    "Handler",
    "Identity",
    "NoKey",
    "NotValid",
    "Options",
    "Overlap",
    "Service",
    "Tick",
    "Timing",
    "When",
    "cron",
    "dead_letter_queue_name",
    "lambda_handler",
    "ledger_retention",
    "max_receive_count",
    "metrics_of",
    "moment_of",
    "moment_text",
    "operation_id",
    "payload_hash",
    "physical_name",
    "queue",
    "queue_name",
    "queue_variable",
    "rejection_id",
    "schedule",
    "shortest_gap",
    "slot_id",
    "table_name",
    "target_names",
    "ticks",
    "visibility_timeout",
]
