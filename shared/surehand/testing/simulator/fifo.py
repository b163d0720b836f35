"""A FIFO queue: in order within a message group, deduplicated for five minutes.

Source: SQS developer guide, "FIFO delivery logic" and "Exactly-once processing".
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter, deque
from datetime import datetime, timedelta
from typing import Any

from surehand.testing.simulator.holding import Scene
from surehand.testing.simulator.limits import DEDUPLICATION
from surehand.testing.simulator.message import Denied, Message
from surehand.testing.simulator.queue import Queue


class FifoQueue(Queue):
    """One FIFO queue. While a message of a group is in flight, no later receive returns anything of that group."""

    fifo = True

    def __init__(self, name: str, scene: Scene, *, content_based: bool = False, **settings: Any) -> None:
        super().__init__(name, scene, **settings)
        self._content_based = content_based
        self._sent: dict[str, str] = {}
        self._windows: deque[tuple[datetime, str]] = deque()
        self._visible: dict[str, list[tuple[int, Message]]] = {}
        self._flying: Counter[str] = Counter()
        #: Groups with something visible and nothing in flight, in the order in which they became so.
        self._open: dict[str, None] = {}
        self._serving: str | None = None

    def send(
        self,
        body: str,
        *,
        delay: timedelta | None = None,
        group: str | None = None,
        deduplication: str | None = None,
        **parts: Any,
    ) -> str:
        """Store a message, or answer with the id of the one that had this deduplication id within five minutes.

        "Any messages sent with the same deduplication ID are accepted successfully but aren't delivered during the
        5-minute deduplication interval" (API_SendMessage). A delay can be set for the queue only.
        """
        if group is None:
            raise Denied("MissingParameter", "MessageGroupId")
        if delay:
            raise Denied("InvalidParameterValue", "DelaySeconds is not for single messages of a FIFO queue")
        if deduplication is None and self._content_based:
            deduplication = hashlib.sha256(body.encode()).hexdigest()
        if deduplication is None:
            raise Denied("InvalidParameterValue", "MessageDeduplicationId")
        now = self.scene.timeline.now()
        while self._windows and self._windows[0][0] <= now - DEDUPLICATION:
            self._sent.pop(self._windows.popleft()[1], None)
        if (earlier := self._sent.get(deduplication)) is not None:
            self.scene.trail.note("deduplicated", self.name, earlier)
            return earlier
        identifier = super().send(body, group=group, deduplication=deduplication, **parts)
        self._sent[deduplication] = identifier
        self._windows.append((now, deduplication))
        return identifier

    def _ready(self, message: Message) -> None:
        group = message.group or ""
        heapq.heappush(self._visible.setdefault(group, []), (message.order, message))
        self._reopen(group)

    def _took_off(self, message: Message) -> None:
        group = message.group or ""
        self._flying[group] += 1
        self._open.pop(group, None)

    def _landed(self, message: Message) -> None:
        group = message.group or ""
        self._flying[group] -= 1
        if not self._flying[group]:
            del self._flying[group]
        self._reopen(group)

    def _may_repeat(self, message: Message) -> None:
        """Never of itself: a FIFO queue does not deliver a message twice while its consumer keeps the timeout."""

    def _reopen(self, group: str) -> None:
        if group not in self._flying and self._first_of(group) is not None:
            self._open.setdefault(group)

    def _next(self, taken: int) -> Message | None:
        """As many of one group as there are, then of the next group."""
        if not taken:
            self._serving = None
        if self._serving is None or self._first_of(self._serving) is None:
            if not self._receivable():
                return None
            self._serving = next(iter(self._open))
        message = heapq.heappop(self._visible[self._serving])[1]
        if self._first_of(self._serving) is None:
            self._open.pop(self._serving, None)
        return message

    def _receivable(self) -> bool:
        while self._open:
            group = next(iter(self._open))
            if self._first_of(group) is not None:
                return True
            del self._open[group]
        return False

    def _first_of(self, group: str) -> Message | None:
        """Return the first visible message of a group, clearing away what is gone."""
        waiting = self._visible.get(group)
        while waiting and not waiting[0][1].stored:
            heapq.heappop(waiting)
        if waiting:
            return waiting[0][1]
        self._visible.pop(group, None)
        return None
