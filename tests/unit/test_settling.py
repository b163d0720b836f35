"""What a settle writes, and how long a message stays hidden that ends without an outcome of its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from surehand.declare import Identity
from surehand.delivery import RENEWALS, Delivery
from surehand.ledger import Claimed, NotClaimed, NotWritten, Operation, Standing, Unavailable
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import MemoryLedger
from surehand.worker.conclusion import Conclusion
from surehand.worker.ended import Ended
from surehand.worker.endings import Ending
from surehand.worker.plan import Step
from surehand.worker.receive import Message, Refused
from surehand.worker.settlers import InlineSettler
from surehand.worker.settling import Settling
from tests.scenarios.kiosk import plain

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
DONE = Conclusion(outcome=Outcome.SUCCEEDED, state=State.SUCCEEDED)


def leased(ends: timedelta) -> Operation:
    """An operation whose lease ends so long from now."""
    return Operation(
        id="o", handler="plain", tenant=None, state=State.LEASED, fence=1, owner="one", lease_until=NOW + ends,
        claimed_at=NOW - HOUR, started_at=NOW - HOUR, expires_at=NOW + HOUR,
    )  # fmt: skip


def step(answer: Claimed | NotClaimed, **carried: Any) -> Step:
    delivery = Delivery(
        message_id="m", receipt_handle="h", body="", receive_count=1, sent_at=NOW - HOUR, received_at=NOW, **carried
    )
    identity = Identity(operation="o", tenant=None, group=None, fingerprints=("a",))
    return Step(message=Message(index=0, delivery=delivery, payload=None, identity=identity), answer=answer)


def settling(ledger: MemoryLedger | None = None) -> tuple[Settling, Ended]:
    ended, clock = Ended(), SimpleNamespace(now=lambda: NOW)
    ports: Any = SimpleNamespace(clock=clock, random=Random(1), retention=HOUR, ledger=ledger or MemoryLedger())
    settler = InlineSettler(ports.ledger, ports.clock, until=NOW + HOUR)
    return Settling(plain, ended, ports=ports, settler=settler, ticks=None), ended


def still_running(operation: Operation) -> Ending:
    made, ended = settling()
    made.still_running(step(Claimed(operation=operation, message_id="m")))
    return ended.endings[0]


def unconfirmed(operation: Operation) -> Ending:
    made, ended = settling()
    made.unconfirmed(step(Claimed(operation=operation, message_id="m")), operation, Unavailable("Throttling"), DONE)
    return ended.endings[0]


def overtaken(operation: Operation) -> Ending:
    made, ended = settling()
    mine = leased(3 * HOUR)
    made.unconfirmed(step(Claimed(operation=mine, message_id="m")), mine, NotWritten(operation), DONE)
    return ended.endings[0]


def leased_elsewhere(operation: Operation) -> Ending:
    made, ended = settling()
    answer = NotClaimed(standing=Standing.IN_PROGRESS, existing=operation, until=operation.lease_until)
    made.answered(step(answer), answer)
    return ended.endings[0]


@pytest.mark.parametrize("end", [still_running, unconfirmed, overtaken, leased_elsewhere])
@pytest.mark.parametrize(
    ("ends", "wait"),
    [(HOUR, HOUR), (1.5 * SECOND, 1.5 * SECOND), (0.5 * SECOND, SECOND), (0 * SECOND, SECOND), (-HOUR, SECOND)],
)
def test_a_message_waits_for_the_lease_that_stands_and_for_a_second_at_least(end, ends, wait) -> None:
    ending = end(leased(ends))
    assert (ending.wait, ending.operation) == (wait, leased(ends))


def test_after_an_answer_of_a_ledger_that_is_away_nothing_more_is_begun_and_after_a_refusal_it_is() -> None:
    made, _ = settling()
    mine, away = leased(HOUR), Unavailable("Throttling")
    claimed = step(Claimed(operation=mine, message_id="m"))
    made.unconfirmed(claimed, mine, NotWritten(None), DONE)
    assert made.away is None
    made.unconfirmed(claimed, mine, away, DONE)
    assert made.away == away


RETRY, DEFERRED = (Outcome.RETRY, State.RETRYABLE_FAILED), (Outcome.DEFERRED, State.PENDING)


@pytest.mark.parametrize(
    ("kind", "told", "note"),
    [
        (RETRY, {}, None),
        ((Outcome.SUCCEEDED, State.SUCCEEDED), {}, None),
        ((Outcome.UNKNOWN, State.RETRYABLE_FAILED), {}, "unknown"),
        (DEFERRED, {"attempted": False}, "deferred"),
        (DEFERRED, {"attempted": False, "note": "moved"}, "moved"),
        ((Outcome.EXHAUSTED, State.PERMANENTLY_FAILED), {"attempted": False}, "exhausted"),
    ],
)
def test_the_history_names_the_outcome_where_the_state_and_the_attempt_do_not_say_it(kind, told, note) -> None:
    (outcome, state), mine = kind, leased(HOUR)
    ledger = MemoryLedger()
    ledger.items["o"] = mine
    made, _ = settling(ledger)
    made.settle(step(Claimed(operation=mine, message_id="m")), mine, Conclusion(outcome=outcome, state=state, **told))
    assert ledger.items["o"].history[-1].note == note


@pytest.mark.parametrize(("afresh", "attempts"), [(False, 5), (True, 1)])
def test_behind_a_moved_cursor_earlier_attempts_do_not_count(afresh, attempts) -> None:
    mine = replace(leased(HOUR), attempts=4)
    ledger = MemoryLedger()
    ledger.items["o"] = mine
    made, _ = settling(ledger)
    conclusion = Conclusion(outcome=Outcome.RETRY, state=State.RETRYABLE_FAILED, afresh=afresh)
    made.settle(step(Claimed(operation=mine, message_id="m")), mine, conclusion)
    assert ledger.items["o"].attempts == attempts


def test_a_cancel_that_was_requested_meanwhile_is_what_a_failed_attempt_ends_with() -> None:
    mine, ledger = leased(HOUR), MemoryLedger()
    ledger.items["o"] = replace(mine, cancel_requested=True)
    made, ended = settling(ledger)
    conclusion = Conclusion(outcome=Outcome.RETRY, state=State.RETRYABLE_FAILED, code="data.no", wait=HOUR)
    made.settle(step(Claimed(operation=mine, message_id="m")), mine, conclusion, duration=SECOND)
    written, ending = ledger.items["o"], ended.endings[0]
    assert (written.state, written.code, written.not_before) == (State.CANCELED, "data.no", None)
    assert (ending.outcome, ending.code, ending.wait) == (Outcome.CANCELED, "data.no", None)
    assert ending.duration == SECOND


class Fading(MemoryLedger):
    """Answers one write and is away then."""

    answered = False

    def write(self, writes: Any, *, now: datetime) -> Any:
        if self.answered:
            return [Unavailable("Throttling")] * len(writes)
        self.answered = True
        return super().write(writes, now=now)


def test_a_requested_cancel_that_cannot_be_written_is_unconfirmed() -> None:
    mine, ledger = leased(HOUR), Fading()
    ledger.items["o"] = replace(mine, cancel_requested=True)
    made, ended = settling(ledger)
    made.settle(step(Claimed(operation=mine, message_id="m")), mine, DONE, duration=SECOND)
    ending = ended.endings[0]
    assert (ending.outcome, ending.wait, ending.duration) == (Outcome.UNCONFIRMED, HOUR, SECOND)
    assert made.away == Unavailable("Throttling")


@pytest.mark.parametrize(
    ("changed", "meant"),
    [
        ({}, True),
        ({"state": State.PROCESSING}, True),
        ({"cancel_requested": False}, False),
        ({"state": State.DEAD_LETTERED}, False),
        ({"owner": "another"}, False),
        ({"fence": 2}, False),
    ],
)
def test_only_a_refusal_by_our_own_lease_is_a_requested_cancel(changed, meant) -> None:
    mine = leased(HOUR)
    existing = replace(mine, **{"cancel_requested": True, **changed})
    assert settling()[0].canceled_meanwhile(NotWritten(existing), mine) == (existing if meant else None)


@pytest.mark.parametrize("state", [State.RETRYABLE_FAILED, State.PERMANENTLY_FAILED])
def test_a_settle_names_its_message_and_what_must_not_run_again(state) -> None:
    mine, ledger = leased(HOUR), MemoryLedger()
    ledger.items["o"] = mine
    made, _ = settling(ledger)
    conclusion = Conclusion(outcome=Outcome.RETRY, state=state, code="data.no", wait=HOUR, result="7")
    made.settle(step(Claimed(operation=mine, message_id="m")), mine, conclusion)
    written = ledger.items["o"]
    assert (written.state, written.code, written.result) == (state, "data.no", "7")
    assert (written.attempts, written.not_before, written.expires_at) == (1, NOW + HOUR, NOW + HOUR)
    assert written.history[-1].message_id == "m"
    assert written.failed_ids == (("m",) if state is State.PERMANENTLY_FAILED else ())


def test_what_a_failed_renewal_came_from_must_not_run_again_either() -> None:
    mine, ledger = leased(HOUR), MemoryLedger()
    ledger.items["o"] = mine
    made, _ = settling(ledger)
    stamp = int((NOW - HOUR).timestamp() * 1000)
    renewed = {RENEWALS: f"1/m0/{stamp}/{stamp}"}
    rejected = Conclusion(outcome=Outcome.REJECTED, state=State.PERMANENTLY_FAILED, code="data.no")
    made.settle(step(Claimed(operation=mine, message_id="m"), attributes=renewed), mine, rejected)
    assert ledger.items["o"].failed_ids == ("m0", "m")


@pytest.mark.parametrize(
    ("outcome", "state", "jittered"),
    [
        (Outcome.SUCCEEDED, State.SUCCEEDED, False),
        (Outcome.CANCELED, State.CANCELED, False),
        (Outcome.RETRY, State.RETRYABLE_FAILED, False),
        (Outcome.REJECTED, State.PERMANENTLY_FAILED, True),
        (Outcome.EXHAUSTED, State.PERMANENTLY_FAILED, True),
        (Outcome.HELD, State.PERMANENTLY_FAILED, True),
    ],
)
def test_only_what_sqs_shall_move_comes_back_within_seconds_by_itself(outcome, state, jittered) -> None:
    mine, ledger = leased(HOUR), MemoryLedger()
    ledger.items["o"] = mine
    made, ended = settling(ledger)
    made.settle(step(Claimed(operation=mine, message_id="m")), mine, Conclusion(outcome=outcome, state=state))
    wait = ended.endings[0].wait
    assert (wait is not None and SECOND <= wait <= 5 * SECOND) if jittered else wait is None


@pytest.mark.parametrize(
    ("standing", "left", "renewed"),
    [
        (Standing.ALREADY_APPLIED, HOUR / 2, True),
        (Standing.ALREADY_APPLIED, HOUR / 2 + SECOND, False),
        (Standing.CANCELED, HOUR / 2, False),
        (Standing.IN_PROGRESS, HOUR / 2, False),
        (Standing.FAST_FORWARDED, HOUR / 2, False),
    ],
)
def test_an_answered_duplicate_renews_what_was_applied_and_nothing_else(standing, left, renewed) -> None:
    existing, ledger = replace(leased(HOUR), expires_at=NOW + left), MemoryLedger()
    ledger.items["o"] = existing
    made, _ = settling(ledger)
    answer = NotClaimed(standing=standing, existing=existing)
    made.answered(step(answer), answer)
    assert ledger.items["o"].expires_at == (NOW + HOUR if renewed else NOW + left)


@pytest.mark.parametrize(
    ("standing", "outcome"),
    [
        (Standing.ALREADY_APPLIED, Outcome.ALREADY_APPLIED),
        (Standing.CANCELED, Outcome.CANCELED),
        (Standing.IN_PROGRESS, Outcome.IN_PROGRESS),
        (Standing.DEFERRED, Outcome.DEFERRED),
        (Standing.FAST_FORWARDED, Outcome.FAST_FORWARDED),
        (Standing.UNAVAILABLE, Outcome.UNCLAIMED),
    ],
)
def test_each_answer_of_the_ledger_has_its_outcome(standing, outcome) -> None:
    made, ended = settling()
    answer = NotClaimed(standing=standing, existing=None if standing is Standing.UNAVAILABLE else leased(HOUR))
    made.answered(step(answer), answer)
    assert ended.endings[0].outcome is outcome


@pytest.mark.parametrize(("given", "detail"), [(None, "amount: missing"), ("away", "away")])
def test_a_refused_message_tells_why_unless_something_else_ended_it(given, detail) -> None:
    answer, ended = NotClaimed(standing=Standing.UNAVAILABLE), Ended()
    delivery = step(answer).message.delivery
    refused = Refused(index=0, delivery=delivery, phase="validate", code="input.schema", detail="amount: missing")
    ended.add(refused, Step(message=refused, answer=answer), None, outcome=Outcome.UNCLAIMED, phase="p", detail=given)
    assert ended.endings[0].detail == detail
