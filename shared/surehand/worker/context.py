"""What the user's own log lines carry: the operation in whose attempt they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surehand.declare import Handler
    from surehand.job import Job
    from surehand.worker.receive import Message

_CURRENT: ContextVar[Mapping[str, object]] = ContextVar("surehand_delivery", default=MappingProxyType({}))


def current() -> Mapping[str, object]:
    """Return the fields of the attempt that this thread or task is in; empty outside of one."""
    return _CURRENT.get()


@contextmanager
def telling_of(handler: Handler[Any], message: Message, job: Job) -> Iterator[None]:
    """Carry the attempt's fields while the body runs."""
    token = _CURRENT.set(
        {
            "handler": handler.name,
            "operation": job.operation,
            "tenant": job.tenant,
            "attempt": job.attempt,
            "message_id": message.delivery.message_id,
        }
    )
    try:
        yield
    finally:
        _CURRENT.reset(token)
