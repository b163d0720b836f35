"""Several invocations in progress at once on one fake clock: exactly one runs, all others are parked.

Each runs in a thread of its own, handed the baton by the timeline and giving it back when it sleeps or ends, so that
ordinary synchronous handlers interleave at the points where simulated time passes, and always in the same way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any


class Killed(BaseException):
    """The process of this invocation is gone: raised at its next step, whatever it tries.

    A real kill runs no `finally`. Here the thread must unwind, so its `finally` blocks do run, but everything that
    they touch raises this again and nothing takes effect.
    """


@dataclass(frozen=True, slots=True)
class Ended:
    """How a task ended: with a *value*, or with an *error*."""

    value: Any = None
    error: BaseException | None = None


class Task:
    """One piece of work that may park; `Timeline.start` starts it.

    *owner* is whatever the work belongs to (an invocation); *doomed* makes the next step raise `Killed`.
    """

    __slots__ = ("alarm", "doomed", "ended", "lane", "owner", "work")

    def __init__(self, work: Callable[[], Any], owner: Any = None) -> None:
        self.work = work
        self.owner = owner
        self.doomed = False
        self.ended: Ended | None = None
        self.lane: Lane | None = None
        self.alarm: tuple[datetime, Callable[[], object]] | None = None

    @property
    def mine(self) -> bool:
        """Whether the calling thread is the task's own, not one that its work has started."""
        return self.lane is not None and self.lane.ident == threading.get_ident()


class Lane:
    """A thread that runs tasks, one after another, whenever it is handed the baton."""

    __slots__ = ("_back", "_go", "_thread", "ident", "task")

    def __init__(self) -> None:
        self._go = threading.Lock()
        self._back = threading.Lock()
        self._go.acquire()
        self._back.acquire()
        self.task: Task | None = None
        self.ident: int | None = None
        self._thread = threading.Thread(target=self._serve, name="simulated-invocation", daemon=True)
        self._thread.start()

    def resume(self) -> None:
        """Hand over the baton and wait until it comes back."""
        self._go.release()
        self._back.acquire()

    def park(self) -> None:
        """Give the baton back and wait for it. Called on the lane's own thread."""
        self._back.release()
        self._go.acquire()
        if self.task is not None and self.task.doomed:
            raise Killed

    def stop(self) -> None:
        """End the thread; only between tasks."""
        self.task = None
        self._go.release()
        self._thread.join()

    def _serve(self) -> None:
        self.ident = threading.get_ident()
        while True:
            self._go.acquire()
            task = self.task
            if task is None:
                return
            try:
                task.ended = Ended(value=task.work())
            except BaseException as error:  # noqa: BLE001 - whatever ended it is handed to the timeline's thread
                task.ended = Ended(error=error)
            self._back.release()
