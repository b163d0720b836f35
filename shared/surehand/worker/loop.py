"""One event loop for async handlers, in a thread of its own, kept over invocations so that clients may live on it.

asyncio is imported with the first coroutine: 10 ms of a cold start that other handlers need not pay.
"""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from surehand.worker.conclusion import SoftDeadline, StillRunning

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

#: How long a canceled coroutine may take to end before it counts as still running.
_STOPPING = timedelta(milliseconds=200)


class EventLoop:
    """Runs coroutines for other threads. The thread starts with the first coroutine."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = threading.Lock()

    def result(self, coroutine: object, *, timeout: timedelta) -> object:
        """Run a coroutine to its end and return its result, or raise what it raised.

        Raises:
            SoftDeadline: *timeout* has passed; the coroutine was canceled and has ended.
            StillRunning: It was canceled and goes on.
        """
        import asyncio

        work = cast("Coroutine[Any, Any, object]", coroutine)
        if timeout <= timedelta(0):
            work.close()
            raise SoftDeadline
        ended = threading.Event()
        future = asyncio.run_coroutine_threadsafe(_tracked(work, ended), self._running())
        try:
            return future.result(timeout=timeout.total_seconds())
        except TimeoutError:
            if future.done():  # the coroutine's own, or it has ended in this very moment
                return future.result()
            _stop(future, ended)
            raise SoftDeadline from None
        except SoftDeadline:
            _stop(future, ended)
            raise

    def close(self) -> None:
        """End the thread. Coroutines that are still running are abandoned."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                import asyncio

                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_run, args=(self._loop,), name="surehand-loop", daemon=True).start()
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _tracked(coroutine: Coroutine[Any, Any, T], ended: threading.Event) -> T:
    try:
        return await coroutine
    finally:
        ended.set()


def _stop(future: Future[Any], ended: threading.Event) -> None:
    future.cancel()
    if not ended.wait(_STOPPING.total_seconds()):
        raise StillRunning
