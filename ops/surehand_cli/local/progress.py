"""How far each message has got: samples and observations, folded into one track for each message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from surehand.states import FINAL
from surehand_cli.local.observation import Delivered, Recorded, Seen
from surehand_cli.local.samples import Fate, Sample, Sent

#: Outcomes after which SQS deletes the message.
_DELETED = {"succeeded": Fate.SUCCEEDED, "already_applied": Fate.ALREADY_APPLIED, "canceled": Fate.CANCELED}
#: The emulator may lose what a function printed last. After so many looks in a row at empty queues, the ledger alone
#: tells what has become of a message.
_LOOKS = 10
#: Outcomes that give a message up.
_GIVEN_UP = frozenset({"rejected", "exhausted", "held", "key_conflict"})
#: Outcomes that ask for another attempt.
_AGAIN = frozenset({"retry", "unknown"})


@dataclass(slots=True, kw_only=True)
class Track:
    """One message on its way. *sample* is None for one that somebody else has sent."""

    sample: Sample | None
    sent: Sent | None
    handler: str
    deliveries: list[Delivered] = field(default_factory=list)
    recorded: Recorded | None = None
    dead: bool = False

    @property
    def title(self) -> str:
        """What to call it: the sample's title, the key of its operation, or the beginning of its message id."""
        if self.sample is not None:
            return self.sample.title
        operation = self.deliveries[-1].operation if self.deliveries else None
        _, _, key = json.loads(operation) if operation else (None, None, ["!message"])
        if key[0] == "!message":
            return f"message {((self.sent and self.sent.message_id) or '?')[:8]}"
        return ", ".join(map(str, key))

    @property
    def fate(self) -> Fate | None:
        """What has become of it, once that is durable: the ledger's word counts, not only the log line."""
        if self.status is not None and not (self.sent and self.sent.operation):
            return Fate.ANSWERED if self.status < 400 else Fate.REFUSED
        if self.dead:
            return Fate.DEAD_LETTERED
        fate = _DELETED.get(self.deliveries[-1].outcome) if self.deliveries else None
        if fate is None or self.recorded is None or self.recorded.state not in FINAL:
            return None
        return fate

    @property
    def status(self) -> int | None:
        """The HTTP status that it was answered with, if it is a webhook."""
        return self.sent.status if self.sent is not None else None

    @property
    def way(self) -> str:
        """Its outcomes in order with their codes, equal ones counted: `retry ×2 (provider.busy), succeeded`.

        A webhook's begins with its HTTP status.
        """
        runs = groupby((delivered.outcome, delivered.code) for delivered in self.deliveries)
        return ", ".join(
            [
                *([str(self.status)] if self.status is not None else []),
                *(
                    outcome
                    + (f" ×{count}" if (count := len(list(run))) > 1 else "")
                    + (f" ({code})" if code and outcome != "fast_forwarded" else "")
                    for (outcome, code), run in runs
                ),
            ]
        )

    @property
    def given_up(self) -> bool:
        """Whether it is, or will be, a dead letter."""
        return any(delivered.outcome in _GIVEN_UP for delivered in self.deliveries)

    @property
    def attempts(self) -> int:
        """How many attempts have begun, as the log lines tell or, where the emulator has lost one, the ledger."""
        told = max((delivered.attempt for delivered in self.deliveries), default=0)
        return max(told, self._own.attempts) if self._own else told

    @property
    def code(self) -> str | None:
        """The failure code that was given last, told likewise."""
        told = next((delivered.code for delivered in reversed(self.deliveries) if delivered.code), None)
        return told or (self._own.code if self._own else None)

    @property
    def _own(self) -> Recorded | None:
        """The ledger's item, if it was this message that brought the operation."""
        brought = self.recorded.messages[:1] if self.recorded is not None else ()
        return self.recorded if self.sent is not None and self.sent.message_id in brought else None

    @property
    def met(self) -> bool:
        """Whether it has come to what was expected of it."""
        if self.sample is None:
            return self.fate is not None
        return (
            self.fate is self.sample.fate
            and self.sample.status in (None, self.status)
            and self.sample.code in (None, self.code)
            and self.sample.attempts in (None, self.attempts)
        )


@dataclass(slots=True)
class Progress:
    """Every message of a local run. *waiting* counts what the queues still hold."""

    samples: Sequence[Sample]
    tracks: list[Track] = field(default_factory=list)
    waiting: int = 0
    _quiet: int = 0

    def __post_init__(self) -> None:
        self.tracks = [Track(sample=sample, sent=None, handler=sample.handler) for sample in self.samples]

    def due(self) -> Sequence[Track]:
        """Return the tracks whose sample can be sent now, in order."""
        done = {track.title for track in self.tracks if track.fate is not None}
        return [
            track
            for track in self.tracks
            if track.sample is not None and track.sent is None and track.sample.after in (None, *done)
        ]

    def add(self, seen: Seen) -> None:
        """Take in what was seen."""
        for delivered in seen.deliveries:
            self._track_of(delivered).deliveries.append(delivered)
        for track in self.tracks:
            operation = track.deliveries[-1].operation if track.deliveries else None
            track.recorded = seen.ledger.get(operation) if operation else track.recorded
            track.dead = track.sent is not None and track.sent.message_id in seen.dead
        self.waiting = seen.waiting
        self._quiet = self._quiet + 1 if seen.waiting == 0 else 0
        if self._quiet == _LOOKS:
            self._believe_the_ledger(seen)

    @property
    def done(self) -> bool:
        """Whether every message has met its fate and no queue holds anything any more."""
        return self.waiting == 0 and all(track.fate is not None for track in self.tracks)

    def _believe_the_ledger(self, seen: Seen) -> None:
        for operation, recorded in seen.ledger.items():
            for place, message in enumerate(recorded.messages):
                if recorded.state in ("succeeded", "canceled") and not self._knows(message):
                    told = _believed(operation, message, recorded, "already_applied" if place else "succeeded")
                    track = self._track_of(told)
                    track.deliveries.append(told)
                    track.recorded = recorded
        for track in self.tracks:
            known = track.sent.operation if track.sent is not None else None
            item = seen.ledger.get(known) if known is not None else None
            if known is None or item is None or item.state not in FINAL or track.fate is not None:
                continue
            # Neither in a queue nor dead, so it was deleted; an item that does not name it was final before it came.
            message = (track.sent and track.sent.message_id) or ""
            track.deliveries.append(_believed(known, message, item, "already_applied"))
            track.recorded = item

    def _knows(self, message: str) -> bool:
        return any(
            delivered.message_id == message and delivered.outcome in _DELETED
            for track in self.tracks
            for delivered in track.deliveries
        )

    def _track_of(self, delivered: Delivered) -> Track:
        for track in self.tracks:
            if track.sent is not None and delivered.message_id == track.sent.message_id:
                return track
        for track in self.tracks:
            sent = track.sent
            # Several may be about one operation: the first of them without a message takes this one for its own.
            if (
                sent is not None
                and sent.message_id is None
                and sent.operation
                and sent.operation == delivered.operation
            ):
                track.sent = replace(sent, message_id=delivered.message_id)
                return track
        stranger = Track(sample=None, sent=Sent(message_id=delivered.message_id), handler=delivered.handler)
        self.tracks.append(stranger)
        return stranger


def _believed(operation: str, message: str, recorded: Recorded, outcome: str) -> Delivered:
    """Return a delivery of which no log line is left; an item that is canceled answers every message with that."""
    return Delivered(
        handler=json.loads(operation)[0],
        message_id=message,
        operation=operation,
        attempt=0,
        outcome="canceled" if recorded.state == "canceled" else outcome,
        code=None,
    )


def retried(tracks: Iterable[Track]) -> int:
    """Count the attempts that were followed by a wait for the next one."""
    return sum(1 for track in tracks for delivered in track.deliveries if delivered.outcome in _AGAIN)


def rejected(tracks: Iterable[Track]) -> int:
    """Count the messages that were given up, and so put on the way to a dead-letter queue."""
    return sum(track.given_up for track in tracks)
