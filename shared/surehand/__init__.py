"""surehand: catches what is thrown and does not drop it.

The public names, one screen. Everything else of the framework is private, but `surehand.declare` (derived numbers and
names, for infra and the command line), `surehand.testing` and `surehand.webhooks`.

Each name is imported with its first use, so that the ingress of webhooks, which has a sender's deadline to meet,
starts without pydantic and without any handler's payload types.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surehand.backoff import Backoff
    from surehand.declare.cron import Cron, cron
    from surehand.declare.handler import Handler
    from surehand.declare.identity import payload_hash
    from surehand.declare.queue import queue
    from surehand.declare.schedule import schedule
    from surehand.declare.service import Service
    from surehand.declare.tick import Tick
    from surehand.declare.webhook import webhook
    from surehand.errors import DeclarationError, NotSent
    from surehand.job import Job
    from surehand.outcomes import Cancel, Defer, Reject, Retry, Unknown
    from surehand.webhooks.scheme import Scheme

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
    "Scheme",
    "Service",
    "Tick",
    "Unknown",
    "cron",
    "payload_hash",
    "queue",
    "schedule",
    "webhook",
]

#: Where each name stands; whatever is not listed stands in `surehand.declare`.
_PLACES = {
    "surehand.backoff": ("Backoff",),
    "surehand.declare.webhook": ("webhook",),
    "surehand.errors": ("DeclarationError", "NotSent"),
    "surehand.job": ("Job",),
    "surehand.outcomes": ("Cancel", "Defer", "Reject", "Retry", "Unknown"),
    "surehand.webhooks.scheme": ("Scheme",),
}

# Hidden from type checkers, which would otherwise take any misspelt name for one that exists.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name with its first use (PEP 562)."""
        if name not in __all__:
            raise AttributeError(f"module 'surehand' has no attribute {name!r}")
        module = next((place for place, names in _PLACES.items() if name in names), "surehand.declare")
        value = getattr(import_module(module), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """Return the public names, imported or not."""
        return sorted({*globals(), *__all__})
