"""The event source mapping: Lambda's own poller between a queue and a function.

Source: Lambda developer guide, "Using Lambda with Amazon SQS", "Configuring scaling behavior for SQS event source
mappings" and "Handling errors for an SQS event source in Lambda".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from surehand.declare.limits import (
    BATCH_WITHOUT_WINDOW,
    LARGEST_BATCH,
    LARGEST_FIFO_BATCH,
    LEAST_CONCURRENCY,
    LONGEST_WINDOW,
    MOST_CONCURRENCY,
)
from surehand.testing.simulator.function import End, Function, Result
from surehand.testing.simulator.limits import CONCURRENCY_A_MINUTE, FIRST_CONCURRENCY, HIGHEST_CONCURRENCY
from surehand.testing.simulator.message import Denied, Received
from surehand.testing.simulator.queue import Queue
from surehand.testing.simulator.record import sqs_event
from surehand.testing.simulator.response import kept
from surehand.testing.simulator.timeline import Appointment

#: Between two tries of an invocation that was throttled. AWS gives no number.
_THROTTLE_PAUSE = timedelta(seconds=1)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """An event source mapping's settings, with Lambda's limits.

    Raises:
        ValueError: Lambda would refuse to create such a mapping.
    """

    batch_size: int = 10
    window: timedelta = timedelta(0)
    maximum_concurrency: int | None = None
    report_batch_item_failures: bool = True

    def check(self, queue: Queue, function: Function) -> None:
        """Refuse what Lambda refuses."""
        most = LARGEST_FIFO_BATCH if queue.fifo else LARGEST_BATCH
        if not 1 <= self.batch_size <= most:
            raise ValueError(f"BatchSize is 1 to {most}")
        if not timedelta(0) <= self.window <= LONGEST_WINDOW or (queue.fifo and self.window):
            raise ValueError("MaximumBatchingWindowInSeconds is 0 to 300, and 0 for FIFO")
        if self.batch_size > BATCH_WITHOUT_WINDOW and self.window < timedelta(seconds=1):
            raise ValueError("a BatchSize above 10 needs a window of at least 1 s")
        if self.maximum_concurrency is not None and not (
            LEAST_CONCURRENCY <= self.maximum_concurrency <= MOST_CONCURRENCY
        ):
            raise ValueError(f"MaximumConcurrency is {LEAST_CONCURRENCY} to {MOST_CONCURRENCY}")
        if function.timeout > queue.visibility:
            raise ValueError("the queue's visibility timeout is less than the function's timeout")


class EventSourceMapping:
    """Polls *queue* and invokes *function*. Made by `Simulation.map`."""

    def __init__(self, queue: Queue, function: Function, settings: Settings) -> None:
        settings.check(queue, function)
        self.queue = queue
        self.function = function
        self.settings = settings
        self.enabled = True
        self._scene = queue.scene
        self._running = 0
        self._concurrency = FIRST_CONCURRENCY
        self._grown_at = self._scene.timeline.now()
        self._gathered: list[Received] = []
        self._flush: Appointment | None = None
        self._wake: Appointment | None = None
        queue.listen(self._look)
        self._look()

    def disable(self) -> None:
        """Stop polling; invocations in progress go on."""
        self.enabled = False

    def enable(self) -> None:
        """Poll again."""
        self.enabled = True
        self._look()

    @property
    def limit(self) -> int:
        """How many invocations at once there may be now: five at first, 300 more each minute, up to the maximum."""
        now = self._scene.timeline.now()
        minutes = (now - self._grown_at) // _MINUTE
        self._grown_at += minutes * _MINUTE
        self._concurrency = min(HIGHEST_CONCURRENCY, self._concurrency + minutes * CONCURRENCY_A_MINUTE)
        return min(self._concurrency, self.settings.maximum_concurrency or HIGHEST_CONCURRENCY)

    def _look(self) -> None:
        """Be woken when the queue next has something and an invocation is free to take it."""
        if not self.enabled:
            return
        wake = self._wake if self._wake is not None and self._wake.action is not None else None
        if wake is not None and wake.moment <= self._scene.timeline.now():
            return
        limit = self.limit
        if self._running < limit:
            due = self.queue.next_change()
        else:
            grows = limit < (self.settings.maximum_concurrency or HIGHEST_CONCURRENCY)
            due = self._grown_at + _MINUTE if grows else None
        if due is None or (wake is not None and wake.moment <= due):
            return
        if wake is not None:
            wake.cancel()
        self._wake = self._scene.timeline.at(due, self._poll)

    def _poll(self) -> None:
        while self.enabled and self._running < self.limit:
            wanted = self.settings.batch_size - len(self._gathered)
            messages = self.queue.receive(min(wanted, BATCH_WITHOUT_WINDOW))
            self._gathered += messages
            if len(self._gathered) >= self.settings.batch_size or (self._gathered and not self.settings.window):
                self._release()
            elif not messages:
                break
        if self._gathered and self._flush is None:
            self._flush = self._scene.timeline.after(self.settings.window, self._release)
        self._look()

    def _release(self) -> None:
        """Invoke with what has been gathered: the batch is full, or its window has ended."""
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        batch, self._gathered = self._gathered, []
        if batch:
            self._running += 1
            self._invoke(batch)

    def _invoke(self, batch: list[Received]) -> None:
        event = sqs_event(self.queue.name, batch, fifo=self.queue.fifo)
        self.function.invoke(event, lambda result: self._answered(batch, result))

    def _answered(self, batch: list[Received], result: Result) -> None:
        now = self._scene.timeline.now()
        if result.ended is End.THROTTLED and now + _THROTTLE_PAUSE < min(message.visible_at for message in batch):
            # "Lambda retries … until the message's timestamp exceeds your queue's visibility timeout, at which point
            # Lambda drops the message": the receive has counted by then.
            self._scene.timeline.after(_THROTTLE_PAUSE, lambda: self._invoke(batch))
            return
        if result.ended is End.RETURNED:
            self._delete(batch, result)
        else:
            self._back_off(now)
        self._running -= 1
        self._look()

    def _delete(self, batch: list[Received], result: Result) -> None:
        ids = {message.message_id for message in batch}
        stays = kept(result.response, ids, partial=self.settings.report_batch_item_failures)
        for message in batch:
            if message.message_id not in stays:
                try:
                    self.queue.delete(message.receipt_handle)
                except Denied as refusal:
                    self._scene.trail.note(f"not deleted: {refusal.code}", self.queue.name, message.message_id)

    def _back_off(self, now: datetime) -> None:
        """Fewer invocations at once after a function error or throttle; AWS says so without numbers. Here: half."""
        self._concurrency = max(LEAST_CONCURRENCY, self.limit // 2)
        self._grown_at = now
