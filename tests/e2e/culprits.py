"""Handlers of which one message kills the process, each in its own way. Run as a program, it is one invocation:
the event on standard input, the response as the last line of standard output."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from datetime import timedelta
from pathlib import Path

from pydantic import BaseModel

from surehand import Job, Service, queue


class Work(BaseModel):
    """One piece of work; *deadly* kills the process that runs it."""

    number: int
    deadly: bool = False


def effect(job: Job) -> None:
    """Append the idempotency key to the file of effects, in one write."""
    with Path(os.environ["EFFECTS"]).open("ab", buffering=0) as file:
        file.write(f"{job.key('effect')}\n".encode())


@queue("exits", key="number", timeout=timedelta(seconds=5), max_attempts=1)
def exits(work: Work, job: Job) -> None:
    """Ends the process without a word."""
    if work.deadly:
        os._exit(1)
    effect(job)


@queue("hangs", key="number", timeout=timedelta(seconds=5), max_attempts=1)
def hangs(work: Work, job: Job) -> None:
    """Sleeps past the hard timeout, deaf to the interruption."""
    while work.deadly:
        try:
            time.sleep(60)
        except BaseException:  # noqa: BLE001 - as deaf as a C extension
            continue
    effect(job)


@queue("hogs", key="number", timeout=timedelta(seconds=5), max_attempts=1)
def hogs(work: Work, job: Job) -> None:
    """Exhausts its memory, and the process with it."""
    if work.deadly:
        hoard = []
        try:
            while True:
                hoard.append(bytes(64 * 2**20))
        except MemoryError:
            os.abort()  # as the kernel's killer does it: no handler, no finally
    effect(job)


CULPRITS = Service("culprits", (exits, hangs, hogs))


class Context:
    """Lambda's context: so much time from the start of the invocation."""

    aws_request_id = f"request-{os.getpid()}"

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int(1000 * (self._ends - time.monotonic())))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    chosen = CULPRITS[sys.argv[1]]
    if chosen.name == "hogs":
        resource.setrlimit(resource.RLIMIT_AS, (768 * 2**20, 768 * 2**20))
    event = json.load(sys.stdin)
    sys.stdout.write(json.dumps(chosen(event, Context(chosen.options.timeout.total_seconds()))))
