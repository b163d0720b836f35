"""What a coroutine leaves on its loop: threads that cancelling it does not end, and tasks that fail unheard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, Protocol

from surehand.worker.origin import origin

#: The modules of what the loop itself puts into threads: look-ups of names, nobody's effect, which may take seconds.
_LOOKUPS = ("socket", "_socket")


class Run(Protocol):
    """A coroutine that is being run, with what it has put into threads and has not ended there."""

    jobs: set[Future[Any]]


#: The run that a task belongs to. Tasks that it starts inherit it.
RUN: ContextVar[Run | None] = ContextVar("surehand_run", default=None)


class Threads(ThreadPoolExecutor):
    """The threads of `asyncio.to_thread`, which tell whose each job is."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `ThreadPoolExecutor.submit`."""
        job = super().submit(function, *args, **kwargs)
        run = RUN.get()
        if run is not None and getattr(function, "__module__", None) not in _LOOKUPS:
            run.jobs.add(job)
            job.add_done_callback(run.jobs.discard)
        return job


def tell(_: object, context: Mapping[str, Any]) -> None:
    """Log what has failed where nobody awaits it, by its type and place: its text may hold a payload's values."""
    import logging

    error = context.get("exception")
    if isinstance(error, BaseException):
        text = f"A task or callback that a handler left behind failed: {origin(error) or type(error).__name__}"
    else:
        text = str(context.get("message"))
    logging.getLogger("asyncio").error("%s", text)
