"""Phase settle: write outcomes durably, one by one or as a group commit beside the running handler.

Group commit: a thread writes what has finished while the next message runs, and takes along everything that finished
meanwhile. Ten handlers that finish within two milliseconds of each other cost one call.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Protocol

from surehand.ledger import Answer, Ledger, Unavailable, Write, write_surely
from surehand.queues import Clock

#: How long the first outcome waits for company, in seconds. Well under a round trip (about 5 ms), and enough for a
#: batch of fast handlers to be settled by one call instead of two.
_GATHER = 0.002

#: The settlers' threads, kept over invocations: starting one takes as long as settling with it. A run time that
#: handles several invocations at once needs one for each.
_THREADS = ThreadPoolExecutor(64, thread_name_prefix="surehand-settler")

#: Called with the ledger's answer, once, possibly in the settler's thread.
Then = Callable[[Answer], None]


class Settler(Protocol):
    """Writes outcomes. One lives for one invocation. After *until* a write that failed is not repeated."""

    def submit(self, write: Write, then: Then) -> None:
        """Write it soon, and call *then* with the answer."""

    def flush(self) -> None:
        """Return when everything submitted so far has been answered."""

    def close(self) -> None:
        """Flush and end."""


class InlineSettler:
    """Writes at once, in the caller's thread. On FIFO, where the next message of a group needs a durable outcome."""

    def __init__(self, ledger: Ledger, clock: Clock, *, until: datetime) -> None:
        self._ledger = ledger
        self._clock = clock
        self._until = until

    def submit(self, write: Write, then: Then) -> None:
        """See `Settler.submit`."""
        answers = write_surely(
            self._ledger, [write], now=self._clock.now(), in_time=lambda: self._clock.now() < self._until
        )
        then(answers[0])

    def flush(self) -> None:
        """Nothing ever waits."""

    def close(self) -> None:
        """Nothing to end."""


class GroupSettler:
    """Writes whenever it is idle and something waits, in a thread of its own.

    Who waits for everything to be written (`flush`) writes what nobody has taken up yet himself: a batch of fast
    handlers is over before the thread has stirred.
    """

    def __init__(self, ledger: Ledger, clock: Clock, *, until: datetime) -> None:
        self._ledger = ledger
        self._clock = clock
        self._until = until
        self._waiting: deque[tuple[Write, Then]] = deque()
        self._busy = 0
        self._closed = False
        self._failure: BaseException | None = None
        # One condition for each thing waited for: an outcome that joins a gathering group wakes nobody.
        lock = threading.Lock()
        self._work, self._end, self._settled = (threading.Condition(lock) for _ in range(3))
        self._running = _THREADS.submit(self._run)

    def submit(self, write: Write, then: Then) -> None:
        """See `Settler.submit`."""
        with self._work:
            self._waiting.append((write, then))
            if len(self._waiting) == 1:
                self._work.notify()

    def flush(self) -> None:
        """See `Settler.flush`. Raises what settling failed with, in whatever thread, and so ends the invocation."""
        if group := self._take():
            self._settle(group)
        with self._settled:
            self._settled.wait_for(lambda: not (self._waiting or self._busy))
            if self._failure is not None:
                raise self._failure

    def close(self) -> None:
        """See `Settler.close`."""
        try:
            self.flush()
        finally:
            with self._work:
                self._closed = True
                self._work.notify()
                self._end.notify()
            if not self._running.cancel():
                self._running.result()

    def _run(self) -> None:
        while self._await():
            if group := self._take():
                self._settle(group)

    def _await(self) -> bool:
        """Wait for work and for its company; False means the end."""
        with self._work:
            self._work.wait_for(lambda: self._waiting or self._closed)
            self._end.wait_for(lambda: self._closed, timeout=_GATHER)
            return bool(self._waiting) or not self._closed

    def _take(self) -> Sequence[tuple[Write, Then]]:
        with self._work:
            group = list(self._waiting)
            self._waiting.clear()
            self._busy += len(group)
            return group

    def _settle(self, group: Sequence[tuple[Write, Then]]) -> None:
        failure: BaseException | None = None
        try:
            for (_, then), answer in zip(group, self._written(group), strict=True):
                then(answer)
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits for it, who may be in another thread
            failure = error
        with self._settled:  # at once: whoever sees that nothing is under way sees the failure, too
            self._busy -= len(group)
            self._failure = self._failure or failure
            self._settled.notify_all()

    def _written(self, group: Sequence[tuple[Write, Then]]) -> Sequence[Answer]:
        try:
            return write_surely(
                self._ledger,
                [write for write, _ in group],
                now=self._clock.now(),
                in_time=lambda: self._clock.now() < self._until,
            )
        except Exception as error:  # noqa: BLE001 - a fault of ours must not leave the others of the group unanswered
            return [Unavailable(type(error).__name__)] * len(group)
