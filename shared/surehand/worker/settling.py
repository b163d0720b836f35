"""Phase settle, from the batch's side: what is written for each step, and what every delivery comes to."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from surehand.declare import Handler
from surehand.delivery import Delivery
from surehand.ledger import (
    Answer,
    Claimed,
    NotClaimed,
    NotWritten,
    Operation,
    Standing,
    Unavailable,
    Write,
    Written,
    renewed,
    settle,
    write_surely,
)
from surehand.outcomes import OUTCOMES, Outcome
from surehand.states import HELD, State
from surehand.worker.conclusion import Conclusion
from surehand.worker.ended import Ended
from surehand.worker.endings import through_outage, to_dead_letters, until
from surehand.worker.plan import Step
from surehand.worker.ports import Ports
from surehand.worker.receive import Message, Refused
from surehand.worker.settlers import Settler
from surehand.worker.ticks import Ticks
from surehand.worker.unknown import is_open

_STANDINGS = {
    Standing.ALREADY_APPLIED: Outcome.ALREADY_APPLIED,
    Standing.CANCELED: Outcome.CANCELED,
    Standing.IN_PROGRESS: Outcome.IN_PROGRESS,
    Standing.DEFERRED: Outcome.DEFERRED,
    Standing.KEY_CONFLICT: Outcome.KEY_CONFLICT,
    Standing.FAST_FORWARDED: Outcome.FAST_FORWARDED,
    Standing.UNAVAILABLE: Outcome.UNCLAIMED,
}


#: What tells of a run that was cut short although no attempt ends by it. Others only carry its code on.
_OF_A_RUN = frozenset({Outcome.CONTINUED, Outcome.HELD, Outcome.SUCCEEDED})


class Settling:
    """Ends the deliveries of one invocation, in whatever order they end.

    `away` is the answer of a ledger that did not take an outcome. Nothing is begun from then on: an effect could not
    be recorded, and each further try would spend seconds that the answer to Lambda needs.
    """

    def __init__(
        self, handler: Handler[Any], ended: Ended, *, ports: Ports, settler: Settler, ticks: Ticks | None
    ) -> None:
        self._ended = ended
        self._handler = handler
        self._ports = ports
        self._settler = settler
        self._ticks = ticks
        self.away: Unavailable | None = None

    def acknowledge(self) -> None:
        """Delete what has ended well so far, once its outcome is durable.

        Before a suspect runs: if it takes the process with it, there is no answer to Lambda, and all that had ended
        well would be received once more for it.
        """
        self._settler.flush()
        self._ended.delete(self._ports.queues, self._handler.name)

    def still_running(self, step: Step) -> None:
        """End a step whose handler could not be stopped: it keeps its lease, so that nobody runs it beside it (P9)."""
        now = self._ports.clock.now()
        operation = step.answer.operation if isinstance(step.answer, Claimed) else None
        ends = operation.lease_until if operation is not None else None
        for one in step.all:
            self._ended.add(
                one,
                step,
                operation,
                outcome=Outcome.STILL_RUNNING,
                wait=max(until(ends, now), timedelta(seconds=1)),
                code="effect.timeout",
                phase="run",
                interrupted=True,
            )

    def settle(
        self,
        step: Step,
        operation: Operation,
        conclusion: Conclusion,
        *,
        duration: timedelta | None = None,
    ) -> None:
        """Hand the outcome to the settler; the deliveries end when the ledger has answered."""
        write = self._write(step, operation, conclusion)

        def answered(answer: Answer) -> None:
            canceled = self.canceled_meanwhile(answer, operation)
            if canceled is not None:
                self._settle_canceled(step, canceled, conclusion, duration)
            elif isinstance(answer, Written):
                self._end(step, write.operation, conclusion, duration=duration)
            else:
                self.unconfirmed(step, operation, answer, conclusion, duration=duration)

        self._settler.submit(write, answered)

    def _write(self, step: Step, operation: Operation, conclusion: Conclusion) -> Write:
        now = self._ports.clock.now()
        final = conclusion.state is State.PERMANENTLY_FAILED
        plain = conclusion.attempted and conclusion.outcome is not Outcome.UNKNOWN
        return settle(
            operation,
            conclusion.state,
            now=now,
            retention=self._ports.retention,
            code=conclusion.code,
            result=conclusion.result,
            not_before=now + conclusion.wait if conclusion.wait else None,
            attempted=conclusion.attempted,
            message_id=step.message.delivery.message_id,
            failed_ids=_all_ids(step) if final else (),
            note=conclusion.note or (None if plain else conclusion.outcome.value),
            afresh=conclusion.afresh,
            held=conclusion.outcome is Outcome.HELD,
        )

    def canceled_meanwhile(self, answer: Answer, mine: Operation) -> Operation | None:
        """Return the item if the write was refused only because an operator asked for a cancel (P8)."""
        existing = answer.existing if isinstance(answer, NotWritten) else None
        if existing is None or not existing.cancel_requested or existing.state not in HELD:
            return None
        return existing if (existing.owner, existing.fence) == (mine.owner, mine.fence) else None

    def _settle_canceled(
        self, step: Step, existing: Operation, conclusion: Conclusion, duration: timedelta | None
    ) -> None:
        """A requested cancel takes effect at the settle, unless the effect has happened by then, or may have."""
        ended = conclusion.state in (State.SUCCEEDED, State.CANCELED)
        if not ended and not is_open(conclusion, existing, self._handler.options):
            conclusion = replace(conclusion, outcome=Outcome.CANCELED, state=State.CANCELED, wait=None)
        write = self._write(step, existing, conclusion)
        answer = write_surely(self._ports.ledger, [write], now=self._ports.clock.now())[0]
        if isinstance(answer, Written):
            self._end(step, write.operation, conclusion, duration=duration)
        else:
            self.unconfirmed(step, existing, answer, conclusion, duration=duration)

    def _end(
        self,
        step: Step,
        operation: Operation,
        conclusion: Conclusion,
        *,
        duration: timedelta | None = None,
    ) -> None:
        wait = self._wait(conclusion.outcome, conclusion.wait)
        if self._ticks is not None:
            self._ticks.ended(operation, now=self._ports.clock.now())
        told = conclusion.attempted or conclusion.outcome in _OF_A_RUN
        interrupted = told and (conclusion.code or "").startswith("effect.")
        for one in step.all:
            copied = one is not step.message
            outcome = conclusion.outcome
            if copied and outcome is Outcome.SUCCEEDED:
                outcome = Outcome.ALREADY_APPLIED
            self._ended.add(
                one,
                step,
                operation,
                outcome=outcome,
                wait=wait,
                code=conclusion.code,
                detail=conclusion.note,
                origin=conclusion.origin,
                notice=conclusion.notice,
                phase="run" if conclusion.attempted or duration is not None else _phase(one),
                attempt=operation.attempts if conclusion.attempted and not copied else None,
                interrupted=interrupted and not copied,
                duration=None if copied else duration,
            )

    def unconfirmed(
        self,
        step: Step,
        operation: Operation,
        answer: Answer,
        conclusion: Conclusion,
        *,
        duration: timedelta | None = None,
    ) -> None:
        """Nobody knows whether the outcome is recorded, or somebody else owns the operation by now."""
        now = self._ports.clock.now()
        lost = isinstance(answer, NotWritten)
        if isinstance(answer, Unavailable):
            self.away = answer
        existing = answer.existing if isinstance(answer, NotWritten) else None
        ends = existing.lease_until if existing is not None else operation.lease_until
        for one in step.all:
            self._ended.add(
                one,
                step,
                existing or operation,
                outcome=Outcome.FENCE_LOST if lost else Outcome.UNCONFIRMED,
                wait=max(until(ends, now), timedelta(seconds=1)),
                code="ledger.fence_lost" if lost else "ledger.unavailable",
                phase="settle",
                detail=answer.reason if isinstance(answer, Unavailable) else conclusion.outcome.value,
                origin=conclusion.origin,
                notice=conclusion.notice,
                duration=duration if one is step.message else None,
            )

    def answered(self, step: Step, answer: NotClaimed) -> None:
        """End what the ledger answered without a claim."""
        outcome = _STANDINGS[answer.standing]
        existing = answer.existing
        now = self._ports.clock.now()
        if outcome is Outcome.ALREADY_APPLIED and existing is not None:
            write = renewed(existing, now=now, retention=self._ports.retention)
            if write is not None:
                self._settler.submit(write, lambda _: None)  # answered from a live item: renewing it is a courtesy
        for one in step.all:
            if outcome is Outcome.UNCLAIMED:
                wait: timedelta | None = through_outage(one.delivery.receive_count, self._ports.random)
            elif answer.until is not None:
                wait = max(until(answer.until, now), timedelta(seconds=1))
            else:
                wait = self._wait(outcome, None)
            self._ended.add(
                one,
                step,
                existing,
                outcome=outcome,
                wait=wait,
                code="ledger.unavailable" if outcome is Outcome.UNCLAIMED else existing.code if existing else None,
                phase="claim",
                detail=answer.reason,
            )

    def _wait(self, outcome: Outcome, chosen: timedelta | None) -> timedelta | None:
        if chosen is not None:
            return chosen
        meaning = OUTCOMES[outcome]
        return None if meaning.deleted or meaning.holds else to_dead_letters(self._handler, self._ports.random)


def _all_ids(step: Step) -> list[str]:
    """The ids of a step's messages, and those of the messages that they are renewals of."""
    deliveries = [one.delivery for one in step.all]
    origins = [delivery.origin for delivery in deliveries if isinstance(delivery, Delivery)]
    return [*origins, *(delivery.message_id for delivery in deliveries)]


def _phase(one: Message | Refused) -> str:
    return one.phase if isinstance(one, Refused) else "claim"
