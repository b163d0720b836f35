"""One simulated account: queues, functions, mappings and schedules on one clock and one seeded random source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from types import TracebackType
from typing import Any

from surehand.testing.simulator.crossings import Crossings
from surehand.testing.simulator.faults import Chance, Faults
from surehand.testing.simulator.fifo import FifoQueue
from surehand.testing.simulator.function import End, Function, Result
from surehand.testing.simulator.gateway import SimulatedQueues
from surehand.testing.simulator.holding import Scene
from surehand.testing.simulator.limits import MOVES_A_SECOND
from surehand.testing.simulator.mapping import EventSourceMapping, Settings
from surehand.testing.simulator.moves import MoveTask, MoveTasks
from surehand.testing.simulator.queue import Queue
from surehand.testing.simulator.schedules import Schedule
from surehand.testing.simulator.standard import StandardQueue
from surehand.testing.simulator.timeline import START, Timeline
from surehand.testing.simulator.trail import Trail

#: In which everything comes to rest unless a message is deferred for longer: the longest retention.
LONGEST_REST = timedelta(days=15)


@dataclass(slots=True)
class _Answer:
    result: Result | None = None


class Simulation:
    """A simulated account. Use it as a context manager, so that the threads of unfinished invocations end.

    The same *seed* and the same calls give the same course of events, to the message ids.
    """

    def __init__(self, *, seed: int = 0, start: datetime = START, faults: Faults = Faults()) -> None:  # noqa: B008 - frozen
        self.clock = Timeline(start)
        self.chance = Chance(Random(seed), faults)
        self.trail = Trail(self.clock)
        self.scene = Scene(self.clock, self.chance, self.trail)
        self.crossings = Crossings(self.scene)
        self.queues: dict[str, Queue] = {}
        self.moves = MoveTasks()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.clock.close()

    # ---- what there is ----------------------------------------------------------------------------------------------

    def standard_queue(self, name: str, **settings: Any) -> StandardQueue:
        """Make a standard queue. Settings: visibility, retention, delay, dead_letters, max_receive_count."""
        queue = StandardQueue(name, self.scene, **settings)
        self.queues[name] = queue
        return queue

    def fifo_queue(self, name: str, **settings: Any) -> FifoQueue:
        """Make a FIFO queue. Settings: those of a standard queue, and content_based deduplication."""
        queue = FifoQueue(name, self.scene, **settings)
        self.queues[name] = queue
        return queue

    def function(self, name: str, handler: Callable[[Any, Any], Any], **settings: Any) -> Function:
        """Make a function. Settings: timeout, memory, reserved, on_init."""
        return Function(name, handler, self.scene, self.crossings, **settings)

    def map(self, queue: Queue, function: Function, **settings: Any) -> EventSourceMapping:
        """Connect a queue to a function. Settings: those of `Settings`.

        Raises:
            ValueError: Lambda would refuse such a mapping.
        """
        return EventSourceMapping(queue, function, Settings(**settings))

    def schedule(self, name: str, **settings: Any) -> Schedule:
        """Make a schedule. Settings: those of `Schedule`."""
        return Schedule(name, self.scene, **settings)

    def gateway(self, queues: Mapping[str, Queue]) -> SimulatedQueues:
        """Return the engine's `Queues` over these queues, by handler name."""
        return SimulatedQueues(queues, self.crossings)

    def redrive(self, source: Queue, *, destination: Queue | None = None, rate: int = MOVES_A_SECOND) -> MoveTask:
        """Start a move task on a dead-letter queue, as the console does.

        Raises:
            Denied: SQS would refuse it.
        """
        return self.moves.start(source, self.queues, destination=destination, rate=rate)

    # ---- time -------------------------------------------------------------------------------------------------------

    def invoke(self, function: Function, event: Any) -> Result:
        """Invoke a function as a synchronous caller does, and let time run until it has ended."""
        answer = _Answer()

        def answered(result: Result) -> None:
            answer.result = result

        function.invoke(event, answered)
        if answer.result is None:
            self.run(for_=function.timeout)
        return answer.result or Result(End.TIMED_OUT)

    def sleep(self, wait: timedelta) -> None:
        """Let simulated time pass; inside a handler, what its work takes."""
        self.clock.sleep(wait)

    def run(self, *, for_: timedelta | None = None, until: datetime | None = None) -> None:
        """Let simulated time pass up to a moment, whatever happens meanwhile."""
        end = until if until is not None else self.clock.now() + (for_ or timedelta(0))
        self.clock.run(until=end)

    def run_until_quiet(self, *, within: timedelta = LONGEST_REST) -> None:
        """Let time pass until no message is due and no invocation in progress. Schedules do not count.

        Raises:
            NotQuiet: That takes longer than *within*.
        """
        self.clock.run_until_quiet(within=within)
