"""A queue's side towards producers and consumers: what standard and FIFO queues have in common."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from surehand.declare.limits import BATCH_CALL, LARGEST_MESSAGE, LONGEST_DELAY, LONGEST_VISIBILITY
from surehand.testing.simulator.holding import Holding, Scene
from surehand.testing.simulator.limits import ATTRIBUTES, IN_FLIGHT
from surehand.testing.simulator.message import Denied, Message, Received


class Queue(Holding):
    """One simulated queue. Made by `Simulation.standard_queue` or `Simulation.fifo_queue`."""

    fifo = False

    def __init__(
        self,
        name: str,
        scene: Scene,
        *,
        visibility: timedelta = timedelta(seconds=30),
        retention: timedelta = timedelta(days=4),
        delay: timedelta = timedelta(0),
        dead_letters: Queue | None = None,
        max_receive_count: int = 10,
    ) -> None:
        if dead_letters is not None and dead_letters.fifo is not self.fifo:
            raise ValueError(f"Queue '{name}' and its dead-letter queue must be of the same type (SQS).")
        super().__init__(name, scene, retention)
        self.visibility = visibility
        self.delay = delay
        self.dead_letters = dead_letters
        self.max_receive_count = max_receive_count

    # ---- producers --------------------------------------------------------------------------------------------------

    def send(
        self,
        body: str,
        *,
        attributes: Mapping[str, Mapping[str, Any]] | None = None,
        delay: timedelta | None = None,
        group: str | None = None,
        deduplication: str | None = None,
        trace: str | None = None,
    ) -> str:
        """Store a message and return its id.

        Raises:
            Denied: With SQS's code, for a message that SendMessage refuses.
        """
        attributes = attributes or {}
        size = len(body.encode()) + sum(_size(name, value) for name, value in attributes.items())
        if not body or size > LARGEST_MESSAGE or len(attributes) > ATTRIBUTES:
            raise Denied("InvalidParameterValue", "1 byte to 1 MiB, at most 10 attributes")
        wait = self.delay if delay is None else delay
        if not timedelta(0) <= wait <= LONGEST_DELAY:
            raise Denied("InvalidParameterValue", "DelaySeconds is 0 to 900")
        identifier = self.scene.chance.identifier()
        now = self.scene.timeline.now()
        message = Message(
            id=identifier,
            root=identifier,
            body=body,
            attributes=attributes,
            sent_at=now,
            expires_at=now + self.retention,
            visible_at=now + wait,
            order=self._shelf.next_order(),
            group=group,
            deduplication=deduplication,
            trace=trace,
        )
        self._store(message, "sent")
        return identifier

    # ---- consumers --------------------------------------------------------------------------------------------------

    def receive(self, limit: int = 1, *, visibility: timedelta | None = None) -> list[Received]:
        """Return up to *limit* (1 to 10) messages and hide them for *visibility* (default: the queue's).

        A message that has been received `max_receive_count` times already goes to the dead-letter queue instead (SQS
        developer guide, "Using dead-letter queues": "when the ReceiveCount for a message exceeds the maxReceiveCount").
        """
        limit = min(limit, BATCH_CALL)
        if limit > 1 and self.scene.chance.of(self.scene.chance.faults.short):
            limit = self.scene.chance.random.randint(1, limit)
        self.refresh()
        limit = min(limit, IN_FLIGHT - self.in_flight)
        taken: list[Received] = []
        while len(taken) < limit and (message := self._next(len(taken))) is not None:
            if self.dead_letters is not None and message.receives >= self.max_receive_count:
                self._move_to(self.dead_letters, message)
            else:
                taken.append(self._take(message, self.visibility if visibility is None else visibility))
        return taken

    def _take(self, message: Message, visibility: timedelta) -> Received:
        now = self.scene.timeline.now()
        message.receives += 1
        message.first_received_at = message.first_received_at or now
        message.received_at = now
        message.visible_at = now + visibility
        message.flying = True
        self.in_flight += 1
        self._shelf.hide(message)
        receipt = f"{message.order:x}-{message.receives:x}-{self.scene.chance.random.getrandbits(64):016x}"
        self._shelf.hand_out(receipt, message)
        self._took_off(message)
        self._note("received", message)
        self._may_repeat(message)
        return Received(
            message_id=message.id,
            receipt_handle=receipt,
            body=message.body,
            receive_count=message.receives,
            sent_at=message.sent_at,
            first_received_at=message.first_received_at,
            visible_at=message.visible_at,
            root=message.root,
            group=message.group,
            deduplication=message.deduplication,
            sequence=message.order if self.fifo else None,
            trace=message.trace,
            source=message.source,
            attributes=message.attributes,
        )

    def delete(self, receipt: str) -> bool:
        """Delete the message that *receipt* came with; True if that took effect.

        API_DeleteMessage: with a receipt that is not the latest one "the request succeeds, but the message might not
        be deleted". Here it never is: the case that hurts. Deleting what is gone succeeds.

        Raises:
            Denied: FIFO only: the visibility timeout of that receive has ended ("the receipt handle has expired").
        """
        self.refresh()
        message = self._shelf.holder(receipt)
        if message is None:
            return False
        if self.fifo and not message.flying:
            raise Denied("InvalidParameterValue", "The receipt handle has expired")
        self._drop(message, "deleted")
        self._may_repeat(message)
        self._call_listeners()
        return True

    def change_visibility(self, receipt: str, wait: timedelta) -> None:
        """Hide a message in flight for *wait* (0 to 12 h) from now.

        API_ChangeMessageVisibility: the total since the receive is at most 12 hours, and the new value is forgotten at
        the next receive. What AWS does with a receipt that is not the latest one is not documented; the refusal is
        what hurts.

        Raises:
            Denied: The wait is out of range or passes the 12 hours, or the message is not in flight under *receipt*.
        """
        self.refresh()
        message = self._shelf.holder(receipt)
        now = self.scene.timeline.now()
        if message is None or message.received_at is None:
            raise Denied("InvalidParameterValue", "Message does not exist or is not available for visibility change")
        if not message.flying:
            raise Denied("MessageNotInflight")
        if not timedelta(0) <= wait <= LONGEST_VISIBILITY or now + wait > message.received_at + LONGEST_VISIBILITY:
            raise Denied("InvalidParameterValue", "Total VisibilityTimeout is beyond the limit")
        message.visible_at = now + wait
        self._shelf.hide(message)
        self._note("visibility", message)
        self._call_listeners()

    def _move_to(self, target: Queue, message: Message) -> None:
        """Move a message to the dead-letter queue.

        SQS developer guide, "Using dead-letter queues": on a standard queue the original enqueue time is kept and goes
        on to count for retention; on FIFO it is reset, and the deduplication id becomes the original message id. The
        receive count goes on (observed, not documented).
        """
        now = self.scene.timeline.now()
        sent_at = now if self.fifo else message.sent_at
        self.remove(message)
        target.take_in(
            message,
            "dead-lettered",
            sent_at=sent_at,
            expires_at=sent_at + target.retention,
            visible_at=now,
            deduplication=message.id if self.fifo else None,
            source=self.name,
        )


def _size(name: str, value: Mapping[str, Any]) -> int:
    return len(name) + len(value.get("DataType", "")) + len(value.get("StringValue") or value.get("BinaryValue") or b"")
