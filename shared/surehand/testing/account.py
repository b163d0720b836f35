"""Declared handlers in a simulated account: queues, mappings and functions as the infrastructure would make them.

with simulate(SHOP) as account:
    account.send(charge_order, OrderPlaced(order_id="1", amount=500))
    account.drain()
    assert account.state(charge_order, order) == "succeeded"
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from surehand import entrypoint
from surehand.declare import (
    DEAD_LETTER_RETENTION,
    Handler,
    ledger_retention,
    max_receive_count,
    target_names,
    visibility_timeout,
)
from surehand.declare.tick import TICK_BODY
from surehand.ledger import Operation
from surehand.states import State
from surehand.testing.crossed import CrossedLedger
from surehand.testing.cursors import CrossedCursors, MemoryCursors
from surehand.testing.memory import MemoryLedger
from surehand.testing.simulator import EventSourceMapping, Function, MoveTask, Queue, Schedule, Simulation
from surehand.testing.simulator.simulation import LONGEST_REST
from surehand.testing.witness import Witness
from surehand.worker import Ports
from surehand.worker.endings import Ending
from surehand.worker.loop import EventLoop

#: How many endings are kept in full.
_KEPT = 10_000


@dataclass(slots=True)
class Told:
    """What the engine told of each delivery: the last ones in full, and how often each outcome came."""

    endings: deque[Ending] = field(default_factory=lambda: deque(maxlen=_KEPT))
    outcomes: Counter[str] = field(default_factory=Counter)

    def tell(self, handler: Handler[Any], endings: Sequence[Ending], *, now: datetime) -> None:  # noqa: ARG002
        """See `Teller.tell`."""
        self.endings += endings
        self.outcomes.update(ending.outcome.value for ending in endings)


@dataclass(frozen=True, slots=True)
class Site:
    """One handler's place in the account."""

    handler: Handler[Any]
    queue: Queue
    dead_letters: Queue
    function: Function
    mapping: EventSourceMapping
    schedule: Schedule | None = None


class Account:
    """A simulated account with some handlers deployed. Made by `simulate`.

    `ledger` is the bare store; `witness` watches what the protocol promises; `told` is what was told of each delivery.
    """

    def __init__(self, handlers: Sequence[Handler[Any]], simulation: Simulation, *, group_commit: bool = False) -> None:
        self.simulation = simulation
        self.ledger = MemoryLedger()
        self.cursors = MemoryCursors(self.ledger)
        self.told = Told()
        self.sites: dict[str, Site] = {}
        queues: dict[str, Queue] = {}
        self.loop = EventLoop()
        self.ports = Ports(
            ledger=CrossedLedger(self.ledger, simulation.crossings),
            cursors=CrossedCursors(self.cursors, simulation.crossings),
            queues=simulation.gateway(queues),
            clock=simulation.clock,
            random=simulation.chance.random,
            teller=self.told,
            loop=self.loop,
            retention=ledger_retention(handlers),
            version="simulated",
            group_commit=group_commit,
        )
        self.witness = Witness(simulation, self.ledger)
        for handler in handlers:
            self.sites[handler.name] = self._deploy(handler)
            queues[handler.name] = self.sites[handler.name].queue
        for name in {name for handler in handlers for name in target_names(handler)} - queues.keys():
            queues[name] = simulation.standard_queue(name)  # a target outside: what is sent stays there to be seen

    def _deploy(self, handler: Handler[Any]) -> Site:
        options = handler.options
        make = self.simulation.fifo_queue if options.fifo else self.simulation.standard_queue
        suffix = ".fifo" if options.fifo else ""
        dead_letters = make(f"{handler.name}-dlq{suffix}", retention=DEAD_LETTER_RETENTION)
        queue = make(
            f"{handler.name}{suffix}",
            visibility=visibility_timeout(handler),
            retention=options.retention,
            dead_letters=dead_letters,
            max_receive_count=max_receive_count(handler),
        )

        def entry(event: Any, context: Any) -> Any:
            with entrypoint.bound(self.ports):
                return handler(event, context)

        function = self.simulation.function(handler.name, entry, timeout=options.timeout, memory=options.memory)
        mapping = self.simulation.map(
            queue,
            function,
            batch_size=options.batch_size,
            window=options.batch_window,
            maximum_concurrency=options.max_concurrency,
        )
        self.witness.watch(handler, queue, dead_letters)
        return Site(handler, queue, dead_letters, function, mapping, self._schedule(handler, queue))

    def _schedule(self, handler: Handler[Any], queue: Queue) -> Schedule | None:
        timing = handler.options.timing
        if timing is None:
            return None
        schedule = self.simulation.schedule(
            handler.name,
            following=timing.when.following,
            target=queue,
            text=TICK_BODY,
            window=timing.flexible,
            longest_age=timing.longest_delivery,
        )
        schedule.enabled = False
        return schedule

    # ---- for tests --------------------------------------------------------------------------------------------------

    def send(self, handler: Handler[Any], *payloads: object) -> None:
        """Send payloads to a handler's queue, as a producer does; text is a body as it is, valid or not."""
        for payload in payloads:
            if isinstance(payload, str):
                queue = self.sites[handler.name].queue
                if queue.fifo:
                    queue.send(payload, group="raw", deduplication=self.simulation.chance.identifier())
                else:
                    queue.send(payload)
            else:
                handler.send(payload)

    def deliver(self, handler: Handler[Any], *payloads: object) -> list[Ending]:
        """Send payloads, let everything come to rest, and return what was told of each delivery meanwhile."""
        before = sum(self.told.outcomes.values())
        self.send(handler, *payloads)
        self.drain()
        return self._since(before)

    def _since(self, before: int) -> list[Ending]:
        new = sum(self.told.outcomes.values()) - before
        return list(self.told.endings)[-new:] if new else []

    def deliver_twice(self, handler: Handler[Any], payload: object) -> list[Ending]:
        """Deliver a payload, and once it has come to rest a producer's duplicate of it."""
        return [*self.deliver(handler, payload), *self.deliver(handler, payload)]

    def drain(self, *, within: timedelta = LONGEST_REST) -> None:
        """Let simulated time pass until no message is due and no invocation in progress.

        Raises:
            NotQuiet: That takes longer than *within*.
        """
        self.simulation.run_until_quiet(within=within)

    def tick(self, handler: Handler[Any], at: datetime | None = None) -> list[Ending]:
        """Deliver one tick of a schedule and let everything come to rest.

        With *at* the tick of that moment is delivered now; without, time passes until the next one. Schedules fire by
        themselves only once `sites[name].schedule.enabled` is set and time passes.

        Raises:
            TypeError: The handler has no schedule.
        """
        site = self.sites[handler.name]
        timing = handler.options.timing
        if site.schedule is None or timing is None:
            raise TypeError(f"'{handler.name}' is no schedule, so it has no ticks; deliver a payload to it.")
        before = sum(self.told.outcomes.values())
        if at is None and (at := timing.when.following(self.simulation.clock.now())) is not None:
            self.simulation.run(until=at)
        if at is not None:
            site.schedule.tick(at)
        self.drain()
        return self._since(before)

    def redrive(self, handler: Handler[Any]) -> MoveTask:
        """Move a handler's dead letters back to its queue, as the console does, and let everything come to rest."""
        task = self.simulation.redrive(self.sites[handler.name].dead_letters)
        self.drain()
        return task

    def operation(self, handler: Handler[Any], payload: Any) -> Operation | None:
        """Return what the ledger knows of the operation of *payload*."""
        return self.ledger.items.get(handler.identify(payload, handler.payload.dump(payload)).operation)

    def state(self, handler: Handler[Any], payload: Any) -> State | None:
        """Return the state of the operation of *payload*, "succeeded" for one; None if the ledger knows none."""
        operation = self.operation(handler, payload)
        return None if operation is None else operation.state

    def assert_sent(self, handler: Handler[Any] | str, count: int = 1) -> list[str]:
        """Assert that *count* messages wait in a handler's queue, and return their bodies."""
        name = handler if isinstance(handler, str) else handler.name
        queue = self.sites[name].queue if name in self.sites else self.simulation.queues[name]
        bodies = [message.body for message in queue.messages]
        if len(bodies) != count:
            raise AssertionError(f"{len(bodies)} messages wait in the queue of '{name}', not {count}.")
        return bodies
