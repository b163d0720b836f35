"""Every point at which an invocation touches the world outside it: there it takes time, may fail, and may die."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from surehand.testing.simulator.holding import Scene
from surehand.testing.simulator.tasks import Killed

if TYPE_CHECKING:
    from surehand.testing.simulator.function import Invocation


class Fault(StrEnum):
    """What may happen at a crossing."""

    KILL_BEFORE = "killed before"
    KILL_AFTER = "killed after"
    REFUSE = "refused"
    LOSE_REPLY = "reply lost"


@dataclass(frozen=True, slots=True)
class Crossing:
    """One call out of an invocation: the *index*-th of the simulation (from 0), of a *kind* such as `ledger.claim`."""

    index: int
    kind: str
    detail: str
    invocation: Invocation

    def __str__(self) -> str:
        return f"#{self.index} {self.kind} {self.detail}".rstrip()


#: Decides what befalls a crossing. None: nothing.
Plan = Callable[[Crossing], Fault | None]


class Crossings:
    """Where ledger, queues and effects report each call of an invocation, and where kills happen.

    *plan* chooses the faults; without one they are drawn at the scene's rates. *record* keeps every crossing of a
    golden run, in order.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.plan: Plan | None = None
        self.record: list[Crossing] | None = None
        self.count = 0

    @property
    def invocation(self) -> Invocation | None:
        """The invocation that is running now, or None in the test's own code."""
        task = self._scene.timeline.current
        return None if task is None else task.owner

    @contextmanager
    def cross(self, kind: str, detail: str = "", *, error: Callable[[], Exception] | None = None) -> Iterator[None]:
        """Let the enclosed call happen, unless the invocation is dead, dies here, or the call fails.

        *error* makes the exception of a refused call or a lost reply; a call without one cannot fail, only die.

        Raises:
            Killed: The invocation is dead. From then on every crossing of it raises this.
            Exception: What *error* made.
        """
        invocation = self.invocation
        if invocation is None:
            yield
            return
        if invocation.dead:
            raise Killed
        crossing = Crossing(self.count, kind, detail, invocation)
        self.count += 1
        if self.record is not None:
            self.record.append(crossing)
        fault = self._draw(fails=error is not None) if self.plan is None else self.plan(crossing)
        if latency := self._scene.chance.faults.latency:
            self._scene.timeline.sleep(self._scene.chance.within(latency))
        if fault is not None:
            invocation.faults += 1
            self._scene.trail.note(str(fault), kind, invocation.id)
        if fault is Fault.KILL_BEFORE:
            self._die(invocation)
        if fault is Fault.REFUSE and error is not None:
            raise error()
        yield
        if fault is Fault.KILL_AFTER:
            self._die(invocation)
        if fault is Fault.LOSE_REPLY and error is not None:
            raise error()

    def _draw(self, *, fails: bool) -> Fault | None:
        chance, rates = self._scene.chance, self._scene.chance.faults
        if chance.of(rates.kill):
            return chance.random.choice((Fault.KILL_BEFORE, Fault.KILL_AFTER))
        if fails and chance.of(rates.refuse):
            return Fault.REFUSE
        if fails and chance.of(rates.lose_reply):
            return Fault.LOSE_REPLY
        return None

    @staticmethod
    def _die(invocation: Invocation) -> None:
        invocation.kill()
        raise Killed
