"""The reliability suite: what it says of sound handlers, and how it finds out broken ones."""

from __future__ import annotations

from typing import Any

import pytest

from surehand import Handler
from surehand.declare import NotValid
from surehand.testing.reliability import PromiseBroken, failures, reliability_suite
from surehand.testing.reliability.promises import PROMISES
from surehand.testing.reliability.trial import Trial
from surehand.testing.reliability.variants import variants
from tests.scenarios import bank
from tests.scenarios.bank import BANK, Payment

PAYMENT = Payment(number="1", amount=500)
COUNTED: dict[str, Any] = {"effects": lambda: BANK.charges, "reset": BANK.clear}

test_a_sound_handler_keeps_every_promise = reliability_suite(bank.sound, PAYMENT, **COUNTED)
test_a_sound_fifo_handler_keeps_every_promise = reliability_suite(bank.sound_in_lanes, PAYMENT, **COUNTED)
test_a_handler_that_holds_unknown_effects_keeps_every_promise = reliability_suite(
    bank.sound_and_careful, PAYMENT, **COUNTED
)
test_a_handler_that_asks_its_provider_keeps_every_promise = reliability_suite(bank.sound_and_asking, PAYMENT, **COUNTED)
test_an_async_handler_keeps_every_promise = reliability_suite(bank.sound_and_awaited, PAYMENT, **COUNTED)
test_a_handler_with_one_attempt_keeps_every_promise = reliability_suite(bank.sound_without_retries, PAYMENT, **COUNTED)
test_without_effects_the_fates_alone_are_checked = reliability_suite(bank.sound, PAYMENT)


def broken_by(handler: Handler[Any], sample: Payment = PAYMENT) -> dict[str, str]:
    """Return the promises that a handler breaks, with the suite's message for each."""
    trial = Trial(handler, variants(handler, sample), lambda: BANK.charges, BANK.clear)
    messages = {}
    for promise in PROMISES:
        if promise.missing(trial) is None:
            try:
                promise.check(trial)
            except PromiseBroken as error:
                messages[promise.sentence] = str(error)
    return messages


def test_a_fresh_key_at_each_attempt_is_found_out():
    messages = broken_by(bank.fresh_key_each_time)
    message = messages["a failure after the effect is tried again under the same key"]
    assert "an effect keeps its idempotency key" in message
    assert "the first attempt fails after the handler has returned" in message
    assert "job.key(" in message


def test_a_mark_before_the_effect_is_found_out_with_the_line_between_them():
    messages = broken_by(bank.mark_before_the_effect)
    assert set(messages) == {
        "a process killed at any line of the handler loses nothing",
        "a deadline at any line of the handler loses nothing",
    }
    message = messages["a process killed at any line of the handler loses nothing"]
    assert "what is recorded as done is done" in message
    assert "the process is killed before line" in message


def test_a_handler_that_swallows_the_deadline_is_found_out():
    messages = broken_by(bank.swallows_the_deadline)
    assert "catch Exception" in messages["a deadline at any line of the handler loses nothing"]


def test_a_key_that_two_tenants_share_is_found_out():
    messages = broken_by(bank.key_without_the_tenant)
    assert set(messages) == {"another tenant's work is its own"}


def test_the_message_names_handler_promise_schedule_and_what_was_seen():
    message = broken_by(bank.swallows_the_deadline)["a deadline at any line of the handler loses nothing"]
    lines = message.splitlines()
    assert lines[0] == "handler 'swallows' breaks the promise: the deadline ends a handler"
    assert lines[1].startswith("seen: ")
    assert lines[2:4] == ["schedule:", "  1. deliver the sample"]
    assert "succeeded" in lines[-1]


def test_effects_that_count_nothing_are_an_error_and_not_a_pass():
    trial = Trial(bank.sound, variants(bank.sound, PAYMENT), dict, BANK.clear)
    with pytest.raises(PromiseBroken, match="counted nothing"):
        PROMISES[0].check(trial)


def test_a_sample_that_does_not_succeed_undisturbed_is_an_error(monkeypatch):
    def failing(payment, job):
        raise KeyError

    trial = Trial(bank.sound, variants(bank.sound, PAYMENT))
    monkeypatch.setattr(bank.sound, "function", failing)
    with pytest.raises(PromiseBroken, match="instead of succeeded") as broken:
        PROMISES[0].check(trial)
    place = f"tests/scenarios/test_reliability_suite.py:{failing.__code__.co_firstlineno + 1} {failing.__qualname__}"
    assert f"its sample does not succeed with nothing in the way; raised KeyError at {place}" in str(broken.value)


def test_what_a_handler_raises_where_it_should_not_is_told_with_its_place(monkeypatch):
    def failing_when_tried_again(payment, job):
        if job.attempt > 1:
            raise KeyError("secret")

    trial = Trial(bank.sound, variants(bank.sound, PAYMENT))
    monkeypatch.setattr(bank.sound, "function", failing_when_tried_again)
    with pytest.raises(PromiseBroken, match=r"raised: KeyError at tests/.*failing_when_tried_again") as broken:
        failures.passing_before(trial)
    assert "secret" not in str(broken.value)


def test_a_sample_that_does_not_fit_is_refused_when_the_suite_is_made():
    with pytest.raises(NotValid, match="Payment"):
        reliability_suite(bank.sound, {"number": 7})


def test_a_promise_that_does_not_apply_is_left_out_and_not_skipped():
    suite: Any = reliability_suite(bank.sound_without_retries, PAYMENT)
    (mark,) = suite.pytestmark
    sentences = [promise.sentence for promise in mark.args[1]]
    assert not any("tried again" in sentence or "tenant" in sentence for sentence in sentences)


class TestVariants:
    def test_neighbours_have_other_keys_and_the_same_tenant(self):
        found = variants(bank.sound, PAYMENT)
        assert len({neighbour.number for neighbour in found.neighbours} | {"1"}) == 5
        assert {neighbour.tenant for neighbour in found.neighbours} == {"shop"}

    def test_elsewhere_is_the_same_key_of_another_tenant(self):
        elsewhere: Any = variants(bank.sound, PAYMENT).elsewhere
        assert (elsewhere.number, elsewhere.tenant != "shop") == ("1", True)

    def test_changed_is_the_same_operation_with_other_content(self):
        changed: Any = variants(bank.sound, PAYMENT).changed
        assert (changed.number, changed.amount != 500) == ("1", True)

    def test_on_fifo_neighbours_of_the_same_group_come_first(self):
        assert {neighbour.lane for neighbour in variants(bank.sound_in_lanes, PAYMENT).neighbours} == {"a"}
