"""An effect of which nobody knows whether it happened: what `on_unknown` makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from random import Random

from surehand.declare.options import Options
from surehand.ledger import Operation
from surehand.ledger.marks import SUSPECT
from surehand.outcomes import Defer, Outcome, Retry
from surehand.states import State
from surehand.worker.conclusion import Conclusion, bounded, chosen_wait, failed
from surehand.worker.origin import origin

#: Asks the provider about an unknown effect: True applied, False not applied, None nobody knows.
Ask = Callable[[], bool | None]


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
    except KeyboardInterrupt:  # the operator's own
        raise
    except BaseException as unasked:  # noqa: BLE001 - the provider that is asked is often the one that is away
        if operation.attempts + 1 >= options.max_attempts:
            return replace(_HELD, origin=origin(unasked))
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
    except KeyboardInterrupt:
        raise
    except BaseException as unasked:  # noqa: BLE001 - see `unknown`; the soft deadline too
        later = _asked_again(Outcome.DEFERRED, State.PENDING, unasked, operation, options, now=now, random=random)
        return replace(later, attempted=False)
    if applied is False:
        return None
    if applied is True:
        return Conclusion(outcome=Outcome.SUCCEEDED, state=State.SUCCEEDED, code="effect.interrupted", attempted=False)
    return replace(_HELD, attempted=False)


def is_open(conclusion: Conclusion, operation: Operation, options: Options) -> bool:
    """Tell whether an effect may have happened of which *conclusion* does not know, so that no cancel may hide it (P8).

    It is held for an operator, or the question is still to be asked. With plain retry nobody would ask.
    """
    if options.on_unknown == "retry":
        return False
    if conclusion.state is State.PERMANENTLY_FAILED:
        return conclusion.outcome is Outcome.HELD
    unasked = conclusion.outcome is Outcome.UNSTARTED and operation.marks > SUSPECT
    return unasked or conclusion.code == "effect.unanswered"


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
    chosen = chosen_wait(unasked, now) if isinstance(unasked, Retry | Defer) else None
    wait = options.backoff.wait(operation.attempts + 1, random) if chosen is None else chosen
    came_of = origin(unasked)
    asked = Conclusion(outcome=outcome, state=state, code="effect.unanswered", wait=wait, origin=came_of)
    later = bounded(asked, operation, options, now)
    return later if later.state is state else replace(_HELD, origin=came_of)
