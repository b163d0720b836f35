"""From what a handler did to what is written: one row of the outcome table per branch, pure arithmetic."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

from surehand.classify import classify
from surehand.codes import code_of_type
from surehand.declare.options import Options
from surehand.errors import ConfigurationError, CursorUnreadable, LedgerUnavailable
from surehand.ledger import Operation
from surehand.outcomes import Cancel, Defer, Fate, Outcome, Reject, Unknown
from surehand.results import encode, is_kept
from surehand.states import State
from surehand.worker.conclusion import (
    Conclusion,
    Raised,
    Returned,
    SoftDeadline,
    Unrun,
    bounded,
    chosen_wait,
    condemn,
    failed,
)
from surehand.worker.handing_over import MOST_UNMOVED, MOVED, UNMOVED, HandOver, unmoved_in_a_row
from surehand.worker.origin import origin
from surehand.worker.receive import Notice
from surehand.worker.unknown import Ask, unknown


def conclude(
    ended: Returned | Raised,
    operation: Operation,
    options: Options,
    *,
    ask: Ask | None,
    now: datetime,
    random: Random,
    moved: bool,
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
    if isinstance(ended, Raised):
        concluded = replace(
            concluded,
            origin=concluded.origin or origin(ended.error) or (origin(ended.beside) if ended.beside else None),
            notice=_notice_of(ended.error) or concluded.notice,
        )
    return replace(concluded, afresh=True) if moved else concluded


def _conclude(
    ended: Returned | Raised, operation: Operation, options: Options, *, ask: Ask | None, now: datetime, random: Random
) -> Conclusion:
    if isinstance(ended, Returned):
        result = encode(ended.value)
        return Conclusion(
            outcome=Outcome.SUCCEEDED,
            state=State.SUCCEEDED,
            result=result,
            notice=None if is_kept(result) else _unkept(ended.value),
        )
    error = ended.error
    if isinstance(error, Cancel):
        return Conclusion(outcome=Outcome.CANCELED, state=State.CANCELED, code=_code_of(error))
    if isinstance(error, Reject):
        return Conclusion(outcome=Outcome.REJECTED, state=State.PERMANENTLY_FAILED, code=_code_of(error))
    if isinstance(error, Defer):
        wait = chosen_wait(error, now)
        return bounded(
            Conclusion(
                outcome=Outcome.DEFERRED,
                state=State.PENDING,
                code=_code_of(error),
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
        code = _code_of(error) if isinstance(error, Unknown) else "effect.timeout"
        return unknown(code, error, operation, options, ask=ask, now=now, random=random)
    return failed(Outcome.RETRY, _code_of(error), error, operation, options, now=now, random=random)


def _unkept(value: object) -> Notice:
    kind = type(value).__name__[:64]
    return Notice("code.result", f"the returned {kind} is not kept: return JSON, a pydantic model or a dataclass")


def _notice_of(error: BaseException) -> Notice | None:
    """What the author must be told of a mistake in the code, in words of ours that hold no value."""
    if isinstance(error, Fate) and _code_of(error) == "code.bad_code":
        return Notice(
            "code.bad_code",
            f"{type(error).__name__}(…) was given a code that is not <class>.<name>: lower-case letters, digits and _, "
            "a dot, then letters, digits and _, at most 100 characters",
        )
    if isinstance(error, Unrun):
        return Notice("code.unrun", "the handler returned a generator: nothing of it runs before somebody iterates it")
    if type(error) is ConfigurationError:
        return Notice("code.ConfigurationError", str(error))
    return None


def _code_of(error: BaseException) -> str:
    if isinstance(error, LedgerUnavailable):
        return "ledger.unavailable"
    if isinstance(error, Unrun):
        return "code.unrun"
    try:
        if isinstance(error, Fate):
            return "code.bad_code" if error.miscoded else error.code
        return classify(error)
    except BaseException:  # noqa: BLE001 - an attribute of the user's exception that raises must not end its neighbours too
        return "code.bad_code" if isinstance(error, Fate) else code_of_type(error)


def _handed_over(error: HandOver, operation: Operation, options: Options, *, moved: bool, now: datetime) -> Conclusion:
    """The run goes on in another invocation, unless it has taken too long or gets nowhere."""
    if now - operation.started_at > options.give_up_after:
        return condemn(Outcome.EXHAUSTED, "schedule.too_long")
    if not moved and unmoved_in_a_row(operation.history) + 1 >= MOST_UNMOVED:
        return condemn(Outcome.EXHAUSTED, "schedule.no_progress")
    return Conclusion(
        outcome=Outcome.CONTINUED,
        state=State.PENDING,
        code=error.code,
        wait=timedelta(0),
        attempted=False,
        note=MOVED if moved else UNMOVED,
    )
