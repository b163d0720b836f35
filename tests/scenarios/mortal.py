"""A process that handles one event and may really die at a step: `mortal.py FOLDER EVENT STEP MINUTES COMMIT`.

What outlives it is in FOLDER: the ledger's items and the effects, one line each, both written through to the disk.
It prints its response. STEP counts the calls of ledger and effect, before and after each, from 0; -1 is never.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from surehand import Job, entrypoint, queue
from surehand.ledger import Answer, Write
from surehand.testing import FakeClock, MemoryLedger, RecordingQueues
from surehand.testing.cursors import MemoryCursors
from surehand.worker import Ports
from surehand.worker.loop import EventLoop

FOLDER = Path(sys.argv[1])
DEADLY = int(sys.argv[3])
steps = 0


def step() -> None:
    """Count one step, and die without any farewell if it is the deadly one."""
    global steps  # noqa: PLW0603 - the process's one counter
    if steps == DEADLY:
        os._exit(9)
    steps += 1


class DurableLedger(MemoryLedger):
    """A ledger in a file."""

    path = FOLDER / "ledger"

    def __init__(self) -> None:
        super().__init__()
        if self.path.exists():
            self.items = pickle.loads(self.path.read_bytes())

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        step()
        answers = super().write(writes, now=now)
        self.path.with_suffix(".new").write_bytes(pickle.dumps(self.items))
        self.path.with_suffix(".new").rename(self.path)
        step()
        return answers


class Silent:
    """Tells nothing."""

    def tell(self, *arguments: Any, **named: Any) -> None:
        """See `Teller.tell`."""


@queue("mortal", key=lambda order: order["number"])
def mortal(order: dict[str, str], job: Job) -> None:
    """Have one effect."""
    step()
    with (FOLDER / "effects").open("a") as file:
        file.write(job.key("effect") + "\n")
        file.flush()
        os.fsync(file.fileno())
    step()


def main() -> None:
    """Handle the event."""
    ledger = DurableLedger()
    clock = FakeClock()
    clock.advance(timedelta(minutes=int(sys.argv[4])))
    ports = Ports(
        ledger=ledger,
        cursors=MemoryCursors(ledger),
        queues=RecordingQueues(),
        clock=clock,
        random=Random(1),
        teller=Silent(),
        loop=EventLoop(),
        retention=timedelta(days=30),
        group_commit=sys.argv[5] == "group",
    )
    with entrypoint.bound(ports):
        sys.stdout.write(json.dumps(mortal(json.loads(Path(sys.argv[2]).read_text()), None)))


if __name__ == "__main__":
    main()
