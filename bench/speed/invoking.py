"""One invocation of either side, timed; every message of it must succeed, or there is no figure."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bench.sides.order import Context, batch
from bench.sides.ours import Kind, ours
from bench.sides.peer import peer
from bench.spread import Measure
from bench.wire import Responder

Event = dict[str, Any]


class Sink(io.StringIO):
    """Takes what is logged and counts it."""

    def __init__(self) -> None:
        super().__init__()
        self.characters = 0

    def write(self, text: str) -> int:
        """Count."""
        self.characters += len(text)
        return len(text)


@dataclass(frozen=True, slots=True)
class Side:
    """A handler with the wire behind it."""

    handler: Callable[[Any, Any], Any]
    responder: Responder
    sink: Sink

    def invoke(self, event: Event) -> Any:
        """Process one event."""
        return self.handler(event, Context())

    def wall(self, event: Callable[[], Event]) -> Measure:
        """Return a measurement of the milliseconds that an event takes."""

        def measure() -> float:
            made = event()
            began = time.perf_counter()
            answer = self.invoke(made)
            took = time.perf_counter() - began
            _all_deleted(answer)
            return took * 1e3

        return measure

    def cpu(self, event: Callable[[], Event]) -> Measure:
        """Return a measurement of the microseconds of CPU for each record, without those of the responder."""

        def measure() -> float:
            made = event()
            answering, began = self.responder.cpu, time.process_time()
            answer = self.invoke(made)
            took = time.process_time() - began - (self.responder.cpu - answering)
            _all_deleted(answer)
            return took / len(made["Records"]) * 1e6

        return measure


@contextmanager
def both(
    *, round_trip: timedelta = timedelta(0), account: bool = False, kind: Kind = "standard"
) -> Iterator[tuple[Side, Side]]:
    """Yield our side and the peer's, each on a wire of its own."""
    wires = [Responder(round_trip=round_trip, account=account) for _ in range(2)]
    sinks = [Sink(), Sink()]
    with (
        ours(wires[0].attach, sinks[0], kind) as mine,
        peer(wires[1].attach, sinks[1], fifo=kind == "fifo") as theirs,
    ):
        yield Side(mine, wires[0], sinks[0]), Side(theirs, wires[1], sinks[1])


def fresh(size: int) -> Callable[[], Event]:
    """Return a maker of batches of so many new orders."""
    return lambda: batch(size)


def _all_deleted(answer: Any) -> None:
    if answer != {"batchItemFailures": []}:
        raise AssertionError(f"{len(answer['batchItemFailures'])} messages were put back")
