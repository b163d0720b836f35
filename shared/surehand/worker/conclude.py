"""From what a handler did to what is written: one row of the outcome table per branch, pure arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random

from surehand.classify import classify
from surehand.codes import code_of_type
from surehand.declare.options import Options
from surehand.errors import CursorUnreadable, LedgerUnavailable
from surehand.ledger import Operation
from surehand.outcomes import Cancel, Defer, Fate, Outcome, Reject, Retry, Unknown
from surehand.results import encode
from surehand.states import HELD, State
from surehand.worker.handing_over import MOST_UNMOVED, MOVED, UNMOVED, HandOver, is_hand_over, unmoved_in_a_row


class SoftDeadline(BaseException):
    """Raised inside a handler shortly before Lambda would kill the process. `except Exception` does not catch it."""


class StillRunning(BaseException):
    """The handler was asked to stop and did not. It may be running still, so nobody else may run it."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The handler came to its end."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """The handler raised."""

    error: BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What to write for an attempt and what it is called.

    *note* is what the history says instead of the outcome's name. *afresh*: a cursor has moved, so earlier failures do
    not count any more.
    """

    outcome: Outcome
    state: State
    code: str | None = None
    result: str | None = None
    wait: timedelta | None = None
    attempted: bool = True
    note: str | None = None
    afresh: bool = False


#: Asks the provider about an unknown effect: True applied, False not applied, None nobody knows.
Ask = Callable[[], bool | None]


def conclude(
    ended: Returned | Raised,
    operation: Operation,
    options: Options,
    *,
    ask: Ask | None,
    now: datetime,
    random: Random,
    moved: bool = False,
) -> Conclusion:
    """Return what an attempt comes to.

    *operation* is the claim as it stood during the attempt. *ask* is the bound `on_unknown` callable, if one is
    declared. *moved* says whether the attempt moved a cursor: earlier failures do not count then, and an interruption
    is a hand-over, since the next invocation goes on from the cursor with the same keys.
    """
    if isinstance(ended, Raised) and isinstance(ended.error, SoftDeadline) and moved and options.on_unknown == "retry":
        ended = Raised(HandOver("effect.timeout"))
    if isinstance(ended, Raised) and isinstance(ended.error, HandOver):
        concluded = _handed_over(ended.error, operation, options, moved=moved, now=now)
    else:
        known = replace(operation, attempts=0) if moved else operation
        concluded = _conclude(ended, known, options, ask=ask, now=now, random=random)
    return replace(concluded, afresh=True) if moved else concluded


def _conclude(
    ended: Returned | Raised, operation: Operation, options: Options, *, ask: Ask | None, now: datetime, random: Random
) -> Conclusion:
    if isinstance(ended, Returned):
        return Conclusion(outcome=Outcome.SUCCEEDED, state=State.SUCCEEDED, result=encode(ended.value))
    error = ended.error
    if isinstance(error, Cancel):
        return Conclusion(outcome=Outcome.CANCELED, state=State.CANCELED, code=error.code)
    if isinstance(error, Reject):
        return Conclusion(outcome=Outcome.REJECTED, state=State.PERMANENTLY_FAILED, code=error.code)
    if isinstance(error, Defer):
        wait = error.wait(now)
        return bounded(
            Conclusion(
                outcome=Outcome.DEFERRED,
                state=State.PENDING,
                code=error.code,
                wait=options.backoff.wait(operation.attempts + 1, random) if wait is None else wait,
                attempted=False,
            ),
            operation,
            options,
            now,
        )
    if isinstance(error, CursorUnreadable):
        return Conclusion(outcome=Outcome.REJECTED, state=State.PERMANENTLY_FAILED, code="schedule.cursor")
    if isinstance(error, Unknown | SoftDeadline):
        code = error.code if isinstance(error, Unknown) else "effect.timeout"
        return unknown(code, error, operation, options, ask=ask, now=now, random=random)
    code = error.code if isinstance(error, Fate) else _code_of(error)
    return failed(Outcome.RETRY, code, error, operation, options, now=now, random=random)


def _code_of(error: BaseException) -> str:
    if isinstance(error, LedgerUnavailable):
        return "ledger.unavailable"
    try:
        return classify(error)
    except Exception:  # noqa: BLE001 - an attribute of the user's exception that raises must not end its neighbours too
        return code_of_type(error)


def _handed_over(error: HandOver, operation: Operation, options: Options, *, moved: bool, now: datetime) -> Conclusion:
    """The run goes on in another invocation, unless it has taken too long or gets nowhere."""
    if now - operation.started_at > options.give_up_after:
        return _condemned(Outcome.EXHAUSTED, "schedule.too_long")
    if not moved and unmoved_in_a_row(operation.history) + 1 >= MOST_UNMOVED:
        return _condemned(Outcome.EXHAUSTED, "schedule.no_progress")
    return Conclusion(
        outcome=Outcome.CONTINUED,
        state=State.PENDING,
        code=error.code,
        wait=timedelta(0),
        attempted=False,
        note=MOVED if moved else UNMOVED,
    )


def unknown(
    code: str,
    error: BaseException | None,
    operation: Operation,
    options: Options,
    *,
    ask: Ask | None,
    now: datetime,
    random: Random,
) -> Conclusion:
    """Return what `on_unknown` makes of an attempt whose effect nobody knows."""
    if options.on_unknown == "retry":
        return failed(Outcome.UNKNOWN, code, error, operation, options, now=now, random=random)
    try:
        applied = ask() if ask is not None else None
    except Exception as unasked:  # noqa: BLE001 - the provider that is asked is often the one that is away
        if operation.attempts + 1 >= options.max_attempts:
            return _HELD
        return _asked_again(
            Outcome.UNKNOWN, State.RETRYABLE_FAILED, unasked, operation, options, now=now, random=random
        )
    if applied is True:
        return Conclusion(outcome=Outcome.SUCCEEDED, state=State.SUCCEEDED, code=code)
    if applied is False:
        return failed(Outcome.UNKNOWN, code, error, operation, options, now=now, random=random)
    return _HELD


def before_a_run(
    operation: Operation, options: Options, *, ask: Ask | None, now: datetime, random: Random
) -> Conclusion | None:
    """Return what becomes of an operation whose last run has died, or None if its effect has not happened.

    No attempt ends here, and none is counted: a run that died has left a mark, not an attempt.
    """
    try:
        applied = ask() if ask is not None else None
    except (Exception, SoftDeadline) as unasked:  # noqa: BLE001 - see `unknown`
        later = _asked_again(Outcome.DEFERRED, State.PENDING, unasked, operation, options, now=now, random=random)
        return replace(later, attempted=False)
    if applied is False:
        return None
    if applied is True:
        return Conclusion(outcome=Outcome.SUCCEEDED, state=State.SUCCEEDED, code="effect.interrupted", attempted=False)
    return replace(_HELD, attempted=False)


_HELD = Conclusion(outcome=Outcome.HELD, state=State.PERMANENTLY_FAILED, code="effect.unknown")


def _asked_again(
    outcome: Outcome,
    state: State,
    unasked: BaseException,
    operation: Operation,
    options: Options,
    *,
    now: datetime,
    random: Random,
) -> Conclusion:
    """The question itself failed: it is asked again before anything runs, and held when the waiting has an end."""
    chosen = unasked.wait(now) if isinstance(unasked, Retry | Defer) else None
    wait = options.backoff.wait(operation.attempts + 1, random) if chosen is None else chosen
    later = bounded(
        Conclusion(outcome=outcome, state=state, code="effect.unanswered", wait=wait), operation, options, now
    )
    return later if later.state is state else _HELD


def failed(
    outcome: Outcome,
    code: str,
    error: BaseException | None,
    operation: Operation,
    options: Options,
    *,
    now: datetime,
    random: Random,
) -> Conclusion:
    """Return what a failed attempt comes to: another one after a wait, or the end of them."""
    attempts = operation.attempts + 1
    if attempts >= options.max_attempts:
        return Conclusion(outcome=Outcome.EXHAUSTED, state=State.PERMANENTLY_FAILED, code=code)
    chosen = error.wait(now) if isinstance(error, Retry | Unknown) else None
    wait = options.backoff.wait(attempts, random) if chosen is None else chosen
    return bounded(
        Conclusion(outcome=outcome, state=State.RETRYABLE_FAILED, code=code, wait=wait), operation, options, now
    )


def bounded(conclusion: Conclusion, operation: Operation, options: Options, now: datetime) -> Conclusion:
    """End the waiting where it would go beyond `give_up_after`."""
    wait = conclusion.wait or timedelta(0)
    if wait <= options.give_up_after - (now - operation.started_at):  # in this order: *wait* may be any length
        return conclusion
    return replace(
        conclusion,
        outcome=Outcome.EXHAUSTED,
        state=State.PERMANENTLY_FAILED,
        code=conclusion.code or "code.gave_up",
        wait=None,
    )


def condemned(operation: Operation, options: Options, *, poison: bool, now: datetime) -> Conclusion | None:
    """Return why an operation must not be run at all, or None."""
    if poison:
        return _condemned(Outcome.REJECTED, "crash.poison")
    if operation.attempts >= options.max_attempts:
        return _condemned(Outcome.EXHAUSTED, operation.code or "code.exhausted")
    if now - operation.started_at > options.give_up_after:
        return _condemned(Outcome.EXHAUSTED, _why_so_old(operation))
    return None


def _why_so_old(operation: Operation) -> str:
    """A run that was handed over last is too long; anything else has failed or waited for too long."""
    settled = next((entry for entry in reversed(operation.history) if entry.state not in HELD), None)
    if settled is not None and is_hand_over(settled):
        return "schedule.too_long"
    return operation.code or "code.gave_up"


def _condemned(outcome: Outcome, code: str) -> Conclusion:
    return Conclusion(outcome=outcome, state=State.PERMANENTLY_FAILED, code=code, attempted=False)
