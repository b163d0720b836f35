"""Sending the ticks of a backfill: so many at once, at a rate, each written down before it leaves.

A tick that was skipped is known as canceled, and its message would only be acknowledged. So its record is let expire
first: it then counts as unknown, its history and fence go on, and who did that and why stays in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from surehand import Handler
from surehand.delivery import BACKFILL
from surehand.ledger import Entry, Ledger, Operation, Write, Written, write_surely
from surehand.ledger.operation import HISTORY
from surehand.queues import Outgoing, Queues
from surehand.states import FINAL, State
from surehand_cli.account.waiting import Waiting
from surehand_cli.backfill.due import Due, Standing
from surehand_cli.dlq.journal import Journal
from surehand_cli.dlq.pace import Bucket
from surehand_cli.problem import Problem

#: How often the ledger is asked whether what was sent has ended.
_LOOK = timedelta(seconds=5)
_ENDED = FINAL | {State.PERMANENTLY_FAILED, State.DEAD_LETTERED}


@dataclass(slots=True, kw_only=True)
class Sender:
    """One backfill on its way. *at_once* bounds the ticks that are sent and have not ended."""

    handler: Handler[Any]
    ledger: Ledger
    queues: Queues
    journal: Journal
    waiting: Waiting
    plan: str
    note: str
    rate: float
    at_once: int
    open: dict[str, Due] = field(default_factory=dict)
    ended: dict[str, State] = field(default_factory=dict)

    def send(self, chosen: Sequence[Due], *, shown: Callable[..., None]) -> None:
        """Send each tick in order, and return when all have been sent, or somebody has asked to stop.

        Raises:
            Problem: SQS or the ledger refuses one; what was sent before it stays sent and is in the journal.
        """
        bucket = Bucket.full(self.rate, burst=1, now=self.waiting.now())
        for number, one in enumerate(chosen, start=1):
            self._until_room()
            if not self.waiting.stopped:
                self.waiting.wait(bucket.wait_for(1, self.waiting.now()))
            if self.waiting.stopped:
                return
            bucket.take(1, self.waiting.now())
            self._send(one)
            shown(number, f"{len(self.open)} not ended")

    def follow(self, *, shown: Callable[..., None]) -> None:
        """Wait until everything that was sent has ended, or somebody has asked to stop."""
        total = len(self.open) + len(self.ended)
        while self.open and not self.waiting.stopped:
            self.waiting.wait(_LOOK)
            self._look()
            shown(total - len(self.open), "ended")

    def _until_room(self) -> None:
        while len(self.open) >= self.at_once and not self.waiting.stopped:
            self._look()
            if len(self.open) >= self.at_once:
                self.waiting.wait(_LOOK)

    def _send(self, one: Due) -> None:
        now = self.waiting.now()
        if one.standing is Standing.SKIPPED and one.known is not None:
            self._forget(one.known, now)
        self.journal.write("sending", now, operation=one.operation_id, standing=one.standing.value)
        attributes: Mapping[str, Any] = {BACKFILL: {"DataType": "String", "StringValue": self.plan}}
        message = Outgoing(body=self.handler.payload.dump(one.tick).decode(), attributes=attributes)
        if refused := self.queues.send(self.handler.name, [message]):
            raise Problem(f"SQS did not take the tick of {one.tick.at.isoformat()}: {refused[0].code}")
        self.journal.write("sent", self.waiting.now(), operation=one.operation_id)
        self.open[one.operation_id] = one

    def _forget(self, skipped: Operation, now: datetime) -> None:
        entry = Entry(
            state=skipped.state,
            at=now,
            fence=skipped.fence,
            attempt=skipped.attempts,
            code=skipped.code,
            note=self.note,
        )
        history = (*skipped.history[-HISTORY + 1 :], entry)
        write = Write(operation=replace(skipped, expires_at=now, history=history), previous=skipped)
        answer = write_surely(self.ledger, [write], now=now)[0]
        if not isinstance(answer, Written):
            raise Problem(f"the record of the skipped {skipped.id} could not be let expire; run the same command again")

    def _look(self) -> None:
        known = self.ledger.read(list(self.open))
        now = self.waiting.now()
        for operation_id, operation in known.items():
            if operation.state in _ENDED and not operation.expired_at(now):
                del self.open[operation_id]
                self.ended[operation_id] = operation.state
                self.journal.write(
                    "ended", now, operation=operation_id, state=operation.state.value, code=operation.code
                )
