"""The names that a service's handlers lead to, which no two of them may share in any stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from surehand.declare.handler import Handler
from surehand.errors import DeclarationError

#: The ingress's place in every name, as if it were a handler.
INGRESS = "webhooks"
#: What alarms about the ingress begin with, as if it were a handler.
_INGRESS_ALARMS = "webhook"


def check_derived_names(service: str, handlers: Sequence[Handler[Any]]) -> None:
    """Refuse two queues of one name, and a handler that takes a name of the ingress.

    Raises:
        DeclarationError: Names both, and what they would share.
    """
    owners: dict[str, str] = {}
    for name, owner in _queues(handlers):
        if name in owners:
            raise DeclarationError(
                f"Service '{service}': {owners[name]} and {owner} would both be called {service}-STAGE-{name}. "
                "Rename one handler, before its first deployment."
            )
        owners[name] = owner
    webhook = next((handler for handler in handlers if handler.trigger == "webhook"), None)
    taken = {INGRESS: "function", _INGRESS_ALARMS: "alarms"}
    for handler in handlers:
        if webhook is not None and handler.name in taken:
            raise DeclarationError(
                f"Service '{service}': handler '{handler.name}' ({handler.__module__}.{handler.__qualname__}) has the "
                f"name of the ingress, whose {taken[handler.name]} {service}-STAGE-{handler.name}… would be its own "
                f"too; handler '{webhook.name}' is a webhook and needs the ingress. Take another name."
            )


def _queues(handlers: Sequence[Handler[Any]]) -> Iterator[tuple[str, str]]:
    for handler in handlers:
        end = ".fifo" if handler.options.fifo else ""
        for part, what in (("", "queue"), ("-dlq", "dead-letter queue"), ("-dlq-parked", "queue for parked letters")):
            yield f"{handler.name}{part}{end}", f"the {what} of handler '{handler.name}'"
    if timed := next((handler for handler in handlers if handler.options.timing is not None), None):
        yield "ticks-dlq", f"the queue of undelivered ticks, which schedule '{timed.name}' needs,"
