"""`reliability_suite`: a user's handler through everything that SQS and Lambda may do to it, in one line of a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from surehand.declare import Handler
from surehand.testing.reliability.promises import PROMISES, Promise
from surehand.testing.reliability.trial import Effects, SampleFails, Trial
from surehand.testing.reliability.variants import variants

#: The property under which each test's report carries its promise, for the plugin's summary.
PROPERTY = "surehand.promise"
_SAMPLE = "the sample succeeds with nothing in the way, which all the others need"


def reliability_suite(
    handler: Handler[Any],
    sample: Any,
    *,
    effects: Effects | None = None,
    reset: Callable[[], object] | None = None,
) -> Callable[..., None]:
    """Return a test function for pytest, one case per promise. Assign it to a name that begins with `test_`.

        test_charging = reliability_suite(charge_order, ORDER, effects=lambda: bank.charges, reset=bank.clear)

    The handler runs in a simulated account, many times: with duplicates, failures, kills at every call and line, and
    redrives. Its providers must be fakes; a fake of the user's own, patched in before this is called, stays in place.

    Args:
        handler: The declared handler.
        sample: A payload that succeeds. Others are made of it by changing one field at a time.
        effects: How often each effect has happened, by idempotency key, since the last *reset*: a mapping, or a
            function that returns one. Without it only the messages' fates are checked.
        reset: Makes the fake new; called before each schedule.

    Raises:
        NotValid, NoKey: The sample does not fit the handler.
    """
    import pytest

    trial = Trial(handler, variants(handler, sample), effects, reset)
    kept = [promise for promise in PROMISES if promise.missing(trial) is None]
    unchecked = {promise.sentence: str(promise.missing(trial)) for promise in PROMISES if promise not in kept}

    @pytest.mark.parametrize("promise", kept, ids=[promise.sentence.replace(" ", "-") for promise in kept])
    def test(promise: Promise, record_property: Callable[[str, object], None]) -> None:
        fact = {
            "handler": handler.name,
            "promise": promise.sentence,
            "unchecked": unchecked,
            "effects": effects is not None,
        }
        if trial.spoilt:
            pytest.skip(
                f"the sample of '{handler.name}' does not succeed with nothing in the way: see the first failure"
            )
        try:
            promise.check(trial)
        except SampleFails:
            fact["promise"] = _SAMPLE
            raise
        finally:
            record_property(PROPERTY, json.dumps(fact))

    test.__doc__ = f"What '{handler.name}' promises, whatever SQS and Lambda do."
    return test
