"""What an attempt can come to, and the arithmetic that all of its ends share: another attempt, or no more."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

from surehand.declare.options import Options
from surehand.ledger import Operation
from surehand.outcomes import Fate, Outcome, Retry, Unknown
from surehand.states import HELD, State
from surehand.worker.handing_over import is_hand_over
from surehand.worker.origin import Origin
from surehand.worker.receive import Notice


class SoftDeadline(BaseException):
    """Raised inside a handler shortly before Lambda would kill the process. `except Exception` does not catch it."""


class NotBegun(SoftDeadline):
    """The deadline came before the first line of a coroutine, and it will not begin any more."""


class StillRunning(BaseException):
    """The handler was asked to stop and did not. It may be running still, so nobody else may run it."""


class Unrun(Exception):
    """The handler returned a generator: whatever it would have done has not been done."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The handler came to its end."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """The handler raised. *beside*: what else broke in the group that the error came in."""

    error: BaseException
    beside: BaseException | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What to write for an attempt and what it is called.

    *note* is what the history says instead of the outcome's name. *afresh*: a cursor has moved, so earlier failures do
    not count any more. *origin* is where what the handler raised comes from, and *notice* what must be told beside.
    """

    outcome: Outcome
    state: State
    code: str | None = None
    result: str | None = None
    wait: timedelta | None = None
    attempted: bool = True
    note: str | None = None
    afresh: bool = False
    origin: Origin | None = field(default=None, compare=False)
    notice: Notice | None = None


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
    chosen = chosen_wait(error, now) if isinstance(error, Retry | Unknown) else None
    wait = options.backoff.wait(attempts, random) if chosen is None else chosen
    return bounded(
        Conclusion(outcome=outcome, state=State.RETRYABLE_FAILED, code=code, wait=wait), operation, options, now
    )


def chosen_wait(fate: Fate, now: datetime) -> timedelta | None:
    """Return the wait that a fate chose, or None for the backoff's choice, also where it cannot be read.

    A subclass has whatever its author gave it, and that must not end its neighbours.
    """
    try:
        wait = fate.wait(now)
    except Exception:  # noqa: BLE001 - see above
        return None
    return wait if isinstance(wait, timedelta) else None


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
        return condemn(Outcome.REJECTED, "crash.poison")
    if operation.attempts >= options.max_attempts:
        return condemn(Outcome.EXHAUSTED, operation.code or "code.exhausted")
    if now - operation.started_at > options.give_up_after:
        return condemn(Outcome.EXHAUSTED, _why_so_old(operation))
    return None


def _why_so_old(operation: Operation) -> str:
    """A run that was handed over last is too long; anything else has failed or waited for too long."""
    settled = next((entry for entry in reversed(operation.history) if entry.state not in HELD), None)
    if settled is not None and is_hand_over(settled):
        return "schedule.too_long"
    return operation.code or "code.gave_up"


def condemn(outcome: Outcome, code: str) -> Conclusion:
    """Return the end of an operation that is not run any more."""
    return Conclusion(outcome=outcome, state=State.PERMANENTLY_FAILED, code=code, attempted=False)
