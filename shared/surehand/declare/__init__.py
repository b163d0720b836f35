"""Declarations as data, and what follows from them. Public to infra and the command line.

Importing a declaration costs no AWS import and does no I/O.
"""

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
    physical_name,
    queue_name,
    queue_variable,
    table_name,
    visibility_timeout,
)
from surehand.declare.handler import Handler
from surehand.declare.identity import Identity, NoKey, operation_id, payload_hash, rejection_id
from surehand.declare.limits import DEAD_LETTER_RETENTION
from surehand.declare.options import Options
from surehand.declare.payload import NotValid
from surehand.declare.queue import Declare, queue
from surehand.declare.service import Service, target_names

__all__ = [
    "ATTENTION_INDEX",
    "ATTENTION_KEYS",
    "CONTRACT",
    "DEAD_LETTER_RETENTION",
    "HANDLER",
    "LEDGER_RETENTION",
    "QUEUE",
    "SERVICE",
    "STAGE",
    "TABLE",
    "TABLE_KEYS",
    "TTL_ATTRIBUTE",
    "VERSION",
    "WRITES",
    "Declare",
    "Handler",
    "Identity",
    "NoKey",
    "NotValid",
    "Options",
    "Service",
    "dead_letter_queue_name",
    "lambda_handler",
    "ledger_retention",
    "max_receive_count",
    "operation_id",
    "payload_hash",
    "physical_name",
    "queue",
    "queue_name",
    "queue_variable",
    "rejection_id",
    "table_name",
    "target_names",
    "visibility_timeout",
]
