"""The protocol's rules as arithmetic: who may claim what (rules P1-P6, P8).

Pure functions of the item read, the message and the moment. `docs/protocol.md` has the schedules behind each rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from surehand.ledger.holding import settle
from surehand.ledger.marks import POISON, SUSPECT, marks_at_claim, may_have_run
from surehand.ledger.operation import Entry, Operation, Write, appended, latest
from surehand.outcomes import Outcome
from surehand.states import HELD, State

#: A message may come back this much before its `not_before` and still be claimed: clocks of two machines differ, and
#: SQS counts whole seconds.
CLOCK_TOLERANCE = timedelta(seconds=2)
#: States in which an operation waits for its next attempt.
_WAITING = frozenset({State.PENDING, State.RETRYABLE_FAILED})


@dataclass(frozen=True, slots=True)
class Candidate:
    """One message that carries the operation. *origin* is the id of the message that it is a renewal of (P7)."""

    message_id: str
    sent_at: datetime
    origin: str | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """Its id, and before it that of its origin."""
        return (self.message_id,) if self.origin is None else (self.origin, self.message_id)

    @property
    def renewed(self) -> bool:
        """Whether it is a copy of a message that waited for longer than its receives (P7)."""
        return self.origin not in (None, self.message_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One operation that a batch wants to claim. *candidates* are its messages in the batch, in queue order."""

    id: str
    handler: str
    tenant: str | None
    candidates: tuple[Candidate, ...]
    fingerprints: tuple[str, ...]
    seen_before: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """What one invocation writes into each of its claims.

    *give_up_after* is the handler's. *decides* says that its `on_unknown` is other than retry, so that a run of which
    nobody knows the end is decided about before anything else happens (P5).
    """

    owner: str
    until: datetime
    retention: timedelta
    give_up_after: timedelta = timedelta.max
    decides: bool = False
    version: str = ""


class Standing(StrEnum):
    """Why an operation is not claimed."""

    ALREADY_APPLIED = "already_applied"
    CANCELED = "canceled"
    IN_PROGRESS = "in_progress"
    DEFERRED = "deferred"
    KEY_CONFLICT = "key_conflict"
    FAST_FORWARDED = "fast_forwarded"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """The operation is ours until the lease ends.

    *operation* is the item as it stands now; *lapsed* is the state in which a dead invocation left it, if any;
    *redrive* says that the attempts start afresh because an operator sent a dead letter back.
    """

    operation: Operation
    message_id: str
    lapsed: State | None = None
    redrive: bool = False

    @property
    def suspect(self) -> bool:
        """Whether a process has died while it held this operation (P3)."""
        return self.operation.marks >= SUSPECT

    @property
    def crashed(self) -> bool:
        """Whether its handler is known to have been running when a process died, and no attempt was settled since."""
        return self.operation.marks > SUSPECT

    @property
    def poison(self) -> bool:
        """Whether it has killed its process too often to be run again."""
        return self.operation.marks >= POISON


@dataclass(frozen=True, slots=True, kw_only=True)
class NotClaimed:
    """The ledger's answer instead of a claim. *until* is when the lease ends or the waiting is over."""

    standing: Standing
    existing: Operation | None = None
    until: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The write that would claim (or, with a cancel requested, cancel) the operation, and what it then means."""

    write: Write
    then: Claimed | NotClaimed


def decide(existing: Operation | None, wanted: Wanted, *, lease: Lease, now: datetime) -> Proposal | NotClaimed:
    """Say what a delivery may do with its operation as the ledger shows it at *now*."""
    if existing is None or existing.expired_at(now):
        return _claim(existing, wanted, wanted.candidates[0], lease=lease, now=now, fresh=True)
    if existing.fingerprints and not set(existing.fingerprints) & set(wanted.fingerprints):
        return NotClaimed(standing=Standing.KEY_CONFLICT, existing=existing)
    if existing.state in (State.SUCCEEDED, State.COMPENSATED):
        return NotClaimed(standing=Standing.ALREADY_APPLIED, existing=existing)
    if existing.state is State.CANCELED:
        return NotClaimed(standing=Standing.CANCELED, existing=existing)
    if existing.leased_at(now):
        return NotClaimed(standing=Standing.IN_PROGRESS, existing=existing, until=existing.lease_until)
    if existing.cancel_requested and not _undecided(existing, decides=lease.decides):
        return _cancel(existing, lease=lease, now=now)
    over = now - existing.started_at > lease.give_up_after
    redriven = next(
        (c for c in wanted.candidates if is_redrive(existing, c) or (over and _given_up(existing, c, lease))), None
    )
    if redriven is not None:
        return _claim(existing, wanted, redriven, lease=lease, now=now, redrive=True)
    welcome = [c for c in wanted.candidates if not set(c.ids) & set(existing.failed_ids)]
    if existing.state is State.PERMANENTLY_FAILED or not welcome:
        return NotClaimed(standing=Standing.FAST_FORWARDED, existing=existing)
    if existing.not_before is not None and now < existing.not_before - CLOCK_TOLERANCE:
        return NotClaimed(standing=Standing.DEFERRED, existing=existing, until=existing.not_before)
    return _claim(existing, wanted, welcome[0], lease=lease, now=now)


def is_redrive(existing: Operation, candidate: Candidate) -> bool:
    """Tell whether a message is a dead letter that came back (P1).

    Its operation has failed or its holder died, its id is new to the item, and it was sent after the last claim.
    SQS mints a new id and a new SentTimestamp when it moves a message back. A renewal has both too; its origin tells.
    """
    failed = existing.state in (State.PERMANENTLY_FAILED, State.DEAD_LETTERED) or existing.state in HELD
    return failed and _new(existing, candidate) and candidate.sent_at > existing.claimed_at


def _given_up(existing: Operation, candidate: Candidate, lease: Lease) -> bool:
    """Tell whether a message that comes for an operation whose time is over starts it afresh (P1).

    Such a one waited for an attempt that never came, as when its receives were spent by invocations that failed at
    their start. What is sent afterwards, by an operator or a producer, gets a real attempt, and so does what was sent
    after the last claim and was still on its way when the time was over; a renewal never, since it is no sending.
    """
    sent = candidate.sent_at
    late = sent - existing.started_at > lease.give_up_after or (not candidate.renewed and sent > existing.claimed_at)
    return existing.state in _WAITING and _new(existing, candidate) and late


def _new(existing: Operation, candidate: Candidate) -> bool:
    return set(candidate.ids).isdisjoint(existing.message_ids)


def _claim(
    existing: Operation | None,
    wanted: Wanted,
    candidate: Candidate,
    *,
    lease: Lease,
    now: datetime,
    fresh: bool = False,
    redrive: bool = False,
) -> Proposal:
    known = None if fresh else existing
    lapsed = known.state if known is not None and known.state in HELD else None
    anew = known is None or redrive
    attempts = 0 if anew or known is None else known.attempts
    fence = (existing.fence if existing is not None else 0) + 1
    note = "redrive" if redrive else "takeover" if lapsed is not None else None
    entry = Entry(
        state=State.LEASED,
        at=now,
        fence=fence,
        attempt=attempts + 1,
        message_id=candidate.message_id,
        note=note,
    )
    operation = Operation(
        id=wanted.id,
        handler=wanted.handler,
        tenant=wanted.tenant,
        state=State.LEASED,
        fence=fence,
        owner=lease.owner,
        lease_until=lease.until,
        claimed_at=now,
        started_at=now if anew or known is None or _only_held(known) else known.started_at,
        expires_at=now + lease.retention,
        attempts=attempts,
        marks=0 if known is None else marks_at_claim(known, redrive=redrive, decides=lease.decides),
        message_ids=latest(known.message_ids if known else (), [id_ for c in wanted.candidates for id_ in c.ids]),
        failed_ids=known.failed_ids if known else (),
        fingerprints=(known.fingerprints if known else ()) or wanted.fingerprints,
        history=appended(known.history if known else (), entry),
        code=known.code if known else None,
        cancel_requested=known is not None and known.cancel_requested,
        version=lease.version,
    )
    claimed = Claimed(operation=operation, message_id=candidate.message_id, lapsed=lapsed, redrive=redrive)
    return Proposal(write=Write(operation=operation, previous=existing), then=claimed)


def _only_held(known: Operation) -> bool:
    """Tell whether an operation was never begun, only put back unstarted: the head's waiting is not its own (P4)."""
    if known.state is not State.PENDING or known.attempts or known.marks or known.code is not None:
        return False
    return all(entry.state is State.LEASED or entry.note == Outcome.UNSTARTED for entry in known.history)


def _undecided(existing: Operation, *, decides: bool) -> bool:
    """Tell whether a requested cancel waits for a word about a run whose end is unknown (P8): an effect wins over it.

    Such a request outlives a question that fails. The holder then ends the operation, which only waits, as canceled.
    """
    return existing.state in _WAITING or (decides and may_have_run(existing))


def _cancel(existing: Operation, *, lease: Lease, now: datetime) -> Proposal:
    """A cancel that was requested during a lease takes effect when the lease has ended (P8)."""
    write = settle(existing, State.CANCELED, now=now, retention=lease.retention, code=existing.code, note="cancel")
    return Proposal(write=write, then=NotClaimed(standing=Standing.CANCELED, existing=write.operation))
