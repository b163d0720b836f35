"""Before a tick's run: is it too late, and does an earlier tick's run still go on?

What goes on is what the ledger knows: a slot `[handler, null, ["!running"]]` names the tick whose run it is, from its
first start to its end, over all attempts and hand-overs. That operation's own state says whether it has ended, so a
run that died does not block the schedule for ever.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from surehand.declare import Handler, moment_of, slot_id, visibility_timeout
from surehand.declare.timing import Timing
from surehand.delivery import BACKFILL, Delivery
from surehand.errors import LedgerUnavailable
from surehand.ledger import Claimed, Operation, Unavailable, Write, Written, slots, write_surely
from surehand.outcomes import Outcome
from surehand.states import ATTENTION, FINAL, HELD, State
from surehand.worker.conclusion import Conclusion, bounded
from surehand.worker.endings import through_outage
from surehand.worker.handing_over import ran_before
from surehand.worker.kept import within_retention
from surehand.worker.ports import Ports

RUNNING, WAITING = "!running", "!waiting"
#: How often a slot that somebody else took meanwhile is looked at anew.
_ROUNDS = 4
#: A run between two deliveries is given up for dead so long after its message should have come back. A message that
#: could not be claimed while the ledger was away stays hidden for up to an hour.
_PATIENCE = timedelta(hours=1)
#: How soon a waiting tick looks again.
_SOONEST, _LATEST = timedelta(seconds=15), timedelta(minutes=2)


class Ticks:
    """The ticks of one invocation of a schedule's handler."""

    def __init__(self, handler: Handler[Any], timing: Timing, ports: Ports) -> None:
        self._handler = handler
        self._timing = timing
        self._ports = ports
        self._held: dict[str, Operation] = {}

    def hold_back(self, claimed: Claimed, delivery: Delivery, *, now: datetime) -> Conclusion | None:
        """Return what becomes of a claimed tick instead of its run, or None if it may run."""
        operation = claimed.operation
        moment = moment_of(operation.id)
        by_hand = claimed.redrive or BACKFILL in delivery.attributes
        first = len(operation.history) == 1 and not by_hand
        if first and moment is not None and now - moment > self._timing.catch_up:
            return _canceled("schedule.late", f"{_whole(now - moment)} after its moment")
        if self._timing.overlap == "allow":
            return None
        try:
            turn = self._turn(operation, now, patient=by_hand or _begun(operation))
        except LedgerUnavailable:
            return Conclusion(
                outcome=Outcome.UNSTARTED,
                state=State.PENDING,
                code="ledger.unavailable",
                wait=through_outage(delivery.receive_count, self._ports.random),
                attempted=False,
            )
        if turn is None or turn.outcome is not Outcome.DEFERRED:
            return turn
        return bounded(turn, operation, within_retention(self._handler, operation, [delivery]), now)

    def ended(self, operation: Operation, *, now: datetime) -> None:
        """Free what a tick that has come to its end holds. If that fails, the next tick sees that it has ended."""
        if self._timing.overlap == "allow" or operation.state not in FINAL | ATTENTION:
            return
        with suppress(LedgerUnavailable):
            self._free(self._held.pop(operation.id, None) or self._read(RUNNING), operation, now)
            if self._timing.overlap == "queue":
                self._free(self._read(WAITING), operation, now)

    def _turn(self, operation: Operation, now: datetime, *, patient: bool) -> Conclusion | None:
        """Take the schedule's slot for this tick, or say why not.

        *patient*: it waits for its turn under every policy, since it had begun before, or an operator has sent it.
        """
        for _ in range(_ROUNDS):
            running = self._read(RUNNING)
            holder = slots.holder(running, now)
            if holder == operation.id and running is not None:
                self._held[operation.id] = running
                return None
            if holder is not None and (other := self._alive(holder, now)) is not None:
                return self._behind(operation, other, now, running=holder, patient=patient)
            if self._timing.overlap == "queue" and (waiting := self._waits(operation, now)) is not None:
                return self._behind(operation, waiting, now, running=None, patient=patient)
            taken = self._take(RUNNING, running, operation, now)
            if taken is not None:
                self._held[operation.id] = taken
                return None
        raise LedgerUnavailable("contended")

    def _behind(
        self, operation: Operation, other: Operation, now: datetime, *, running: str | None, patient: bool
    ) -> Conclusion:
        """It is the turn of *other*: wait, or be canceled. *running* is the tick whose run it is, if any is."""
        note = f"while the tick of {_moment(other.id)} {'ran' if other.state in HELD else 'had not ended'}"
        if not patient and (self._timing.overlap == "skip" or not self._queue_up(operation, running, now)):
            return _canceled("schedule.overlap", note)
        ends = other.lease_until or now
        return Conclusion(
            outcome=Outcome.DEFERRED,
            state=State.PENDING,
            code="schedule.overlap",
            wait=min(_LATEST, max(_SOONEST, ends - now)),
            attempted=False,
            note=note,
        )

    def _queue_up(self, operation: Operation, running: str | None, now: datetime) -> bool:
        """Take the place of the one tick that waits; False if another one has it."""
        for _ in range(_ROUNDS):
            slot = self._read(WAITING)
            holder = slots.holder(slot, now)
            if holder == operation.id:
                return True
            if holder is not None and holder != running and self._alive(holder, now) is not None:
                return False
            if self._take(WAITING, slot, operation, now) is not None:
                return True
        raise LedgerUnavailable("contended")

    def _waits(self, operation: Operation, now: datetime) -> Operation | None:
        """Return the other tick whose turn is next, if one waits."""
        holder = slots.holder(self._read(WAITING), now)
        return None if holder in (None, operation.id) else self._alive(str(holder), now)

    def _free(self, slot: Operation | None, operation: Operation, now: datetime) -> None:
        if slot is not None and slots.holder(slot, now) == operation.id:
            self._ports.ledger.write([slots.free(slot, now=now)], now=now)

    def _alive(self, operation_id: str, now: datetime) -> Operation | None:
        """Return the operation of a tick whose run has not ended, as far as the ledger can know."""
        operation = self._ports.ledger.read([operation_id]).get(operation_id)
        if operation is None or operation.expired_at(now) or operation.state in FINAL | ATTENTION:
            return None
        seen = operation.history[-1].at if operation.history else operation.claimed_at
        back = max(seen, operation.not_before or seen) + visibility_timeout(self._handler) + _PATIENCE
        return operation if operation.leased_at(now) or now < back else None

    def _read(self, which: str) -> Operation | None:
        slot = slot_id(self._handler.name, which)
        return self._ports.ledger.read([slot]).get(slot)

    def _take(self, which: str, slot: Operation | None, operation: Operation, now: datetime) -> Operation | None:
        until = operation.started_at + self._handler.options.give_up_after
        write = slots.take(
            slot,
            slot_id(self._handler.name, which),
            operation,
            until=until,
            now=now,
            retention=self._ports.retention,
        )
        return write.operation if self._write(write, now) else None

    def _write(self, write: Write, now: datetime) -> bool:
        answer = write_surely(self._ports.ledger, [write], now=now)[0]
        if isinstance(answer, Unavailable):
            raise LedgerUnavailable(answer.reason)
        return isinstance(answer, Written)


def _begun(operation: Operation) -> bool:
    """Tell whether a tick has run or waited before, so that it is not canceled for another one any more."""
    waited = any(entry.code == "schedule.overlap" for entry in operation.history)
    return waited or ran_before(operation.history)


def _canceled(code: str, note: str) -> Conclusion:
    return Conclusion(outcome=Outcome.CANCELED, state=State.CANCELED, code=code, attempted=False, note=note)


def _moment(operation_id: str) -> str:
    moment = moment_of(operation_id)
    return operation_id if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _whole(length: timedelta) -> str:
    return str(timedelta(seconds=int(length.total_seconds())))
