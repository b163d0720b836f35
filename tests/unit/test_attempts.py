"""What one step of a batch comes to beside its run: the ledger away, no time left, a mark that is refused."""

from __future__ import annotations

import signal
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from surehand import Job
from surehand.declare import Identity
from surehand.delivery import Delivery
from surehand.ledger import Answer, Claimed, NotClaimed, Operation, Standing, Unavailable, Write, Written
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import MemoryLedger
from surehand.worker import Invocation
from surehand.worker.attempts import Attempts
from surehand.worker.conclusion import Conclusion, NotBegun, SoftDeadline
from surehand.worker.handing_over import Superseded
from surehand.worker.plan import Step
from surehand.worker.receive import Message, Refused
from surehand.worker.settlers import InlineSettler
from tests.scenarios.kiosk import Ticket, awaited, plain, script

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class Away(MemoryLedger):
    """Takes nothing, and counts how often it was asked."""

    calls = 0

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        self.calls += 1
        return [Unavailable("ThrottlingException")] * len(writes)


def attempts(ledger: MemoryLedger, *, left: timedelta = MINUTE, clock: Any = None) -> Attempts:
    clock = clock or SimpleNamespace(now=lambda: NOW)
    cursors = SimpleNamespace(read=lambda *_, **__: None, save=lambda *_, **__: Written())
    ports: Any = SimpleNamespace(
        clock=clock, random=Random(1), retention=HOUR, ledger=ledger, cursors=cursors, loop=None, queues=None
    )
    settler = InlineSettler(ledger, ports.clock, until=NOW)
    return Attempts(plain, invocation=Invocation(owner="one", deadline=NOW + left), ports=ports, settler=settler)


def step(index: int, *, marks: int = 0) -> Any:
    """A claimed message; its lease ends in half a minute."""
    name = f"o{index}"
    delivery = Delivery(
        message_id=f"m{index}", receipt_handle="h", body="", receive_count=1, sent_at=NOW, received_at=NOW
    )
    identity = Identity(operation=name, tenant=None, group=None, fingerprints=("a",))
    operation = Operation(
        id=name, handler="plain", tenant=None, state=State.LEASED, fence=1, owner="one", lease_until=NOW + MINUTE / 2,
        claimed_at=NOW, started_at=NOW, expires_at=NOW + HOUR, marks=marks,
    )  # fmt: skip
    message = Message(
        index=index, delivery=delivery, payload=Ticket(number=name), identity=identity, attributes={"source": "till"}
    )
    return Step(message=message, answer=Claimed(operation=operation, message_id=f"m{index}"))


def test_several_at_once_are_waited_for_half_of_the_reserve() -> None:
    assert attempts(MemoryLedger()).grace == SECOND


@pytest.mark.parametrize("end", [Attempts.take, Attempts.leave])
def test_behind_an_outcome_that_the_ledger_did_not_take_nothing_runs_and_nothing_is_asked(end) -> None:
    ledger = Away()
    made = attempts(ledger)
    with script() as told:
        made.take(step(0))
        asked = ledger.calls
        end(made, step(1))
    assert told.numbers == ["o0"]
    assert ledger.calls == asked
    ending = made.endings[1]
    assert (ending.outcome, ending.code, ending.detail) == (
        Outcome.UNCONFIRMED,
        "ledger.unavailable",
        "ThrottlingException",
    )
    assert ending.wait == MINUTE / 2


@pytest.mark.parametrize("end", [Attempts.take, Attempts.leave])
def test_what_the_ledger_answered_without_a_claim_ends_as_answered_also_when_it_is_left(end) -> None:
    made = attempts(MemoryLedger())
    claimed = step(0)
    done = replace(claimed.answer.operation, state=State.SUCCEEDED, lease_until=None)
    with script() as told:
        end(made, replace(claimed, answer=NotClaimed(standing=Standing.ALREADY_APPLIED, existing=done)))
    assert (told.numbers, made.endings[0].outcome) == ([], Outcome.ALREADY_APPLIED)


@pytest.mark.parametrize(("left", "outcome"), [(4 * SECOND, Outcome.SUCCEEDED), (3.999 * SECOND, Outcome.UNSTARTED)])
def test_a_step_starts_only_with_twice_the_reserve_before_it(left, outcome) -> None:
    ledger = MemoryLedger()
    claimed = step(0)
    ledger.write([Write(operation=claimed.answer.operation, previous=None)], now=NOW)
    made = attempts(ledger, left=left)
    with script():
        made.take(claimed)
    assert made.endings[0].outcome is outcome
    [kept] = ledger.read(["o0"]).values()
    assert kept.state is (State.SUCCEEDED if outcome is Outcome.SUCCEEDED else State.PENDING)


@pytest.mark.parametrize("marks", [0, 1])
def test_only_a_suspect_is_marked_before_its_run_and_not_run_without_the_mark(marks) -> None:
    made = attempts(Away())
    with script() as told:
        made.take(step(0, marks=marks))
    assert told.numbers == ([] if marks else ["o0"])
    assert (made.endings[0].outcome, made.endings[0].code) == (Outcome.UNCONFIRMED, "ledger.unavailable")


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({}, (1, False, False)),
        ({"attempts": 1}, (2, False, False)),
        ({"attempts": 4}, (5, True, False)),
        ({"marks": 1}, (1, False, True)),
        ({"code": "effect.timeout"}, (1, False, True)),
        ({"code": "provider.effect.timeout"}, (1, False, False)),
    ],
)
def test_a_job_knows_its_attempt_whether_it_is_the_last_and_whether_an_earlier_one_was_interrupted(known, told) -> None:
    claimed = step(0)
    operation = replace(claimed.answer.operation, **known)
    ledger = MemoryLedger()
    ledger.write([Write(operation=operation, previous=None)], now=NOW)
    with script() as ran:
        attempts(ledger).take(replace(claimed, answer=replace(claimed.answer, operation=operation)))
    [job] = ran.jobs
    assert (job.attempt, job.last_attempt, job.interrupted) == told
    assert (job.operation, job.tenant, job.deadline, job.sent_at) == ("o0", None, NOW + MINUTE, NOW)
    assert job.attributes == {"source": "till"}


def superseded(ticket: Ticket, job: Job) -> None:
    raise Superseded(replace(step(0).answer.operation, fence=2, lease_until=NOW + 3 * MINUTE))


def test_a_run_whose_operation_another_invocation_has_claimed_waits_for_that_lease() -> None:
    made = attempts(MemoryLedger())
    with script(superseded):
        made.take(step(0))
    ending = made.endings[0]
    assert (ending.outcome, ending.code, ending.detail) == (Outcome.FENCE_LOST, "ledger.fence_lost", "fence_lost")
    assert (ending.wait, ending.duration) == (3 * MINUTE, timedelta(0))


@pytest.mark.parametrize(("passed", "outcome"), [(2 * SECOND, Outcome.SUCCEEDED), (2.001 * SECOND, Outcome.CONTINUED)])
def test_a_scan_ends_when_a_page_half_as_long_again_would_not_end_before_the_reserve(passed, outcome) -> None:
    ledger, clock = MemoryLedger(), SimpleNamespace(now=lambda: NOW)
    ledger.write([Write(operation=step(0).answer.operation, previous=None)], now=NOW)

    def scan(ticket: Ticket, job: Job) -> None:
        job.save_cursor("begun")  # the first page took no time
        clock.now = lambda: NOW + passed
        job.save_cursor("half")

    made = attempts(ledger, left=7 * SECOND, clock=clock)
    with script(scan):
        made.take(step(0))
    assert made.endings[0].outcome is outcome


def test_a_handler_is_interrupted_when_the_reserve_begins() -> None:
    left = []
    with script(lambda ticket, job: left.append(signal.getitimer(signal.ITIMER_REAL)[0])):
        attempts(MemoryLedger(), left=10 * SECOND).take(step(0))
    assert 6 < left[0] <= 8


@pytest.mark.parametrize("marks", [0, 3])
def test_a_tick_is_held_back_by_its_schedule_unless_it_is_poison(marks) -> None:
    asked = []
    held_back = Conclusion(outcome=Outcome.CANCELED, state=State.CANCELED, code="schedule.late", attempted=False)

    def hold_back(claimed: Claimed, delivery: Delivery, *, now: datetime) -> Conclusion:
        asked.append((claimed.message_id, delivery.message_id, now))
        return held_back

    ledger, claimed = MemoryLedger(), step(0, marks=marks)
    ledger.write([Write(operation=claimed.answer.operation, previous=None)], now=NOW)
    made: Any = attempts(ledger)
    made._ticks = SimpleNamespace(hold_back=hold_back)
    with script() as told:
        made.take(claimed)
    assert told.numbers == []
    assert made.endings[0].code == ("crash.poison" if marks else "schedule.late")
    assert asked == ([] if marks else [("m0", "m0", NOW)])


@pytest.mark.parametrize(
    ("behind", "outcome", "attempts_made"), [(False, Outcome.UNSTARTED, 0), (True, Outcome.SUCCEEDED, 1)]
)
def test_an_alarm_beside_the_handler_s_own_code_is_no_interruption_of_it_and_takes_no_result(
    monkeypatch, behind, outcome, attempts_made
) -> None:
    @contextmanager
    def ringing(_: timedelta) -> Iterator[None]:
        if not behind:
            raise SoftDeadline
        yield
        raise SoftDeadline

    monkeypatch.setattr("surehand.worker.calling.interrupted_after", ringing)
    ledger, claimed = MemoryLedger(), step(0)
    ledger.write([Write(operation=claimed.answer.operation, previous=None)], now=NOW)
    made = attempts(ledger)
    with script() as told:
        made.take(claimed)
    assert (told.numbers, made.endings[0].outcome, made.endings[0].code) == (["o0"] * behind, outcome, None)
    assert ledger.read(["o0"])["o0"].attempts == attempts_made


@pytest.mark.parametrize(("handler", "outcome"), [(awaited, Outcome.UNSTARTED), (plain, Outcome.UNKNOWN)])
def test_a_coroutine_that_never_began_is_no_run_unless_a_plain_function_has_made_it(handler, outcome) -> None:
    """What that function did before is not known; an async one has done nothing."""

    def never(coroutine: Coroutine[Any, Any, None], *, timeout: timedelta) -> None:
        coroutine.close()
        raise NotBegun

    async def act() -> None: ...

    ledger, claimed = MemoryLedger(), step(0)
    ledger.write([Write(operation=claimed.answer.operation, previous=None)], now=NOW)
    made: Any = attempts(ledger)
    made.handler, made._ports.loop = handler, SimpleNamespace(result=never)
    with script(lambda ticket, job: act()):
        made.take(claimed)
    assert made.endings[0].outcome is outcome


@pytest.mark.parametrize(("passes", "outcome"), [(6 * SECOND, Outcome.SUCCEEDED), (6.001 * SECOND, Outcome.UNSTARTED)])
def test_what_its_own_mark_has_left_no_time_for_is_left_unstarted_and_nothing_is_unknown(passes, outcome) -> None:
    clock = SimpleNamespace(now=lambda: NOW)

    class Slow(MemoryLedger):
        def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
            if any(write.operation.state is State.PROCESSING for write in writes):
                clock.now = lambda: NOW + passes
            return super().write(writes, now=now)

    ledger, claimed = Slow(), step(0, marks=1)
    ledger.write([Write(operation=claimed.answer.operation, previous=None)], now=NOW)
    made = attempts(ledger, left=10 * SECOND, clock=clock)
    with script() as told:
        made.take(claimed)
    ran = outcome is Outcome.SUCCEEDED
    kept = ledger.read(["o0"])["o0"]
    assert (told.numbers, made.endings[0].outcome) == (["o0"] * ran, outcome)
    assert (kept.state, kept.attempts) == (State.SUCCEEDED if ran else State.PENDING, 1 if ran else 0)


def asking(ticket: Ticket, job: Job) -> bool | None:
    return None


@pytest.mark.parametrize("policy", ["retry", "hold", asking])
@pytest.mark.parametrize(
    ("known", "redrive", "asks"),
    [
        ({}, False, set()),
        ({"marks": 1}, False, set()),
        ({"marks": 2}, False, {"hold", asking}),
        ({"marks": 2}, True, {"hold", asking}),
        ({"marks": 3}, False, {"hold", asking}),
        ({"code": "effect.unanswered"}, True, {asking}),
        ({"code": "effect.unknown"}, True, set()),
        ({"code": "effect.timeout"}, False, {asking}),
        ({"code": "effect.timeout"}, True, set()),
        ({"code": "provider.timeout"}, False, set()),
    ],
)
def test_whether_the_effect_of_an_earlier_run_is_asked_about_before_a_run(policy, known, redrive, asks) -> None:
    made: Any = attempts(MemoryLedger())
    made.handler = SimpleNamespace(options=SimpleNamespace(on_unknown=policy))
    operation = replace(step(0).answer.operation, **known)
    assert made._asks_first(Claimed(operation=operation, message_id="m0", redrive=redrive)) is (policy in asks)


def test_an_answer_about_an_earlier_run_is_waited_for_until_the_reserve_begins(monkeypatch) -> None:
    waits = []

    @contextmanager
    def noted(left: timedelta) -> Iterator[None]:
        waits.append(left)
        yield

    monkeypatch.setattr("surehand.worker.attempts.interrupted_after", noted)
    made: Any = attempts(MemoryLedger(), left=10 * SECOND)
    made.handler = SimpleNamespace(
        options=SimpleNamespace(on_unknown=lambda ticket, job: (ticket.number, job) == ("o0", "job"))
    )
    assert made._ask_in_time(step(0).message, "job")() is True
    assert waits == [8 * SECOND]


@pytest.mark.parametrize(("passes", "calls"), [(7 * SECOND, 3), (8 * SECOND, 1)])
def test_a_mark_that_the_ledger_did_not_take_is_written_again_only_before_the_reserve(passes, calls) -> None:
    clock = SimpleNamespace(now=lambda: NOW)

    class Slow(Away):
        def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
            clock.now = lambda: NOW + passes
            return super().write(writes, now=now)

    ledger = Slow()
    with script() as told:
        attempts(ledger, left=10 * SECOND, clock=clock).take(step(0, marks=1))
    assert (ledger.calls, told.numbers) == (calls, [])


@pytest.mark.parametrize(
    ("known", "ended"),
    [
        ({"cancel_requested": True}, (Outcome.CANCELED, None)),
        ({"fence": 2, "owner": "two"}, (Outcome.FENCE_LOST, "unconfirmed")),
    ],
)
def test_without_its_mark_a_step_does_not_run_but_is_canceled_or_put_back(known, ended) -> None:
    ledger, claimed = MemoryLedger(), step(0, marks=1)
    ledger.write([Write(operation=replace(claimed.answer.operation, **known), previous=None)], now=NOW)
    made = attempts(ledger)
    with script() as told:
        made.take(claimed)
    assert told.numbers == []
    assert (made.endings[0].outcome, made.endings[0].detail) == ended


@pytest.mark.parametrize(
    ("code", "outcome"), [("input.conflict", Outcome.KEY_CONFLICT), ("input.schema", Outcome.REJECTED)]
)
def test_a_refused_message_is_a_permanent_failure_and_no_attempt(code, outcome) -> None:
    ledger, claimed = MemoryLedger(), step(0)
    ledger.write([Write(operation=claimed.answer.operation, previous=None)], now=NOW)
    made = attempts(ledger)
    refused = Refused(index=0, delivery=claimed.message.delivery, phase="validate", code=code, detail="number")
    made.take(replace(claimed, message=refused))
    [kept] = ledger.read(["o0"]).values()
    assert (made.endings[0].outcome, kept.state, kept.code, kept.attempts) == (
        outcome,
        State.PERMANENTLY_FAILED,
        code,
        0,
    )
