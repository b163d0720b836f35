"""What a queue holds at the present moment: messages visible, in flight, delayed; and who wants to know of changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from surehand.testing.simulator.faults import Chance
from surehand.testing.simulator.message import Message
from surehand.testing.simulator.shelf import Shelf
from surehand.testing.simulator.timeline import Timeline
from surehand.testing.simulator.trail import Trail


@dataclass(frozen=True, slots=True)
class Scene:
    """What every simulated part shares: time, chance and the record of what happened."""

    timeline: Timeline
    chance: Chance
    trail: Trail


class Holding(ABC):
    """The messages of one queue, kept up to date with time. What differs between kinds of queue is abstract."""

    def __init__(self, name: str, scene: Scene, retention: timedelta) -> None:
        self.name = name
        self.scene = scene
        self.retention = retention
        #: How many messages have been received and are neither deleted nor visible again.
        self.in_flight = 0
        self._shelf = Shelf()
        self._listeners: list[Callable[[], None]] = []
        self._observers: list[Callable[[str, Message], None]] = []

    # ---- what kinds of queue differ in ------------------------------------------------------------------------------

    @abstractmethod
    def _ready(self, message: Message) -> None:
        """Take in a message that has become visible."""

    @abstractmethod
    def _next(self, taken: int) -> Message | None:
        """Take out the message that a receive returns next, after *taken* others of the same call; None if none."""

    @abstractmethod
    def _receivable(self) -> bool:
        """Whether a receive now would find a message."""

    @abstractmethod
    def _took_off(self, message: Message) -> None:
        """A message is in flight now."""

    @abstractmethod
    def _landed(self, message: Message) -> None:
        """A message is in flight no longer: visible again, deleted or expired."""

    @abstractmethod
    def _may_repeat(self, message: Message) -> None:
        """A message was received or deleted, and SQS may deliver it once more."""

    # ---- what can be seen -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        self.refresh()
        return len(self._shelf)

    @property
    def messages(self) -> list[Message]:
        """The stored messages, oldest first."""
        self.refresh()
        return sorted(self._shelf, key=lambda message: (message.sent_at, message.order))

    def next_change(self) -> datetime | None:
        """Return when a receive may next return something: now, a later moment, or None if nothing is stored."""
        self.refresh()
        return self.scene.timeline.now() if self._receivable() else self._shelf.next_due()

    def listen(self, listener: Callable[[], None]) -> None:
        """Have *listener* called whenever `next_change` may have moved to an earlier moment."""
        self._listeners.append(listener)

    def observe(self, observer: Callable[[str, Message], None]) -> None:
        """Have *observer* called with what happens to a message ("sent", "received", "deleted", "expired", …)."""
        self._observers.append(observer)

    # ---- changes -----------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Bring up to date what has expired (SQS deletes it in silence, in flight or not) and what is visible."""
        now = self.scene.timeline.now()
        for message in self._shelf.expired(now):
            self._drop(message, "expired")
        for message in self._shelf.due(now):
            self._land(message)
            self._ready(message)

    def _call_listeners(self) -> None:
        for listener in self._listeners:
            listener()

    def _land(self, message: Message) -> None:
        if message.flying:
            message.flying = False
            self.in_flight -= 1
            self._landed(message)

    def remove(self, message: Message) -> None:
        """Take a message out because it goes to another queue."""
        self._drop(message, "left")

    def _drop(self, message: Message, why: str) -> None:
        self._shelf.drop(message)
        self._land(message)
        self._note(why, message)

    def take_in(self, message: Message, why: str, **changes: Any) -> None:
        """Store a copy of a message of this or another queue, visible from *visible_at* among the *changes*."""
        fresh = {"order": self._shelf.next_order(), "received_at": None, "stored": True, "flying": False, **changes}
        self._store(replace(message, **fresh), why)

    def _store(self, message: Message, why: str) -> None:
        self._shelf.put(message)
        self._note(why, message)
        self._call_listeners()

    def _note(self, why: str, message: Message) -> None:
        self.scene.trail.note(why, self.name, message.id)
        for observer in self._observers:
            observer(why, message)
