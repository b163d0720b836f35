"""Where a queue keeps its messages: by order of arrival, with what is hidden and what expires found by time."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import datetime
from itertools import count

from surehand.testing.simulator.message import Message

#: Entries of gone messages are cleared once there are more than this beyond twice the stored ones.
SLACK = 4_000


class Shelf:
    """The stored copies of one queue. Knows time only as an argument, and nothing of delivery rules."""

    def __init__(self) -> None:
        self._order = count()
        self._messages: dict[int, Message] = {}
        self._hidden: list[tuple[datetime, int, Message]] = []
        self._expiry: list[tuple[datetime, int, Message]] = []
        self._receipts: dict[str, tuple[Message, int]] = {}

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages.values())

    def next_order(self) -> int:
        """Return the number of the next arrival, greater than all before."""
        return next(self._order)

    def put(self, message: Message) -> None:
        """Store a message, hidden until its `visible_at`."""
        self._messages[message.order] = message
        heapq.heappush(self._expiry, (message.expires_at, message.order, message))
        self.hide(message)

    def hide(self, message: Message) -> None:
        """Note that the message is hidden until its `visible_at`, which may have changed."""
        message.hidden = True
        heapq.heappush(self._hidden, (message.visible_at, message.order, message))

    def drop(self, message: Message) -> None:
        """Remove a message for good."""
        message.stored = False
        del self._messages[message.order]
        self._compact()

    def due(self, now: datetime) -> Iterator[Message]:
        """Yield, and no longer count as hidden, what has become visible by *now*, earliest first."""
        while self._hidden and (self._hidden[0][0] <= now or not _current(self._hidden[0])):
            entry = heapq.heappop(self._hidden)
            if _current(entry):
                entry[2].hidden = False
                yield entry[2]

    def expired(self, now: datetime) -> Iterator[Message]:
        """Yield what is past its retention; the caller drops it."""
        while self._expiry and self._expiry[0][0] <= now:
            message = heapq.heappop(self._expiry)[2]
            if message.stored:
                yield message

    def next_due(self) -> datetime | None:
        """Return when the next hidden message becomes visible; call `due` first."""
        return self._hidden[0][0] if self._hidden else None

    def hand_out(self, receipt: str, message: Message) -> None:
        """Remember which receive of which message *receipt* stands for."""
        self._receipts[receipt] = (message, message.receives)

    def holder(self, receipt: str) -> Message | None:
        """Return the stored message of which *receipt* is the latest receipt, or None."""
        message, number = self._receipts.get(receipt, (None, 0))
        return message if message is not None and message.stored and message.receives == number else None

    def _compact(self) -> None:
        """Forget entries of dropped messages once they are the greater part, so that memory follows the backlog."""
        bound = 2 * len(self._messages) + SLACK
        if len(self._expiry) > bound:
            self._expiry = [entry for entry in self._expiry if entry[2].stored]
            heapq.heapify(self._expiry)
        if len(self._hidden) > bound:
            self._hidden = [entry for entry in self._hidden if _current(entry)]
            heapq.heapify(self._hidden)
        if len(self._receipts) > bound:
            self._receipts = {key: held for key, held in self._receipts.items() if held[0].stored}


def _current(entry: tuple[datetime, int, Message]) -> bool:
    """Whether an entry of the hidden still says what is true of its message."""
    moment, _, message = entry
    return message.stored and message.hidden and message.visible_at == moment
