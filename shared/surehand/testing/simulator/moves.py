"""Dead-letter redrive by SQS itself: StartMessageMoveTask, as the console's "Start DLQ redrive" does.

Source: API_StartMessageMoveTask, API_ListMessageMoveTasks, API_CancelMessageMoveTask and the SQS developer guide,
"Configure a dead-letter queue redrive".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

from surehand.testing.simulator.limits import LISTED_MOVES, MOVES_A_SECOND
from surehand.testing.simulator.message import Denied, Message
from surehand.testing.simulator.queue import Queue

_STEP = timedelta(seconds=1)


class MoveStatus(StrEnum):
    """Where a move task stands."""

    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    CANCELLING = "CANCELLING"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"


class MoveTask:
    """One task that moves what is visible in *source*, oldest first, each message to *destination* or to its origin.

    A moved message gets a new id, a new enqueue time, a fresh receive count and a whole retention. Messages in flight
    are not moved. The task ends when nothing visible is left.
    """

    def __init__(
        self,
        source: Queue,
        origins: Mapping[str, Queue],
        *,
        destination: Queue | None = None,
        rate: int = MOVES_A_SECOND,
    ) -> None:
        if not 1 <= rate <= MOVES_A_SECOND:
            raise Denied("InvalidParameterValue", f"MaxNumberOfMessagesPerSecond is 1 to {MOVES_A_SECOND}")
        if destination is not None and destination.fifo is not source.fifo:
            raise Denied("InvalidParameterValue", "source and destination are of different types")
        self.source = source
        self.status = MoveStatus.RUNNING
        self.failure: str | None = None
        self.moved = 0
        self._origins = origins
        self._destination = destination
        self._rate = rate
        self._scene = source.scene
        self._scene.timeline.after(_STEP, self._step)

    def cancel(self) -> None:
        """Stop it. What has been moved stays moved.

        Raises:
            Denied: It is not running.
        """
        if self.status is not MoveStatus.RUNNING:
            raise Denied("ResourceNotFoundException", f"the task is {self.status}")
        self.status = MoveStatus.CANCELLING

    def _step(self) -> None:
        if self.status is MoveStatus.CANCELLING:
            self.status = MoveStatus.CANCELLED
            return
        now = self._scene.timeline.now()
        batch = [message for message in self.source.messages if not message.hidden][: self._rate]
        for message in batch:
            target = self._origins.get(message.source or "") if self._destination is None else self._destination
            if target is None:
                # Sent to the dead-letter queue by somebody else than SQS, so SQS does not know where it belongs.
                self.status, self.failure = MoveStatus.FAILED, "CouldNotDetermineMessageSource"
                return
            self._move(message, target)
        if not batch:
            self.status = MoveStatus.COMPLETED
        else:
            self._scene.timeline.at(now + _STEP, self._step)

    def _move(self, message: Message, target: Queue) -> None:
        now = self._scene.timeline.now()
        self.source.remove(message)
        target.take_in(
            message,
            "redriven",
            id=self._scene.chance.identifier(),
            sent_at=now,
            visible_at=now,
            expires_at=now + target.retention,
            receives=0,
            first_received_at=None,
            source=None,
            repeated=False,
        )
        self.moved += 1


class MoveTasks:
    """All move tasks of a simulation: one active per source queue."""

    def __init__(self) -> None:
        self._tasks: list[MoveTask] = []

    def start(
        self,
        source: Queue,
        origins: Mapping[str, Queue],
        *,
        destination: Queue | None = None,
        rate: int = MOVES_A_SECOND,
    ) -> MoveTask:
        """Start a task.

        Raises:
            Denied: *source* is no dead-letter queue of an SQS queue, or a task on it is active.
        """
        if not any(origin.dead_letters is source for origin in origins.values()):
            raise Denied("InvalidParameterValue", "the source must be the dead-letter queue of an SQS queue")
        active = (MoveStatus.RUNNING, MoveStatus.CANCELLING)
        if any(task.source is source and task.status in active for task in self._tasks):
            raise Denied("UnsupportedOperation", "a move task is active on this queue already")
        task = MoveTask(source, origins, destination=destination, rate=rate)
        self._tasks.append(task)
        return task

    def of(self, source: Queue) -> list[MoveTask]:
        """Return the last ten tasks on *source*, newest first."""
        return [task for task in reversed(self._tasks) if task.source is source][:LISTED_MOVES]
