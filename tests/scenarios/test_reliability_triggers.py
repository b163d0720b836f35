"""The reliability suite and the account's helpers on schedules, webhooks and senders."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from surehand import Job, Reject, Tick, cron, queue, schedule, webhook
from surehand.outcomes import Outcome
from surehand.testing import reliability_suite, simulate
from tests.scenarios import bank

EFFECTS: Counter[str] = Counter()
COUNTED: dict[str, Any] = {"effects": EFFECTS, "reset": EFFECTS.clear}


class Event(BaseModel):
    """A webhook's payload."""

    id: str
    type: str = "invoice.paid"
    amount: int = 5


@schedule("nightly-report", cron("0 2 * * ? *", timezone="Europe/Berlin"))
def nightly_report(tick: Tick, job: Job) -> None:
    """Write one report for each night."""
    EFFECTS[job.key("report")] += 1


@schedule("scan", timedelta(minutes=5), timeout=timedelta(seconds=20))
def scan(tick: Tick, job: Job) -> None:
    """Three pages, each with an effect of its own, and the cursor moved behind each."""
    for page in range(job.cursor(int) or 0, 3):
        EFFECTS[job.key(f"page-{page}")] += 1
        job.save_cursor(page + 1)


@webhook("stripe", scheme="stripe")
def on_stripe_event(event: Event, job: Job) -> None:
    """Book one event."""
    EFFECTS[job.key("book")] += 1


@queue("relay", key="number", sends_to=["sound", "elsewhere"])
def relay(payment: bank.Payment, job: Job) -> None:
    """Pass a payment on to a handler of the same service."""
    bank.sound.send(payment)


TICK = Tick(datetime(2027, 3, 4, 1, 0, tzinfo=UTC))
test_a_schedule_keeps_every_promise = reliability_suite(nightly_report, TICK, **COUNTED)
test_a_scan_with_a_cursor_keeps_every_promise = reliability_suite(scan, TICK, **COUNTED)
test_a_webhook_keeps_every_promise = reliability_suite(on_stripe_event, Event(id="evt_1"), **COUNTED)


def test_a_tick_runs_and_a_second_delivery_of_it_does_not():
    EFFECTS.clear()
    with simulate(nightly_report) as account:
        (first,) = account.tick(nightly_report)
        (second,) = account.tick(nightly_report, account.simulation.clock.now().replace(minute=0, second=0))
        assert (first.outcome, second.outcome) == (Outcome.SUCCEEDED, Outcome.ALREADY_APPLIED)
        assert sum(EFFECTS.values()) == 1


def test_a_schedule_that_is_switched_on_fires_as_time_passes():
    EFFECTS.clear()
    with simulate(nightly_report) as account:
        site = account.sites["nightly-report"]
        assert site.schedule is not None
        site.schedule.enabled = True
        account.simulation.run(for_=timedelta(days=3, hours=2))
        assert account.told.outcomes["succeeded"] == 4
        assert account.witness.at_rest() == []


def test_only_a_schedule_has_ticks():
    with simulate(bank.sound) as account, pytest.raises(TypeError, match="no schedule"):
        account.tick(bank.sound)


def test_what_a_handler_sends_waits_in_its_target_s_queue_or_is_handled_there():
    payment = bank.Payment(number="9", amount=1)
    with simulate(relay) as account:
        account.deliver(relay, payment)
        account.assert_sent("sound")
        account.assert_sent("elsewhere", 0)
        with pytest.raises(AssertionError, match="1 messages wait in the queue of 'sound', not 2"):
            account.assert_sent("sound", 2)
    with simulate([relay, bank.sound]) as account:
        endings = account.deliver(relay, payment)
        assert [ending.outcome for ending in endings] == [Outcome.SUCCEEDED] * 2


def test_delivering_twice_tells_of_both_deliveries():
    with simulate(bank.sound) as account:
        outcomes = [one.outcome for one in account.deliver_twice(bank.sound, bank.Payment(number="1", amount=1))]
        assert outcomes == [Outcome.SUCCEEDED, Outcome.ALREADY_APPLIED]


def test_a_body_that_is_no_payload_becomes_a_dead_letter():
    with simulate(bank.sound) as account:
        endings = account.deliver(bank.sound, "no json")
        assert endings[0].outcome is Outcome.REJECTED
        assert len(account.sites["sound"].dead_letters) == 1


def test_a_redrive_of_the_account_is_a_move_task_that_has_ended(monkeypatch):
    def reject(payment, job):
        raise Reject("data.no")

    monkeypatch.setattr(bank.sound, "function", reject)
    with simulate(bank.sound) as account:
        account.deliver(bank.sound, bank.Payment(number="1", amount=1))
        task = account.redrive(bank.sound)
        assert (task.status, task.moved) == ("COMPLETED", 1)
        assert account.told.outcomes["rejected"] == 2
