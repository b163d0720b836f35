"""A standard queue: at least once, in roughly the order sent."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from typing import Any

from surehand.testing.simulator.holding import Scene
from surehand.testing.simulator.message import Denied, Message
from surehand.testing.simulator.queue import Queue

#: How many deleted messages are remembered, so that one can be delivered again on demand.
REMEMBERED = 1_000
#: How far from the oldest a reordered receive reaches.
REORDER_REACH = 100
#: Within what time a duplicate delivery comes. AWS gives no number.
DUPLICATE_WITHIN = timedelta(minutes=2)


class StandardQueue(Queue):
    """One standard queue. A `group` on it is for fairness among tenants only and orders nothing."""

    def __init__(self, name: str, scene: Scene, **settings: Any) -> None:
        super().__init__(name, scene, **settings)
        self._line: deque[Message] = deque()
        self._deleted: deque[Message] = deque(maxlen=REMEMBERED)

    def send(self, body: str, *, deduplication: str | None = None, **parts: Any) -> str:
        """Store a message; a deduplication id is refused (API_SendMessage)."""
        if deduplication is not None:
            raise Denied("InvalidParameterValue", "MessageDeduplicationId is for FIFO queues")
        return super().send(body, **parts)

    def deliver_again(self, message_id: str, *, after: timedelta = timedelta(0)) -> None:
        """Deliver a message once more although it is in flight or has been deleted.

        SQS developer guide, "Amazon SQS at-least-once delivery": a copy on a server that was unavailable when its
        message was received or deleted may be delivered again.

        Raises:
            KeyError: There is no such message, nor was there among the last thousand deleted ones.
        """
        for message in (*self._shelf, *reversed(self._deleted)):
            if message.id == message_id:
                self._repeat(message, after)
                return
        raise KeyError(message_id)

    def _repeat(self, message: Message, after: timedelta) -> None:
        self.take_in(message, "repeated", visible_at=self.scene.timeline.now() + after, repeated=True)

    def _may_repeat(self, message: Message) -> None:
        if not message.stored:
            self._deleted.append(message)
        chance = self.scene.chance
        # Once for the receive, once for the delete. A message has a few copies, and its copies have none: else what
        # goes round in receives, on its way to the dead letters, would multiply without bound.
        if not message.repeated and chance.of(chance.faults.duplicate / 2):
            self._repeat(message, chance.within(DUPLICATE_WITHIN))

    def _took_off(self, message: Message) -> None:
        """Nothing waits for it: a standard queue has no order."""

    def _landed(self, message: Message) -> None:
        """Nothing has waited for it."""

    def _ready(self, message: Message) -> None:
        self._line.append(message)

    def _next(self, taken: int) -> Message | None:
        if not self._receivable():
            return None
        chance = self.scene.chance
        if len(self._line) > 1 and chance.of(chance.faults.reorder):
            other = chance.random.randrange(1, min(len(self._line), REORDER_REACH))
            self._line[0], self._line[other] = self._line[other], self._line[0]
        message = self._line.popleft()
        return message if message.stored else self._next(taken)

    def _receivable(self) -> bool:
        while self._line and not self._line[0].stored:
            self._line.popleft()
        return bool(self._line)
