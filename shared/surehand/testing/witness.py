"""Watches a simulated account for what the protocol promises, while it happens and once everything is at rest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from surehand.declare import Handler
from surehand.delivery import RENEWALS, Delivery
from surehand.states import FINAL, HELD, State
from surehand.testing.at_rest import Broken, faults_at_rest, revived
from surehand.testing.memory import MemoryLedger
from surehand.testing.simulator import Invocation, Message, Queue, Simulation
from surehand.worker.context import current
from surehand.worker.receive import Message as Read
from surehand.worker.receive import receive

#: How many bodies' operations are remembered.
_REMEMBERED = 10_000


@dataclass(slots=True)
class _Runs:
    """What is known of the runs of one operation."""

    holder: Invocation | None = None
    started: int = 0
    killed: int = 0
    #: A run was cut short and nobody has looked since: no redrive has come.
    unknown: bool = False
    #: The invocation in which the latest run came to its end by returning.
    returned: Invocation | None = None


@dataclass(slots=True)
class _Watched:
    handler: Handler[Any]
    queue: Queue
    dead_letters: Queue
    #: Operation by body; None for bodies that name none.
    operations: dict[str, str | None] = field(default_factory=dict)
    #: On FIFO: the operations of each group, in the order of their messages' arrival.
    lanes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    #: Roots of messages sent, that are not yet known to be done: root → operation.
    open: dict[str, str | None] = field(default_factory=dict)
    expired: set[str] = field(default_factory=set)
    #: Ids of redriven messages and of their renewals.
    redriven: set[str] = field(default_factory=set)
    #: Ids of all other messages that the engine itself has sent again (P7).
    renewals: set[str] = field(default_factory=set)


class Witness:
    """Collects broken promises. `kills` counts by operation the kills while its handler ran."""

    def __init__(self, simulation: Simulation, ledger: MemoryLedger) -> None:
        self.broken: list[Broken] = []
        self.runs: dict[str, _Runs] = defaultdict(_Runs)
        self._simulation = simulation
        self._ledger = ledger
        self._watched: dict[str, _Watched] = {}

    def watch(self, handler: Handler[Any], queue: Queue, dead_letters: Queue) -> None:
        """Watch one handler's queues."""
        watched = _Watched(handler, queue, dead_letters)
        self._watched[handler.name] = watched
        queue.observe(lambda why, message: self._in_queue(watched, why, message))
        dead_letters.observe(lambda why, message: self._in_dead_letters(watched, why, message))

    def around(self, handler: Handler[Any]) -> Callable[..., Any]:
        """Return the handler's function with a crossing and the checks of each run around it."""
        function = handler.function

        def plain(*arguments: Any) -> Any:
            with self._run(handler):
                return function(*arguments)

        async def awaited(*arguments: Any) -> Any:
            with self._run(handler):
                return await function(*arguments)  # type: ignore[misc]  # declared as a coroutine function

        return awaited if handler.is_async else plain

    def decided(self, operation: str) -> None:
        """Take note that an operator has decided about an operation, so that a run after an unknown one is meant."""
        self.runs[operation].unknown = False
        self.runs[operation].returned = None

    # ---- while it happens -------------------------------------------------------------------------------------------

    @contextmanager
    def _run(self, handler: Handler[Any]) -> Iterator[None]:
        told = current()
        operation, message_id = str(told["operation"]), str(told["message_id"])
        item = self._ledger.items.get(operation)
        runs = self.runs[operation]
        invocation = self._simulation.crossings.invocation
        if runs.holder is not None and not runs.holder.dead:
            self._break("an operation never runs twice at once", f"{operation} began while another run went on")
        if item is None or item.state not in HELD:
            self._break("nothing runs unclaimed", f"{operation} ran while it was {item and item.state}")
        elif message_id in item.failed_ids:
            self._break("a message that failed permanently never runs again", f"{operation} under {message_id}")
        elif message_id in self._watched[handler.name].renewals and item.history[-1].note == "redrive":
            self._break("a failed operation waits for an operator", f"{operation} ran again under its own renewal")
        elif item.attempts >= handler.options.max_attempts:
            self._break("no more than max_attempts", f"{operation} ran for the {item.attempts + 1}th time")
        decided = message_id in self._watched[handler.name].redriven or revived(item)
        if runs.unknown and handler.options.on_unknown == "hold" and not decided:
            self._break("an unknown effect waits for an operator", f"{operation} ran again after it was cut short")
        if runs.returned is not None and not (runs.returned.faults or runs.returned.timed_out):
            self._break("what has ended is not run again", f"{operation} had returned, and nothing went wrong after it")
        self._check_lane(handler, operation)
        runs.returned, runs.holder = None, invocation
        runs.started += 1
        try:
            with self._simulation.crossings.cross("handler", operation):
                yield
            runs.returned = invocation
        finally:
            if invocation is not None and invocation.dead:
                runs.killed += 1
                runs.unknown = True
            runs.holder = None

    def _check_lane(self, handler: Handler[Any], operation: str) -> None:
        """On FIFO nothing runs before an earlier message of its group has a durable end (or is a dead letter)."""
        item = self._ledger.items.get(operation)
        if item is not None and item.failed_ids:
            return  # what has failed and is revived has let its followers pass already (P4)
        for lane in self._watched[handler.name].lanes.values():
            while lane and self._through(lane[0]):
                lane.pop(0)
            if operation not in lane:
                continue
            for earlier in lane[: lane.index(operation)]:
                if not (self._through(earlier) or self._is_dead_letter(handler, earlier)):
                    self._break("order within a group", f"{operation} ran before {earlier} had come to an end")

    def _through(self, operation: str) -> bool:
        """Whether an operation keeps nobody waiting any more."""
        item = self._ledger.items.get(operation)
        return item is not None and (bool(item.failed_ids) or item.state in (*FINAL, State.DEAD_LETTERED))

    def _is_dead_letter(self, handler: Handler[Any], operation: str) -> bool:
        watched = self._watched[handler.name]
        return any(self._operation(watched, letter) == operation for letter in watched.dead_letters.messages)

    def _in_queue(self, watched: _Watched, why: str, message: Message) -> None:
        if why in ("sent", "redriven"):
            operation = self._operation(watched, message)
            watched.open[message.root] = operation
            if why == "redriven" and operation is not None:
                watched.redriven.add(message.id)
                self.runs[operation].unknown = False
            if why == "sent" and RENEWALS in message.attributes:
                origin = message.attributes[RENEWALS]["StringValue"].split("/")[1]
                (watched.redriven if origin in watched.redriven else watched.renewals).add(message.id)
            if why == "sent" and message.group is not None and watched.queue.fifo and operation is not None:
                lane = watched.lanes[message.group]
                if operation not in lane:
                    lane.append(operation)
        elif why == "deleted":
            self._deleted(watched, message)
        elif why == "expired":
            watched.expired.add(message.root)

    def _in_dead_letters(self, watched: _Watched, why: str, message: Message) -> None:
        if why == "expired":
            watched.expired.add(message.root)
        elif why == "dead-lettered":
            # "Don't use a dead-letter queue with a FIFO queue if you don't want to break the exact order" (SQS).
            operation = self._operation(watched, message)
            for lane in watched.lanes.values():
                if operation in lane:
                    lane.remove(operation)

    def _deleted(self, watched: _Watched, message: Message) -> None:
        """Nothing is acknowledged unless its operation is done, or its renewal was sent (P7)."""
        operation = self._operation(watched, message)
        item = self._ledger.items.get(operation) if operation is not None else None
        renewed = any(
            RENEWALS in other.attributes and self._operation(watched, other) == operation
            for other in watched.queue.messages
        )
        if renewed or (item is not None and item.state in FINAL):
            watched.open.pop(message.root, None)
            return
        self._break("nothing is acknowledged before its fate is durable", f"{operation} was {item and item.state}")

    def operation_of(self, handler: Handler[Any], message: Message) -> str | None:
        """Return the operation that a message in a handler's queue or dead-letter queue is about, if it names one."""
        return self._operation(self._watched[handler.name], message)

    @staticmethod
    def _operation(watched: _Watched, message: Message) -> str | None:
        if message.body not in watched.operations:
            if len(watched.operations) > _REMEMBERED:
                watched.operations.clear()
            (read,) = receive(watched.handler, [_delivery(message)])
            watched.operations[message.body] = read.identity.operation if isinstance(read, Read) else None
        return watched.operations[message.body]

    def _break(self, promise: str, seen: str) -> None:
        self.broken.append(Broken(promise, f"{seen} (at {self._simulation.clock.now():%d %H:%M:%S})"))

    # ---- at rest ----------------------------------------------------------------------------------------------------

    def at_rest(self) -> list[Broken]:
        """Return every broken promise so far, checking also what must hold once nothing is due any more."""
        for watched in self._watched.values():
            self._check_losses(watched)
        now = self._simulation.clock.now()
        for item in self._ledger.items.values():
            site = self._watched.get(item.handler)
            dead = site is not None and self._is_dead_letter(site.handler, item.id)
            self.broken += faults_at_rest(item, now=now, dead_letter=dead, killed=self.runs[item.id].killed)
        return self.broken

    def _check_losses(self, watched: _Watched) -> None:
        letters = Counter(letter.root for letter in watched.dead_letters.messages)
        stored = {message.root for message in watched.queue.messages}
        for root, operation in watched.open.items():
            item = self._ledger.items.get(operation) if operation is not None else None
            if root in letters or root in watched.expired or (item is not None and item.state in FINAL):
                continue
            where = "still in the queue" if root in stored else "nowhere"
            self._break("nothing is lost", f"{operation or root} is {where}, and the ledger says {item and item.state}")


def _delivery(message: Message) -> Delivery:
    """The message as the engine would read it."""
    return Delivery(
        message_id=message.id,
        receipt_handle=message.id,
        body=message.body,
        receive_count=1,
        sent_at=message.sent_at,
        received_at=message.sent_at,
        group=message.group,
    )
