"""Phases run and settle: one attempt at each claimed operation, and what every delivery of the batch comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from surehand.declare import Handler
from surehand.delivery import Delivery
from surehand.job import Job
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
    started,
    write_surely,
)
from surehand.outcomes import OUTCOMES, Outcome
from surehand.states import HELD, State
from surehand.worker.conclude import Conclusion, Raised, Returned, StillRunning, condemned, unknown
from surehand.worker.conclude import conclude as conclude_attempt
from surehand.worker.context import telling_of
from surehand.worker.deadline import interrupted_after, reserve_for
from surehand.worker.endings import Ending, through_outage, to_dead_letters, until
from surehand.worker.handing_over import Superseded
from surehand.worker.plan import Step
from surehand.worker.ports import Invocation, Ports
from surehand.worker.receive import Message, Refused
from surehand.worker.scan import Scan
from surehand.worker.settlers import Settler
from surehand.worker.ticks import Ticks

_STANDINGS = {
    Standing.ALREADY_APPLIED: Outcome.ALREADY_APPLIED,
    Standing.CANCELED: Outcome.CANCELED,
    Standing.IN_PROGRESS: Outcome.IN_PROGRESS,
    Standing.DEFERRED: Outcome.DEFERRED,
    Standing.KEY_CONFLICT: Outcome.KEY_CONFLICT,
    Standing.FAST_FORWARDED: Outcome.FAST_FORWARDED,
    Standing.UNAVAILABLE: Outcome.UNCLAIMED,
}


class Attempts:
    """The attempts of one invocation: `endings` grows by one entry per delivery, in whatever order they end."""

    def __init__(self, handler: Handler[Any], *, invocation: Invocation, ports: Ports, settler: Settler) -> None:
        self.handler = handler
        self.endings: dict[int, Ending] = {}
        self._invocation = invocation
        self._ports = ports
        self._settler = settler
        self._reserve = reserve_for(handler.options.timeout)
        self._held: set[str | None] = set()
        timing = handler.options.timing
        self._ticks = None if timing is None else Ticks(handler, timing, ports)

    def lane_held(self, step: Step) -> bool:
        """Tell whether a message of a FIFO group of this step was put back and must not be overtaken."""
        return any(one.lane in self._held for one in step.all)

    def take(self, step: Step) -> None:
        """Bring one step to its end: answered by the ledger, refused, left for later, or run."""
        if isinstance(step.answer, NotClaimed):
            self._answered(step, step.answer)
        elif isinstance(step.message, Refused):
            self._refused(step, step.message, step.answer)
        else:
            self._run(step, step.message, step.answer)

    def leave(self, step: Step) -> None:
        """Release a claimed step without having started it (the lane is held, or there is no time left)."""
        if isinstance(step.answer, Claimed):
            conclusion = Conclusion(
                outcome=Outcome.UNSTARTED,
                state=State.PENDING,
                wait=timedelta(0),
                attempted=False,
                code=step.answer.operation.code,
            )
            self._settle(step, step.answer.operation, conclusion)
        else:
            self._answered(step, step.answer)

    def still_running(self, step: Step) -> None:
        """End a step whose handler could not be stopped: it keeps its lease, so that nobody runs it beside it (P9)."""
        now = self._ports.clock.now()
        operation = step.answer.operation if isinstance(step.answer, Claimed) else None
        ends = operation.lease_until if operation is not None else None
        for one in step.all:
            self._ended(
                one,
                step,
                operation,
                outcome=Outcome.STILL_RUNNING,
                wait=max(until(ends, now), timedelta(seconds=1)),
                code="effect.timeout",
                phase="run",
                interrupted=True,
            )

    def _run(self, step: Step, message: Message, claimed: Claimed) -> None:
        now = self._ports.clock.now()
        operation = claimed.operation
        if self._invocation.deadline - now < 2 * self._reserve:
            self.leave(step)
            return
        final = condemned(operation, self.handler.options, poison=claimed.poison, now=now)
        if final is None and self._ticks is not None:
            final = self._ticks.hold_back(claimed, message.delivery, now=now)
        if final is not None:
            self._settle(step, operation, final)
            return
        until = self._invocation.deadline - self._reserve
        scan = Scan(operation, ports=self._ports, until=until, reserve=self._reserve)
        job = self._job(message, claimed, scan)
        if self._asks_first(claimed):
            answer = self._unknown(message, operation, job)
            if answer.outcome is not Outcome.UNKNOWN:
                self._settle(step, operation, replace(answer, attempted=False))
                return
        if claimed.suspect or self.handler.options.on_unknown != "retry":
            self._settler.flush()
            marked = self._marked(step, operation)
            if marked is None:
                return
            operation = marked
        began = self._ports.clock.now()
        ended = self._call(message, job)
        now = self._ports.clock.now()
        if isinstance(ended, Raised) and isinstance(ended.error, StillRunning):
            self.still_running(step)
            return
        if isinstance(ended, Raised) and isinstance(ended.error, Superseded):
            lost = Conclusion(outcome=Outcome.FENCE_LOST, state=operation.state)
            self._unconfirmed(step, operation, NotWritten(ended.error.existing), lost, duration=now - began)
            return
        conclusion = conclude_attempt(
            ended,
            operation,
            self.handler.options,
            ask=self._ask(message, job),
            now=now,
            random=self._ports.random,
            moved=scan.moved,
        )
        self._settle(step, operation, conclusion, duration=now - began)

    def _call(self, message: Message, job: Job) -> Returned | Raised:
        """Run the handler inside the deadline guard. What it raises is its outcome, whatever it is."""
        ended: Returned | Raised | None = None
        left = self._invocation.deadline - self._reserve - self._ports.clock.now()
        try:
            with telling_of(self.handler, message, job), interrupted_after(left):
                value = self.handler.run(message.payload, job)
                if self.handler.is_async:
                    value = self._ports.loop.result(value, timeout=left)
                ended = Returned(value)
        except BaseException as error:  # noqa: BLE001 - whatever a handler raises is its own outcome
            return ended or Raised(error)
        return ended

    def _asks_first(self, claimed: Claimed) -> bool:
        """With a policy for the unknown, `processing` was written before the run, so a lapsed one means it ran (P5).

        The marks remember it until an attempt is settled, also through a claim whose own holder died or never knew of
        it, and for a message that only looks like a redrive, as a producer's duplicate does (P1).
        """
        policy = self.handler.options.on_unknown
        if policy == "retry":
            return False
        unresolved = callable(policy) and (claimed.operation.code or "").startswith("effect.")
        return claimed.crashed or (unresolved and not claimed.redrive)

    def _unknown(self, message: Message, operation: Operation, job: Job) -> Conclusion:
        return unknown(
            "effect.interrupted",
            None,
            operation,
            self.handler.options,
            ask=self._ask(message, job),
            now=self._ports.clock.now(),
            random=self._ports.random,
        )

    def _ask(self, message: Message, job: Job) -> Callable[[], bool | None] | None:
        policy = self.handler.options.on_unknown
        if not callable(policy):
            return None
        return lambda: policy(message.payload, job)

    def _marked(self, step: Step, operation: Operation) -> Operation | None:
        """Write `processing` before the run (P3, P5); without that mark nothing runs."""
        write = started(operation, now=self._ports.clock.now())
        answer = write_surely(self._ports.ledger, [write], now=self._ports.clock.now())[0]
        if isinstance(answer, Written):
            return write.operation
        if self._canceled_meanwhile(answer, operation) is not None:
            self.leave(step)
        else:
            self._unconfirmed(step, operation, answer, Conclusion(outcome=Outcome.UNCONFIRMED, state=operation.state))
        return None

    def _job(self, message: Message, claimed: Claimed, scan: Scan) -> Job:
        operation = claimed.operation
        attempt = operation.attempts + 1
        ran = claimed.suspect if self.handler.options.on_unknown == "retry" else claimed.crashed
        return Job(
            operation=operation.id,
            tenant=operation.tenant,
            attempt=attempt,
            last_attempt=attempt >= self.handler.options.max_attempts,
            interrupted=ran or (operation.code or "").startswith("effect."),
            deadline=self._invocation.deadline,
            sent_at=message.delivery.sent_at,
            attributes=message.attributes,
            cursors=scan,
        )

    def _refused(self, step: Step, refused: Refused, claimed: Claimed) -> None:
        outcome = Outcome.KEY_CONFLICT if refused.code == "input.conflict" else Outcome.REJECTED
        conclusion = Conclusion(outcome=outcome, state=State.PERMANENTLY_FAILED, code=refused.code, attempted=False)
        self._settle(step, claimed.operation, conclusion)

    def _settle(
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
            canceled = self._canceled_meanwhile(answer, operation)
            if canceled is not None:
                self._settle_canceled(step, canceled, conclusion, duration)
            elif isinstance(answer, Written):
                self._end(step, write.operation, conclusion, duration=duration)
            else:
                self._unconfirmed(step, operation, answer, conclusion, duration=duration)

        self._settler.submit(write, answered)

    def _write(self, step: Step, operation: Operation, conclusion: Conclusion) -> Write:
        now = self._ports.clock.now()
        final = conclusion.state is State.PERMANENTLY_FAILED
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
            note=conclusion.note or (None if conclusion.attempted else conclusion.outcome.value),
            afresh=conclusion.afresh,
        )

    def _canceled_meanwhile(self, answer: Answer, mine: Operation) -> Operation | None:
        """Return the item if the write was refused only because an operator asked for a cancel (P8)."""
        existing = answer.existing if isinstance(answer, NotWritten) else None
        if existing is None or not existing.cancel_requested or existing.state not in HELD:
            return None
        return existing if (existing.owner, existing.fence) == (mine.owner, mine.fence) else None

    def _settle_canceled(
        self, step: Step, existing: Operation, conclusion: Conclusion, duration: timedelta | None
    ) -> None:
        """A requested cancel takes effect at the settle, unless the effect has happened by then."""
        if conclusion.state not in (State.SUCCEEDED, State.CANCELED):
            conclusion = replace(conclusion, outcome=Outcome.CANCELED, state=State.CANCELED, wait=None)
        write = self._write(step, existing, conclusion)
        answer = write_surely(self._ports.ledger, [write], now=self._ports.clock.now())[0]
        if isinstance(answer, Written):
            self._end(step, write.operation, conclusion, duration=duration)
        else:
            self._unconfirmed(step, existing, answer, conclusion, duration=duration)

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
        interrupted = conclusion.code is not None and conclusion.code.startswith("effect.")
        for one in step.all:
            copied = one is not step.message
            outcome = conclusion.outcome
            if copied and outcome is Outcome.SUCCEEDED:
                outcome = Outcome.ALREADY_APPLIED
            self._ended(
                one,
                step,
                operation,
                outcome=outcome,
                wait=wait,
                code=conclusion.code,
                detail=conclusion.note,
                phase="run" if conclusion.attempted else _phase(one),
                attempt=operation.attempts if conclusion.attempted and not copied else None,
                interrupted=interrupted and not copied,
                duration=None if copied else duration,
            )

    def _unconfirmed(
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
        existing = answer.existing if isinstance(answer, NotWritten) else None
        ends = existing.lease_until if existing is not None else operation.lease_until
        for one in step.all:
            self._ended(
                one,
                step,
                existing or operation,
                outcome=Outcome.FENCE_LOST if lost else Outcome.UNCONFIRMED,
                wait=max(until(ends, now), timedelta(seconds=1)),
                code="ledger.fence_lost" if lost else "ledger.unavailable",
                phase="settle",
                detail=answer.reason if isinstance(answer, Unavailable) else conclusion.outcome.value,
                duration=duration if one is step.message else None,
            )

    def _answered(self, step: Step, answer: NotClaimed) -> None:
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
            self._ended(
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
        return None if meaning.deleted or meaning.holds else to_dead_letters(self.handler, self._ports.random)

    def _ended(self, one: Message | Refused, step: Step, operation: Operation | None, **told: Any) -> None:
        identity = one.identity if isinstance(one, Message) else None
        if isinstance(one, Refused) and told.get("detail") is None:
            told["detail"] = one.detail
        ending = Ending(
            index=one.index,
            delivery=one.delivery,
            operation_id=identity.operation if identity else None,
            tenant=identity.tenant if identity else None,
            operation=operation,
            redrive=isinstance(step.answer, Claimed) and step.answer.redrive,
            **told,
        )
        if ending.holds:
            self._held.add(one.lane)
        self.endings[one.index] = ending


def _all_ids(step: Step) -> list[str]:
    """The ids of a step's messages, and those of the messages that they are renewals of."""
    deliveries = [one.delivery for one in step.all]
    origins = [delivery.origin for delivery in deliveries if isinstance(delivery, Delivery)]
    return [*origins, *(delivery.message_id for delivery in deliveries)]


def _phase(one: Message | Refused) -> str:
    return one.phase if isinstance(one, Refused) else "claim"
