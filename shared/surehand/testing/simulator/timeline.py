"""The fake clock and the heap of what happens next. Nothing sleeps: time jumps from one event to the next."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

from surehand.testing.simulator.tasks import Ended, Killed, Lane, Task

#: Where a simulation begins unless told otherwise. Any moment does; this one is far from every retention's edge.
START = datetime(2026, 1, 1, tzinfo=UTC)


class NotQuiet(AssertionError):
    """Something still goes on after the time in which everything should have come to rest."""


class Appointment:
    """An action at a moment. *background* ones do not keep `run_until_quiet` going."""

    __slots__ = ("_timeline", "action", "background", "moment")

    def __init__(self, timeline: Timeline, moment: datetime, action: Callable[[], object], background: bool) -> None:
        self._timeline = timeline
        self.moment = moment
        self.action: Callable[[], object] | None = action
        self.background = background

    def cancel(self) -> None:
        """Take it back; nothing if it has happened already."""
        if self.action is not None:
            self.action = None
            self._timeline.forget(self)


class Timeline:
    """Time of a simulation; it is the engine's `Clock` too."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._heap: list[tuple[datetime, int, Appointment]] = []
        self._order = count()
        self._foreground = 0
        self._lanes: list[Lane] = []
        self._parked: dict[Task, tuple[Lane, Callable[[Ended], None]]] = {}
        self.current: Task | None = None

    def now(self) -> datetime:
        """Return the simulated moment (aware, UTC)."""
        return self._now

    def at(self, moment: datetime, action: Callable[[], object], *, background: bool = False) -> Appointment:
        """Let *action* happen at *moment*, or at once if that has passed. Equal moments keep their order."""
        appointment = Appointment(self, max(moment, self._now), action, background)
        heapq.heappush(self._heap, (appointment.moment, next(self._order), appointment))
        self._foreground += not background
        return appointment

    def after(self, wait: timedelta, action: Callable[[], object], *, background: bool = False) -> Appointment:
        """Let *action* happen when *wait* has passed."""
        return self.at(self._now + wait, action, background=background)

    def forget(self, appointment: Appointment) -> None:
        """Count a cancelled appointment out; its entry is skipped when its moment comes."""
        self._foreground -= not appointment.background

    def run(self, *, until: datetime) -> None:
        """Let everything happen up to and including *until*, and stand there.

        Raises:
            Exception: Whatever an action outside an invocation raises.
        """
        while self._heap and self._heap[0][0] <= until:
            self._step()
        self._now = max(self._now, until)

    def run_until_quiet(self, *, within: timedelta) -> None:
        """Let everything happen until only background events are left.

        Raises:
            NotQuiet: That takes longer than *within*.
        """
        end = self._now + within
        while self._foreground:
            if self._heap[0][0] > end:
                raise NotQuiet(f"{self._foreground} events are still due after {within}; now it is {self._now}.")
            self._step()

    def _step(self) -> None:
        moment, _, appointment = heapq.heappop(self._heap)
        action = appointment.action
        if action is None:
            return
        appointment.action = None
        self._foreground -= not appointment.background
        self._now = moment
        action()

    # ---- tasks ------------------------------------------------------------------------------------------------------

    def start(self, task: Task, on_end: Callable[[Ended], None]) -> None:
        """Start a task now, in a thread of its own; when it ends, *on_end* is called on the timeline's thread."""
        lane = self._lanes.pop() if self._lanes else Lane()
        lane.task = task
        task.lane = lane
        self._parked[task] = (lane, on_end)
        self._resume(task)

    def kill(self, task: Task) -> None:
        """End a parked task on the spot: `Killed` is raised where it sleeps. Nothing if it has ended."""
        task.doomed = True
        if task in self._parked and task is not self.current:
            self._resume(task)

    def sleep(self, wait: timedelta) -> None:
        """Let simulated time pass: in an invocation by parking it, elsewhere by running the timeline.

        A thread that an invocation has started does not park; for it no time passes.
        """
        task = self.current
        if task is None:
            self.run(until=self._now + wait)
        elif task.mine:
            if task.doomed:
                raise Killed
            self._sleep_in(task, self._now + max(wait, timedelta(0)))

    def alarm(self, moment: datetime, action: Callable[[], object]) -> None:
        """Call *action* inside the running invocation if it sleeps past *moment*, as a signal would; it may raise.

        Each invocation has one alarm; setting another replaces it. Nothing outside an invocation.
        """
        if self.current is not None:
            self.current.alarm = (moment, action)

    def silence(self) -> None:
        """Take the running invocation's alarm back."""
        if self.current is not None:
            self.current.alarm = None

    def _sleep_in(self, task: Task, until: datetime) -> None:
        while True:
            alarm = task.alarm
            rings = alarm is not None and alarm[0] <= until
            self._park(task, alarm[0] if rings and alarm is not None else until)
            if not rings or alarm is None:
                return
            # As after a signal: the handler may raise, and otherwise the sleep goes on (PEP 475).
            if task.alarm is alarm:
                task.alarm = None
                alarm[1]()

    def _park(self, task: Task, until: datetime) -> None:
        appointment = self.at(until, lambda: self._resume(task))
        lane, _ = self._parked[task]
        try:
            lane.park()
        except Killed:
            appointment.cancel()
            raise

    def _resume(self, task: Task) -> None:
        lane, on_end = self._parked[task]
        before, self.current = self.current, task
        try:
            lane.resume()
        finally:
            self.current = before
        if task.ended is not None:
            del self._parked[task]
            lane.task = None
            self._lanes.append(lane)
            on_end(task.ended)

    def close(self) -> None:
        """Kill what is still in progress and end the threads."""
        while self._parked:
            self.kill(next(iter(self._parked)))
        while self._lanes:
            self._lanes.pop().stop()
