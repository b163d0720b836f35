"""surehand: catches what is thrown and does not drop it.

The public names, one screen. Everything else of the framework is private, but `surehand.declare` (derived numbers and
names, for infra and the command line), `surehand.testing` and `surehand.webhooks`.
"""

from surehand.backoff import Backoff
from surehand.declare import Cron, Handler, Service, Tick, cron, payload_hash, queue, schedule
from surehand.errors import DeclarationError, NotSent
from surehand.job import Job
from surehand.outcomes import Cancel, Defer, Reject, Retry, Unknown

__all__ = [
    "Backoff",
    "Cancel",
    "Cron",
    "DeclarationError",
    "Defer",
    "Handler",
    "Job",
    "NotSent",
    "Reject",
    "Retry",
    "Service",
    "Tick",
    "Unknown",
    "cron",
    "payload_hash",
    "queue",
    "schedule",
]
