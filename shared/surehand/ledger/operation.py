"""The ledger: one item per operation, compare-and-set writes, and nothing else.

A store implements two calls, `read` and `write`. Every rule of the protocol is arithmetic on operations in
`surehand.ledger.claims`, so that the store in memory and the one on DynamoDB cannot disagree about it.

The ledger is authoritative for: whether an operation's effect is recorded as done, who may run it now, how often it
was tried, and why it failed. SQS is authoritative for: where the message is and when it comes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from surehand.states import ATTENTION, HELD, State, legal

#: An item keeps this many entries of its history; the first one and the latest stay.
HISTORY = 20
#: An item remembers this many message ids, and as many that failed permanently (the latest).
MESSAGE_IDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of an operation's history. *note* says what the state does not: takeover, redrive, an actor's reason."""

    state: State
    at: datetime
    fence: int
    attempt: int
    code: str | None = None
    message_id: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation as the ledger knows it.

    *fence* grows by one with each claim; *owner* is the last claimant (request id and nonce) and stays after the
    settle; *started_at* is the origin of `give_up_after`; *marks* is 0, 1 for a suspect, and one more for each
    confirmed crash (P3); *fingerprints* are empty where no payload has been seen; *result* is JSON text, a digest or
    a note (`surehand.results`).
    """

    id: str
    handler: str
    tenant: str | None
    state: State
    fence: int
    owner: str
    claimed_at: datetime
    started_at: datetime
    expires_at: datetime
    lease_until: datetime | None = None
    not_before: datetime | None = None
    attempts: int = 0
    marks: int = 0
    message_ids: tuple[str, ...] = ()
    failed_ids: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    history: tuple[Entry, ...] = ()
    code: str | None = None
    result: str | None = None
    cancel_requested: bool = False
    version: str = ""

    @property
    def needs_attention(self) -> bool:
        """Whether the sparse index lists it."""
        return self.state in ATTENTION

    @property
    def is_slot(self) -> bool:
        """Whether it is no piece of work but names one (`surehand.ledger.slots`): no message has ever carried it."""
        return self.state in HELD and not self.message_ids

    def leased_at(self, now: datetime) -> bool:
        """Whether somebody owns it at *now*."""
        return self.state in HELD and self.lease_until is not None and now < self.lease_until

    def expired_at(self, now: datetime) -> bool:
        """Whether it counts as absent at *now*, though DynamoDB has not deleted it yet."""
        return self.expires_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Replace *previous* (None: there must be no item) by *operation*, if the store still holds *previous*.

    "Still" means equal fence, owner, state and cancel request, and not expired by the time of the write; or, where
    the write makes something new of an item that counts as absent, expired.
    """

    operation: Operation
    previous: Operation | None

    @property
    def revives(self) -> bool:
        """Whether *previous* is an expired item that DynamoDB has not deleted yet, and this a fresh claim of its id."""
        return self.previous is not None and self.previous.expired_at(self.operation.claimed_at)

    def __post_init__(self) -> None:
        check(self.previous, self.operation)


@dataclass(frozen=True, slots=True)
class Written:
    """The write is durable."""


@dataclass(frozen=True, slots=True)
class NotWritten:
    """The item is not what was expected. *existing* is what stands there, or None if the answer did not carry it."""

    existing: Operation | None


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Nobody knows whether it was written. *reason* is AWS's error code or the client's exception type."""

    reason: str


Answer = Written | NotWritten | Unavailable


def is_own(write: Write, existing: Operation) -> bool:
    """Tell whether *existing* is our own first write, whose answer was lost.

    Its owner, fence and state are what *write* makes of the item. Writes that change none of these (an extension)
    cannot be told apart this way and are never taken for written.
    """
    new = (write.operation.owner, write.operation.fence, write.operation.state)
    old = write.previous
    if old is not None and (old.owner, old.fence, old.state) == new:
        return False
    return (existing.owner, existing.fence, existing.state) == new


def appended(history: tuple[Entry, ...], entry: Entry) -> tuple[Entry, ...]:
    """Append within the bound; the first entry stays, since it says when it all began."""
    kept = history if len(history) < HISTORY else (history[0], *history[2:])
    return (*kept, entry)


def latest(known: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """Return both without repetition, within the bound; the oldest ids are forgotten first."""
    return tuple(dict.fromkeys([*known, *new]))[-MESSAGE_IDS:]


class IllegalTransition(ValueError):
    """A write that the table of transitions does not have. The item stays as it is."""


class Ledger(Protocol):
    """The store of operations."""

    def read(self, ids: Sequence[str]) -> dict[str, Operation]:
        """Return the operations of these ids that exist (expired ones too), read consistently.

        Raises:
            LedgerUnavailable: It could not be read.
        """

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        """Make each write if its condition holds, and answer in order. Writes of one call must differ in id.

        Never raises for an AWS error: what failed is `Unavailable`. After the first call that fails, the rest of
        the writes are not tried and are `Unavailable` too.
        """


def check(previous: Operation | None, operation: Operation) -> None:
    """Refuse a write that the table of transitions does not have.

    A write that keeps the state must keep fence and owner (an extension, a recorded id, a renewed expiry), or be the
    takeover of a lease, which raises the fence. An expired *previous* counts as no item, but its fence continues.

    Raises:
        IllegalTransition: It would.
    """
    if previous is None:
        if not legal(None, operation.state):
            raise IllegalTransition(f"none → {operation.state} is not in the table of transitions")
        return
    if previous.id != operation.id:
        raise IllegalTransition("a write cannot change an operation's id")
    before = (previous.state, previous.fence, previous.owner)
    if before == (operation.state, operation.fence, operation.owner):
        return
    claims = operation.state is State.LEASED
    if operation.fence < previous.fence or (claims and operation.fence == previous.fence):
        raise IllegalTransition(f"the fence cannot go from {previous.fence} to {operation.fence}")
    absent = previous.expired_at(operation.claimed_at) and legal(None, operation.state)
    if not (legal(previous.state, operation.state) or absent):
        raise IllegalTransition(f"{previous.state} → {operation.state} is not in the table of transitions")
