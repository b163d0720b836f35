"""What operators and the dead-letter commands may write: cancel, release, resolve, dead-lettered (rules P2 and P8).

Each function is arithmetic on the item that was read. It returns the write, or why there is none. Every write that
changes the state raises the fence, so that a worker that is late by then changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from surehand.ledger.marks import marks_of, may_have_run
from surehand.ledger.operation import Entry, Operation, Write, appended, latest
from surehand.states import FINAL, HELD, State

#: A reason is kept in the history up to this many characters.
_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Who acts, why and when. *actor* and *reason* go into the operation's history."""

    actor: str
    reason: str
    now: datetime
    retention: timedelta

    @property
    def note(self) -> str:
        """What the history says."""
        return f"{self.actor}: {self.reason}"[:_LONGEST_REASON]


@dataclass(frozen=True, slots=True)
class NotDone:
    """Why nothing is written. *done* says that the operation is already as it was to become."""

    why: str
    done: bool = False


def cancel(
    existing: Operation | None, act: Act, *, operation_id: str, handler: str, tenant: str | None
) -> Write | NotDone:
    """Make an operation end without running, now or, while somebody holds its lease, when that ends (P8).

    An operation that the ledger does not know is canceled in advance. An effect that happens during the lease wins:
    the operation then ends as succeeded.
    """
    if existing is None or existing.expired_at(act.now):
        return _created(existing, act, State.CANCELED, operation_id=operation_id, handler=handler, tenant=tenant)
    requested = existing.cancel_requested and existing.leased_at(act.now)
    if existing.state is State.CANCELED or requested:
        return NotDone("it is canceled, or its cancel is requested, already", done=True)
    if existing.leased_at(act.now):
        noted = _noted(existing, act, existing.state)
        return Write(operation=replace(noted, cancel_requested=True), previous=existing)
    if existing.state in FINAL:
        return NotDone(f"it is {existing.state}, and that is final")
    if existing.state is State.PERMANENTLY_FAILED:
        return NotDone("it has failed permanently; resolve it, or purge its message from the dead-letter queue")
    return _changed(existing, act, State.CANCELED)


def release(existing: Operation | None, act: Act) -> Write | NotDone:
    """Take a lease whose holder is dead, so that the next delivery does not wait. Refuses a live lease (P8).

    The operation stays a suspect: its process died while it was held. A cancel that was requested meanwhile takes
    effect instead; where its handler may have run, at the next delivery, after `on_unknown` has had its say.
    """
    if existing is None or existing.expired_at(act.now):
        return NotDone("the ledger has no such operation")
    if existing.state not in HELD:
        return NotDone(f"nobody holds it: it is {existing.state}", done=True)
    if existing.leased_at(act.now) and existing.lease_until is not None:
        until = existing.lease_until.isoformat(timespec="seconds")
        return NotDone(f"its lease is live until {until}; two runs would overlap")
    if existing.cancel_requested and not may_have_run(existing):
        return _changed(existing, act, State.CANCELED)
    suspect = replace(existing, marks=marks_of(existing))
    return _still_canceling(_changed(suspect, act, State.PENDING, previous=existing))


def resolve(existing: Operation | None, act: Act, *, applied: bool) -> Write | NotDone:
    """Say what became of the effect of a held, failed or dead-lettered operation.

    Applied: it has succeeded, and its message is only acknowledged when it comes again. Not applied: it is pending
    with a fresh set of attempts, for a redrive of its message.
    """
    if existing is None or existing.expired_at(act.now):
        return NotDone("the ledger has no such operation")
    if existing.state is State.SUCCEEDED:
        return NotDone("it has succeeded already", done=applied)
    if existing.state not in (State.PERMANENTLY_FAILED, State.DEAD_LETTERED):
        return NotDone(f"it is {existing.state}; only failed, held and dead-lettered operations can be resolved")
    if applied:
        return _changed(existing, act, State.SUCCEEDED)
    fresh = replace(existing, attempts=0, marks=0, started_at=act.now, code=None, not_before=None)
    return _changed(fresh, act, State.PENDING, previous=existing)


def dead_lettered(
    existing: Operation | None,
    act: Act,
    *,
    operation_id: str,
    handler: str,
    tenant: str | None,
    message_ids: Sequence[str],
) -> Write | NotDone:
    """Record that a message of the operation was seen in the dead-letter queue (P2).

    Leaves `claimed_at` as it is, so that a redrive which is already on its way still counts as one (V4). Ids are
    remembered, but only those that failed permanently are refused later. A cancel that was requested stays so, and so
    does what a lapsed lease says of a run that died: a redrive must not forget it.
    """
    if existing is None or existing.expired_at(act.now):
        write = _created(existing, act, State.DEAD_LETTERED, operation_id=operation_id, handler=handler, tenant=tenant)
        return Write(operation=_with_ids(write.operation, message_ids), previous=existing)
    if existing.state is State.DEAD_LETTERED:
        return NotDone("the ledger knows it", done=True)
    if existing.state in FINAL:
        return NotDone(f"it is {existing.state}: its message would only be acknowledged", done=True)
    if existing.leased_at(act.now):
        return NotDone("another message of it is being processed now")
    marked = replace(_with_ids(existing, message_ids), marks=marks_of(existing))
    return _still_canceling(_changed(marked, act, State.DEAD_LETTERED, previous=existing))


def _changed(new: Operation, act: Act, state: State, *, previous: Operation | None = None) -> Write:
    operation = replace(
        _noted(replace(new, fence=new.fence + 1), act, state),
        owner=f"operator/{act.actor}",
        state=state,
        lease_until=None,
        cancel_requested=False,
        expires_at=act.now + act.retention,
    )
    return Write(operation=operation, previous=previous or new)


def _still_canceling(write: Write) -> Write:
    requested = write.previous is not None and write.previous.cancel_requested
    return replace(write, operation=replace(write.operation, cancel_requested=requested))


def _created(
    existing: Operation | None, act: Act, state: State, *, operation_id: str, handler: str, tenant: str | None
) -> Write:
    operation = Operation(
        id=operation_id,
        handler=handler,
        tenant=tenant,
        state=state,
        fence=(existing.fence if existing is not None else 0) + 1,
        owner=f"operator/{act.actor}",
        claimed_at=act.now,
        started_at=act.now,
        expires_at=act.now + act.retention,
    )
    return Write(operation=_noted(operation, act, state), previous=existing)


def _noted(operation: Operation, act: Act, state: State) -> Operation:
    entry = Entry(
        state=state,
        at=act.now,
        fence=operation.fence,
        attempt=operation.attempts,
        code=operation.code,
        note=act.note,
    )
    return replace(operation, history=appended(operation.history, entry))


def _with_ids(operation: Operation, message_ids: Sequence[str]) -> Operation:
    return replace(operation, message_ids=latest(operation.message_ids, message_ids))
