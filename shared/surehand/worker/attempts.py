"""Phase run: one attempt at each claimed operation, inside the deadline guard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from surehand.declare import Handler
from surehand.declare.options import Options
from surehand.job import Job
from surehand.ledger import Claimed, NotClaimed, NotWritten, Operation, Unavailable, Written, started, write_surely
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.worker.calling import call
from surehand.worker.conclude import conclude
from surehand.worker.conclusion import Conclusion, Raised, StillRunning, condemned
from surehand.worker.deadline import interrupted_after, reserve_for
from surehand.worker.ended import Ended
from surehand.worker.endings import Ending
from surehand.worker.handing_over import Superseded
from surehand.worker.kept import within_retention
from surehand.worker.past import cut_short
from surehand.worker.plan import Step
from surehand.worker.ports import Invocation, Ports
from surehand.worker.receive import Message, Refused
from surehand.worker.scan import Scan
from surehand.worker.settlers import Settler
from surehand.worker.settling import Settling
from surehand.worker.ticks import Ticks
from surehand.worker.unknown import before_a_run


class Attempts:
    """The attempts of one invocation: each step that is taken ends as an entry per delivery in `endings`."""

    def __init__(self, handler: Handler[Any], *, invocation: Invocation, ports: Ports, settler: Settler) -> None:
        self.handler = handler
        self._invocation = invocation
        self._ports = ports
        self._reserve = reserve_for(handler.options.timeout)
        timing = handler.options.timing
        self._ticks = None if timing is None else Ticks(handler, timing, ports)
        self._ended = Ended()
        self._settling = Settling(handler, self._ended, ports=ports, settler=settler, ticks=self._ticks)

    @property
    def endings(self) -> Mapping[int, Ending]:
        """What has ended so far, by the delivery's place in the event."""
        return self._ended.endings

    @property
    def grace(self) -> timedelta:
        """How long beyond the handlers' deadline several at once are waited for: half of the reserve."""
        return self._reserve / 2

    def ended(self, step: Step) -> bool:
        """Tell whether all messages of a step have ended."""
        return self._ended.wholly(step)

    def lane_held(self, step: Step) -> bool:
        """Tell whether a message of a FIFO group of this step was put back and must not be overtaken."""
        return self._ended.lane_held(step)

    def still_running(self, step: Step) -> None:
        """End a step whose handler could not be stopped: it keeps its lease (P9)."""
        self._settling.still_running(step)

    def take(self, step: Step) -> None:
        """Bring one step to its end: answered by the ledger, refused, left for later, or run."""
        if isinstance(step.answer, NotClaimed):
            self._settling.answered(step, step.answer)
        elif self._settling.away is not None:
            self._put_back(step, step.answer, self._settling.away)
        elif isinstance(step.message, Refused):
            self._refused(step, step.message, step.answer)
        else:
            self._run(step, step.message, step.answer)

    def leave(self, step: Step) -> None:
        """Release a claimed step without having started it (the lane is held, or there is no time left)."""
        if isinstance(step.answer, NotClaimed):
            self._settling.answered(step, step.answer)
        elif self._settling.away is not None:
            self._put_back(step, step.answer, self._settling.away)
        else:
            self._settling.settle(step, step.answer.operation, _unstarted(step.answer.operation))

    def _put_back(self, step: Step, claimed: Claimed, away: Unavailable) -> None:
        """Leave a step, and its lease to its end: a ledger that took no outcome is not asked to release it."""
        self._settling.unconfirmed(step, claimed.operation, away, _unstarted(claimed.operation))

    def _run(self, step: Step, message: Message, claimed: Claimed) -> None:
        now = self._ports.clock.now()
        operation = claimed.operation
        if not self._in_time(now):
            self.leave(step)
            return
        until = self._invocation.deadline - self._reserve
        scan = Scan(operation, ports=self._ports, until=until, reserve=self._reserve)
        job = self._job(message, claimed, scan)
        options = within_retention(self.handler, operation, [one.delivery for one in step.all])
        instead = self._instead(message, claimed, job, options, now=now)
        if instead is not None:
            self._settling.settle(step, operation, instead)
            return
        if claimed.suspect:
            self._settling.acknowledge()
        if claimed.suspect or self.handler.options.on_unknown != "retry":
            marked = self._marked(step, operation)
            if marked is None:
                return
            operation = marked
            if not self._in_time(self._ports.clock.now()):
                self._settling.settle(step, operation, _unstarted(operation))
                return
        began = self._ports.clock.now()
        ended = call(self.handler, message, job, loop=self._ports.loop, left=self._left())
        now = self._ports.clock.now()
        if ended is None:
            self._settling.settle(step, operation, _unstarted(operation))
            return
        if isinstance(ended, Raised) and isinstance(ended.error, StillRunning):
            self._settling.still_running(step)
            return
        if isinstance(ended, Raised) and isinstance(ended.error, Superseded):
            lost = Conclusion(outcome=Outcome.FENCE_LOST, state=operation.state)
            self._settling.unconfirmed(step, operation, NotWritten(ended.error.existing), lost, duration=now - began)
            return
        conclusion = conclude(
            ended,
            operation,
            options,
            ask=self._ask(message, job),
            now=now,
            random=self._ports.random,
            moved=scan.moved,
        )
        self._settling.settle(step, operation, conclusion, duration=now - began)

    def _instead(
        self, message: Message, claimed: Claimed, job: Job, options: Options, *, now: datetime
    ) -> Conclusion | None:
        """Return what a claimed operation comes to without being run, or None if it may run.

        *options* bound the waiting. Where SQS will soon delete the message, a last run is better than none.
        """
        if self._asks_first(claimed):
            ask = self._ask_in_time(message, job)
            found = before_a_run(claimed.operation, options, ask=ask, now=now, random=self._ports.random)
            if found is not None:
                return found
        if claimed.operation.cancel_requested:  # it has waited for that answer, which is "no" (P8)
            return Conclusion(
                outcome=Outcome.CANCELED, state=State.CANCELED, code=claimed.operation.code, attempted=False
            )
        final = condemned(claimed.operation, self.handler.options, poison=claimed.poison, now=now)
        if final is None and self._ticks is not None:
            final = self._ticks.hold_back(claimed, message.delivery, now=now)
        return final

    def _left(self) -> timedelta:
        return self._invocation.deadline - self._reserve - self._ports.clock.now()

    def _in_time(self, now: datetime) -> bool:
        """Tell whether there is time to begin a handler."""
        return self._invocation.deadline - now >= 2 * self._reserve

    def _asks_first(self, claimed: Claimed) -> bool:
        """With a policy for the unknown, `processing` was written before the run, so a lapsed one means it ran (P5).

        The marks remember it until an attempt is settled, also through a claim whose own holder died or never knew of
        it, and for a message that is or looks like a redrive (P1): that is an operator's word about a hold, not about
        a question that was never answered. Poison is asked about before it is condemned.
        """
        policy, code = self.handler.options.on_unknown, claimed.operation.code or ""
        if policy == "retry":
            return False
        unresolved = code == "effect.unanswered" if claimed.redrive else code.startswith("effect.")
        return claimed.crashed or (callable(policy) and unresolved)

    def _ask(self, message: Message, job: Job) -> Callable[[], bool | None] | None:
        policy = self.handler.options.on_unknown
        if not callable(policy):
            return None
        return lambda: policy(message.payload, job)

    def _ask_in_time(self, message: Message, job: Job) -> Callable[[], bool | None] | None:
        """As `_ask`, inside the deadline guard: before a run there is time, but not without end."""
        ask = self._ask(message, job)
        if ask is None:
            return None

        def guarded() -> bool | None:
            with interrupted_after(self._left()):
                return ask()

        return guarded

    def _marked(self, step: Step, operation: Operation) -> Operation | None:
        """Write `processing` before the run (P3, P5); without that mark nothing runs."""
        write = started(operation, now=self._ports.clock.now())
        answer = write_surely(
            self._ports.ledger, [write], now=self._ports.clock.now(), in_time=lambda: self._left() > timedelta(0)
        )[0]
        if isinstance(answer, Written):
            return write.operation
        if self._settling.canceled_meanwhile(answer, operation) is not None:
            self.leave(step)
        else:
            self._settling.unconfirmed(
                step, operation, answer, Conclusion(outcome=Outcome.UNCONFIRMED, state=operation.state)
            )
        return None

    def _job(self, message: Message, claimed: Claimed, scan: Scan) -> Job:
        operation = claimed.operation
        attempt = operation.attempts + 1
        marked = self.handler.options.on_unknown != "retry"
        ran = (claimed.crashed if marked else claimed.suspect) or cut_short(operation.history, marked=marked)
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
        self._settling.settle(step, claimed.operation, conclusion)


def _unstarted(operation: Operation) -> Conclusion:
    return Conclusion(
        outcome=Outcome.UNSTARTED, state=State.PENDING, wait=timedelta(0), attempted=False, code=operation.code
    )
