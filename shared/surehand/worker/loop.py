"""One event loop for async handlers, in a thread of its own, kept over invocations so that clients may live on it.

asyncio is imported with the first coroutine: 10 ms of a cold start that other handlers need not pay.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from inspect import isawaitable, iscoroutine
from typing import TYPE_CHECKING, Any

from surehand.outcomes import Unknown
from surehand.worker.conclusion import NotBegun, SoftDeadline, StillRunning
from surehand.worker.deadline import undisturbed
from surehand.worker.grouped import is_word, raised
from surehand.worker.left_behind import RUN, Threads, tell

if TYPE_CHECKING:
    import asyncio

#: How long a canceled coroutine may take to end before it counts as still running.
_STOPPING = timedelta(milliseconds=200)


class EventLoop:
    """Runs coroutines for other threads. The thread starts with the first coroutine, and again should the loop die."""

    def __init__(self) -> None:
        self._serving: _Serving | None = None
        self._starting = threading.Lock()

    def result(self, work: Awaitable[object], *, timeout: timedelta) -> object:
        """Run a coroutine, or what else can be awaited, to its end and return its result, or raise what it raised.

        What its end is may have to be awaited in turn, and is: left alone it would be a success without an effect. The
        alarm interrupts nothing but the waiting here, so that a coroutine is never left without having been stopped.

        Raises:
            NotBegun: *timeout* has passed before its first line.
            SoftDeadline: *timeout* has passed; the coroutine was canceled and has ended by that.
            StillRunning: It was canceled and goes on, or a thread does that it has begun (`asyncio.to_thread`).
            Unknown: The loop died under it.
        """
        run: _Run | None = None
        try:
            with undisturbed() as disturbed:
                if timeout > timedelta(0):
                    run = self._begun(work)
                    return run.end(timeout, disturbed)
        except SoftDeadline:
            if run is not None:
                raise
        _drop(work)
        raise NotBegun

    def close(self) -> None:
        """End the thread. Coroutines that are still running are abandoned."""
        if self._serving is not None:
            self._serving.close()
            self._serving = None

    def _begun(self, work: Awaitable[object]) -> _Run:
        with self._starting:
            run = self._serving.begin(work) if self._serving is not None else None
            while run is None:
                self._serving = _Serving()
                run = self._serving.begin(work)
            return run


class _Run:
    """One coroutine on the loop. Its end is its *answer*, and never the end of its task.

    A task lets SystemExit and KeyboardInterrupt out into the loop, which would end with all that runs beside.
    """

    def __init__(self, work: Awaitable[object], loop: asyncio.AbstractEventLoop) -> None:
        self.answer: Future[object] = Future()
        self.jobs: set[Future[Any]] = set()
        self._work = work
        self._loop = loop
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, on the loop's own thread."""
        self._task = self._loop.create_task(self._tracked())
        self._task.add_done_callback(self._unbegun)

    def end(self, timeout: timedelta, disturbed: Callable[[], AbstractContextManager[None]]) -> object:
        """Wait for its end, and bring it about once *timeout* has passed or the alarm has come."""
        with suppress(TimeoutError, SoftDeadline), disturbed():
            return self.answer.result(timeout=timeout.total_seconds())
        if self.answer.done():  # the TimeoutError is its own, or it has ended in this very moment
            return self.answer.result()
        self.stop()
        return self._last_word()

    def stop(self) -> None:
        """Cancel it and wait for its end, and for that of the threads that it has begun.

        Raises:
            StillRunning: It goes on, or one of them.
        """
        until = time.monotonic() + _STOPPING.total_seconds()
        with suppress(RuntimeError):  # the loop has died meanwhile, which answers too
            self._loop.call_soon_threadsafe(self._cancel)
        try:
            self.answer.exception(timeout=_STOPPING.total_seconds())
        except TimeoutError:
            raise StillRunning from None
        jobs = [job for job in list(self.jobs) if not job.cancel()]
        if wait(jobs, timeout=max(0.0, until - time.monotonic())).not_done:
            raise StillRunning

    def _last_word(self) -> object:
        """Return what it has returned though it was canceled, or raise the fate that it chose.

        Anything else that it raises came of the cancellation, in whatever clothes.
        """
        error = self.answer.exception()
        if error is None or is_word(raised(error).error):
            return self.answer.result()
        raise SoftDeadline from error if isinstance(error, Exception) else None

    def abandon(self) -> None:
        """Answer for a loop that is dead: how far the coroutine has come is not known."""
        if self._task is None:
            _drop(self._work)
        if not self.answer.done():
            self.answer.set_exception(Unknown("effect.interrupted"))

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _unbegun(self, _: asyncio.Task[None]) -> None:
        """Answer for a task that was canceled before its first step; any other has answered by itself."""
        if not self.answer.done():
            _drop(self._work)
            self.answer.set_exception(NotBegun())

    async def _tracked(self) -> None:
        RUN.set(self)
        try:
            value = await self._work
            while isawaitable(value):
                value = await value
        except BaseException as error:  # noqa: BLE001 - whatever a handler raises is its own outcome
            if not self.answer.done():  # abandoned: its loop is gone, and it is being collected
                self.answer.set_exception(error)
        else:
            self.answer.set_result(value)


def _drop(work: Awaitable[object]) -> None:
    """Close a coroutine that will not be run, so that Python does not warn of it."""
    if iscoroutine(work):
        work.close()


class _Serving:
    """A loop and its thread. It outlives what a coroutine does to it, as long as the loop itself can go on."""

    def __init__(self) -> None:
        import asyncio

        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(Threads())
        self._loop.set_exception_handler(tell)
        self._closing = False
        self._dead = False
        self._runs: set[_Run] = set()
        self._changing = threading.Lock()
        threading.Thread(target=self._serve, name="surehand-loop", daemon=True).start()

    def begin(self, work: Awaitable[object]) -> _Run | None:
        """Begin a coroutine; None if the loop is dead."""
        run = _Run(work, self._loop)
        with self._changing:
            if self._dead:
                return None
            try:
                self._loop.call_soon_threadsafe(run.start)
            except RuntimeError:  # closed by somebody else
                return None
            self._runs.add(run)
        run.answer.add_done_callback(lambda _: self._runs.discard(run))
        return run

    def close(self) -> None:
        """Let the thread end. What still runs is abandoned."""
        self._closing = True
        with suppress(RuntimeError):  # it is dead already
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        try:
            while not self._closing and self._goes_on():
                pass
        finally:
            with self._changing:
                self._dead = True
                abandoned = list(self._runs)
            with suppress(Exception):  # whatever has broken it may keep it from closing in order
                self._loop.close()
            if not self._closing:
                for run in abandoned:
                    run.abandon()

    def _goes_on(self) -> bool:
        """Run the loop until somebody ends it, and tell whether it can be run again: it is not its users' to end."""
        try:
            self._loop.run_forever()
        except (SystemExit, KeyboardInterrupt) as error:  # of a task or callback that a handler started
            self._tell(error)
        except BaseException as error:  # noqa: BLE001 - its insides are broken, so another one takes its place
            self._tell(error)
            return False
        return not self._loop.is_closed()

    def _tell(self, error: BaseException) -> None:
        self._loop.call_exception_handler({"message": f"{type(error).__name__} came up to the event loop of handlers"})
