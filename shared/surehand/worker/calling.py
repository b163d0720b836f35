"""The call of a handler, inside the deadline guard: what it returned or raised, or that it never began."""

from __future__ import annotations

from datetime import timedelta
from inspect import isasyncgen, isawaitable, isgenerator
from typing import Any

from surehand.declare import Handler
from surehand.job import Job
from surehand.worker.conclusion import NotBegun, Raised, Returned, SoftDeadline, Unrun
from surehand.worker.context import telling_of
from surehand.worker.deadline import interrupted_after
from surehand.worker.grouped import raised
from surehand.worker.loop import EventLoop
from surehand.worker.receive import Message


def call(
    handler: Handler[Any], message: Message, job: Job, *, loop: EventLoop, left: timedelta
) -> Returned | Raised | None:
    """Return what a handler came to, whatever it is; None if the deadline came before its first line.

    A plain function may return something to be awaited, too (a decorator around an async one does): it is run as well,
    since one that is left unawaited would be a success without an effect.
    """
    ended: Returned | Raised | None = None
    begun = False
    try:
        with telling_of(handler, message, job), interrupted_after(left):
            try:
                begun = True
                value = handler.run(message.payload, job)
                if isawaitable(value):
                    value = loop.result(value, timeout=left)
                ended = Returned(_run(value))
            except BaseException as error:  # noqa: BLE001 - whatever a handler raises is its own outcome
                begun = begun and not (handler.is_async and isinstance(error, NotBegun))
                ended = raised(error)
    except BaseException as error:  # noqa: BLE001 - the alarm came before the handler was called, or behind it
        ended = ended or raised(error)
    interrupted = isinstance(ended, Raised) and isinstance(ended.error, SoftDeadline)
    return ended if begun or not interrupted else None


def _run(value: object) -> object:
    """Return what a handler has returned, unless that is code of its own that has not run."""
    if isgenerator(value) or isasyncgen(value):
        raise Unrun
    return value
