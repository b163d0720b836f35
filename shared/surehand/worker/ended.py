"""What has ended so far in one invocation: an ending per delivery, and the FIFO groups that are held by one."""

from __future__ import annotations

from typing import Any

from surehand.ledger import Claimed, Operation
from surehand.outcomes import Outcome
from surehand.queues import Queues
from surehand.worker.endings import Ending
from surehand.worker.plan import Step
from surehand.worker.receive import Message, Refused


class Ended:
    """`endings` grows by one entry per delivery, by its place in the event. Several threads may add to it."""

    def __init__(self) -> None:
        self.endings: dict[int, Ending] = {}
        self._held: set[str | None] = set()
        self._deleted: set[int] = set()

    def add(self, one: Message | Refused, step: Step, operation: Operation | None, **told: Any) -> None:
        """End one delivery of a step. *told* are the other fields of its `Ending`."""
        identity = one.identity if isinstance(one, Message) else None
        if isinstance(one, Refused) and told.get("detail") is None:
            told["detail"] = one.detail
        if isinstance(one, Refused) and one.origin is not None:
            told["origin"] = one.origin
        if isinstance(one, Message) and one.notice is not None:
            told["notice"] = one.notice
        ending = Ending(
            index=one.index,
            delivery=one.delivery,
            operation_id=identity.operation if identity else None,
            tenant=identity.tenant if identity else None,
            operation=operation,
            redrive=isinstance(step.answer, Claimed) and step.answer.redrive,
            copied=isinstance(step.answer, Claimed) and one is not step.message,
            replay=told["outcome"] is Outcome.ALREADY_APPLIED and _replayed(one, operation),
            **told,
        )
        if ending.holds:
            self._held.add(one.lane)
        self.endings[one.index] = ending

    def wholly(self, step: Step) -> bool:
        """Tell whether all messages of a step have ended."""
        return all(one.index in self.endings for one in step.all)

    def lane_held(self, step: Step) -> bool:
        """Tell whether a message of a FIFO group of this step was put back and must not be overtaken."""
        return any(one.lane in self._held for one in step.all)

    def delete(self, queues: Queues, handler: str) -> None:
        """Delete the messages that have ended well, each once."""
        done = {
            index: ending.delivery.receipt_handle
            for index, ending in list(self.endings.items())  # other lanes' threads may add theirs meanwhile
            if ending.deleted and index not in self._deleted and ending.delivery.receipt_handle is not None
        }
        if done:
            queues.delete(handler, [handle for handle in done.values() if handle])
            self._deleted.update(done)


def _replayed(one: Message | Refused, operation: Operation | None) -> bool:
    """Whether a webhook's operation came under another of the ids that nobody signs."""
    mark = one.mark if isinstance(one, Message) else None
    return mark is not None and operation is not None and mark not in operation.fingerprints
