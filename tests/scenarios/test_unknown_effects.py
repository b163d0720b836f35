"""What becomes of an effect that nobody knows of: who is asked, when, and what if the question fails."""

from __future__ import annotations

import urllib.error
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from surehand import Defer, Job, Reject, Retry, Service, Unknown, queue
from surehand.ledger.operating import cancel, release
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import world
from tests.scenarios.kiosk import KIOSK as KIOSK_SERVICE
from tests.scenarios.kiosk import Ticket, careful, ids, plain, script
from tests.scenarios.test_protocol import (
    act,
    crash,
    died_with_a_cancel,
    redeliver,
    seen_in_dead_letters,
    told_and_redriven,
    write,
)

TICKET = Ticket(number="1")
HOUR = timedelta(hours=1)


class Asked:
    """The provider that is asked about unknown effects: `answer` is given, or raised."""

    def __init__(self) -> None:
        self.answer: object = None
        self.times = 0
        self.runs: list[Job] = []
        self.act: Callable[[], object] = lambda: None

    def ask(self, ticket: Ticket, job: Job) -> Any:
        self.times += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def run(self, job: Job) -> None:
        self.runs.append(job)
        self.act()


ASKED = Asked()


@queue("asking", key="number", on_unknown=ASKED.ask)
def asking(ticket: Ticket, job: Job) -> None:
    """Asks about unknown effects."""
    ASKED.run(job)


@queue("asking-once", key="number", max_attempts=1, on_unknown=ASKED.ask)
def asking_once(ticket: Ticket, job: Job) -> None:
    """The same with a single attempt."""
    ASKED.run(job)


DESK = Service("desk", (asking, asking_once))


def raising(error):
    def act(*_):
        raise error

    return act


@contextmanager
def desk(answer, act=lambda: None):
    vars(ASKED).update(vars(Asked()))
    ASKED.answer, ASKED.act = answer, act
    with world(DESK) as made:
        yield made


UNKNOWN = Unknown("provider.read_timeout")
AWAY = urllib.error.URLError("away")


def test_an_effect_that_has_happened_is_a_success() -> None:
    with desk(True, raising(UNKNOWN)) as made:
        assert ids(asking(made.event(asking, TICKET), None)) == []
        assert made.operation(asking, TICKET).state is State.SUCCEEDED


def test_an_effect_that_has_not_happened_is_tried_again() -> None:
    with desk(False, raising(UNKNOWN)) as made:
        assert ids(asking(made.event(asking, TICKET), None)) != []
        operation = made.operation(asking, TICKET)
        assert (operation.state, operation.attempts, operation.code) == (
            State.RETRYABLE_FAILED, 1, "provider.read_timeout",
        )  # fmt: skip


def test_an_effect_of_which_the_provider_knows_nothing_is_held() -> None:
    with desk(None, raising(UNKNOWN)) as made:
        assert ids(asking(made.event(asking, TICKET), None)) != []
        operation = made.operation(asking, TICKET)
        assert (operation.state, operation.code) == (State.PERMANENTLY_FAILED, "effect.unknown")


def test_a_question_that_fails_leaves_the_neighbours_alone_and_is_asked_again_before_anything_runs() -> None:
    def unknown_first() -> None:
        if len(ASKED.runs) == 1:
            raise UNKNOWN

    with desk(AWAY, unknown_first) as made:
        event = made.event(asking, TICKET, Ticket(number="2"))
        assert ids(asking(event, None)) == [event["Records"][0]["messageId"]]
        operation = made.operation(asking, TICKET)
        assert (operation.state, operation.attempts, operation.code) == (
            State.RETRYABLE_FAILED, 1, "effect.unanswered",
        )  # fmt: skip
        made.clock.advance(HOUR)
        asking(redeliver(event), None)
        assert made.teller.endings[2].outcome is Outcome.DEFERRED
        assert made.operation(asking, TICKET).attempts == 1
        ASKED.answer = True
        made.clock.advance(HOUR)
        assert ids(asking(redeliver(redeliver(event)), None)) == []
        assert (len(ASKED.runs), ASKED.times) == (2, 3)


def test_a_question_that_fails_may_say_when_to_ask_again() -> None:
    with desk(Defer("provider.closed", after=3 * HOUR), raising(UNKNOWN)) as made:
        asking(made.event(asking, TICKET), None)
        assert list(made.queues.hidden.values()) == [3 * HOUR]


def test_a_question_that_fails_after_the_last_attempt_is_held() -> None:
    with desk(AWAY, raising(UNKNOWN)) as made:
        asking_once(made.event(asking_once, TICKET), None)
        assert made.operation(asking_once, TICKET).code == "effect.unknown"


def test_a_question_that_fails_for_longer_than_give_up_after_is_held() -> None:
    with desk(AWAY, raising(UNKNOWN)) as made:
        event = made.event(asking, TICKET)
        asking(event, None)
        made.clock.advance(timedelta(days=4))
        asking(redeliver(event), None)
        operation = made.operation(asking, TICKET)
        assert (operation.state, operation.code) == (State.PERMANENTLY_FAILED, "effect.unknown")


@pytest.mark.parametrize(("answer", "runs"), [(True, 1), (False, 2), (None, 1), (AWAY, 1)])
def test_after_a_run_that_died_the_provider_is_asked_before_the_next_one(answer, runs) -> None:
    with desk(answer) as made:
        event = made.event(asking, TICKET)
        crash(made, asking, event)
        asking(redeliver(event), None)
        assert (len(ASKED.runs), ASKED.times) == (runs, 1)
        assert made.teller.endings[0].interrupted is (answer in (True, None))


def test_a_run_that_died_was_no_attempt_so_a_single_one_is_left() -> None:
    with desk(False) as made:
        event = made.event(asking_once, TICKET)
        crash(made, asking_once, event)
        assert ids(asking_once(redeliver(event), None)) == []
        assert [job.attempt for job in ASKED.runs] == [1, 1]


def test_a_run_that_died_is_asked_about_however_late_its_message_comes_back() -> None:
    with desk(True) as made:
        event = made.event(asking, TICKET)
        crash(made, asking, event)
        made.clock.advance(timedelta(days=4))
        assert ids(asking(redeliver(event), None)) == []
        assert made.operation(asking, TICKET).state is State.SUCCEEDED


def test_an_effect_that_has_not_happened_is_not_tried_again_once_it_is_too_late() -> None:
    with desk(False) as made:
        event = made.event(asking, TICKET)
        crash(made, asking, event)
        made.clock.advance(timedelta(days=4))
        asking(redeliver(event), None)
        assert (made.operation(asking, TICKET).code, len(ASKED.runs)) == ("code.gave_up", 1)


def test_v19_a_run_that_died_is_asked_about_also_when_the_ledger_was_told_of_its_dead_letter() -> None:
    with desk(True) as made:
        event = made.event(asking, TICKET)
        crash(made, asking, event)
        told_and_redriven(made, asking, event)
        assert (len(ASKED.runs), ASKED.times) == (1, 1)
        assert made.operation(asking, TICKET).state is State.SUCCEEDED


@pytest.mark.parametrize(("answer", "code"), [(True, None), (False, "crash.poison"), (None, "effect.unknown")])
def test_v20_poison_is_asked_about_before_it_is_condemned(answer, code) -> None:
    with desk(False) as made:
        event = made.event(asking, TICKET)
        for _ in range(2):
            crash(made, asking, event)
            event = redeliver(event)
        ASKED.answer = answer
        asking(event, None)
        assert (len(ASKED.runs), ASKED.times) == (2, 2)
        operation = made.operation(asking, TICKET)
        assert operation.code == (code or "effect.interrupted")
        assert operation.state is (State.PERMANENTLY_FAILED if code else State.SUCCEEDED)


@pytest.mark.parametrize(("answer", "runs"), [(True, 2), (False, 3)])
def test_v20_a_redrive_of_poison_asks_and_then_gets_a_real_attempt(answer, runs) -> None:
    with desk(False) as made:
        event = made.event(asking, TICKET)
        for _ in range(2):
            crash(made, asking, event)
            event = redeliver(event)
        asking(event, None)
        made.clock.advance(HOUR)
        ASKED.answer = answer
        assert ids(asking(made.event(asking, TICKET), None)) == []
        assert (len(ASKED.runs), ASKED.times) == (runs, 3)
        assert made.operation(asking, TICKET).state is State.SUCCEEDED


@pytest.mark.parametrize("dies", [True, False])
def test_v21_a_question_that_was_never_answered_is_asked_by_a_redrive_however_late(dies) -> None:
    with desk(AWAY, raising(UNKNOWN)) as made:
        event = made.event(asking, TICKET)
        if dies:
            ASKED.act = lambda: None
            crash(made, asking, event)
        asking(event, None)
        assert made.operation(asking, TICKET).code == "effect.unanswered"
        made.clock.advance(timedelta(days=4))
        ASKED.answer, before = True, ASKED.times
        assert ids(asking(made.event(asking, TICKET), None)) == []
        assert made.teller.endings[-1].redrive
        assert (len(ASKED.runs), ASKED.times - before) == (1, 1)


@pytest.mark.parametrize(
    ("answer", "state"),
    [(True, State.SUCCEEDED), (False, State.CANCELED), (None, State.PERMANENTLY_FAILED), (AWAY, State.PENDING)],
)
def test_v22_a_cancel_during_a_run_that_died_waits_for_what_became_of_it(answer, state) -> None:
    with desk(answer) as made:
        event = died_with_a_cancel(made, asking)
        asking(redeliver(event), None)
        assert (len(ASKED.runs), ASKED.times) == (1, 1)
        operation = made.operation(asking, TICKET)
        assert (operation.state, operation.cancel_requested) == (state, state is State.PENDING)


@pytest.mark.parametrize(("answer", "state"), [(True, State.SUCCEEDED), (False, State.CANCELED)])
def test_v22_a_cancel_outlives_a_question_that_fails_and_the_stamp_of_a_dead_letter(answer, state) -> None:
    with desk(AWAY) as made:
        event = died_with_a_cancel(made, asking)
        asking(redeliver(event), None)
        made.clock.advance(HOUR)
        write(made, seen_in_dead_letters(made, asking, TICKET, event["Records"][0]["messageId"]))
        made.clock.advance(HOUR)
        ASKED.answer = answer
        assert ids(asking(made.event(asking, TICKET), None)) == []
        assert (len(ASKED.runs), made.operation(asking, TICKET).state) == (1, state)


@pytest.mark.parametrize(("answer", "state"), [(True, State.SUCCEEDED), (False, State.CANCELED)])
def test_v22_a_cancel_of_an_attempt_whose_question_fails_waits_for_its_answer(answer, state) -> None:
    def cancel_meanwhile() -> None:
        existing = made.operation(asking, TICKET)
        write(made, cancel(existing, act(made), operation_id=existing.id, handler="asking", tenant=None))
        raise UNKNOWN

    with desk(AWAY, cancel_meanwhile) as made:
        event = made.event(asking, TICKET)
        asking(event, None)
        operation = made.operation(asking, TICKET)
        assert (operation.state, operation.cancel_requested) == (State.RETRYABLE_FAILED, True)
        made.clock.advance(HOUR)
        ASKED.answer = answer
        assert ids(asking(redeliver(event), None)) == []
        assert (len(ASKED.runs), made.operation(asking, TICKET).state) == (1, state)


@pytest.mark.parametrize(("answer", "state"), [(True, State.SUCCEEDED), (False, State.CANCELED)])
def test_v22_a_release_leaves_a_cancel_to_what_became_of_the_run(answer, state) -> None:
    with desk(answer) as made:
        event = died_with_a_cancel(made, asking)
        write(made, release(made.operation(asking, TICKET), act(made)))
        assert ids(asking(redeliver(event), None)) == []
        assert (len(ASKED.runs), made.operation(asking, TICKET).state) == (1, state)


def test_the_attempt_after_an_unknown_one_knows_it_under_any_code_and_over_deferrals() -> None:
    failures = [UNKNOWN, Defer("provider.closed"), Retry("provider.busy")]

    def act(ticket: Ticket, job: Job) -> None:
        if failures:
            raise failures.pop(0)

    with world(KIOSK_SERVICE) as made, script(act) as told:
        event = made.event(plain, TICKET)
        for _ in range(4):
            plain(event, None)
            made.clock.advance(HOUR)
            event = redeliver(event)
        assert [job.interrupted for job in told.jobs] == [False, True, True, True]


def test_the_attempts_after_a_run_that_died_know_it() -> None:
    with world(KIOSK_SERVICE) as made, script(raising(Retry("provider.busy"))) as told:
        event = made.event(plain, TICKET)
        crash(made, plain, event)
        for _ in range(2):
            event = redeliver(event)
            plain(event, None)
            made.clock.advance(HOUR)
        assert [job.interrupted for job in told.jobs] == [False, True, True]


def test_a_plain_failure_is_no_interruption() -> None:
    with world(KIOSK_SERVICE) as made, script(raising(Retry("provider.busy"))) as told:
        event = made.event(careful, TICKET)
        for _ in range(2):
            careful(event, None)
            made.clock.advance(HOUR)
            event = redeliver(event)
        assert [job.interrupted for job in told.jobs] == [False, False]


@pytest.mark.parametrize("after", [timedelta.max, timedelta(days=10**6)])
@pytest.mark.parametrize("fate", [Retry, Defer])
def test_a_wait_beyond_all_time_ends_that_message_and_not_its_neighbours(fate, after) -> None:
    """A provider's Retry-After may hold any number."""

    def act(ticket: Ticket, job: Job) -> None:
        if ticket.number == "1":
            raise fate("provider.busy", after=after)

    with world(KIOSK_SERVICE) as made, script(act):
        event = made.event(plain, TICKET, Ticket(number="2"))
        assert ids(plain(event, None)) == [event["Records"][0]["messageId"]]
        assert made.teller.endings[0].outcome is Outcome.EXHAUSTED


class Prickly(Exception):
    """Raises when it is looked at, as some clients' exceptions do before a request was made."""

    @property
    def response(self) -> object:
        raise RuntimeError("not yet")


def test_an_exception_that_raises_when_it_is_looked_at_is_counted_under_its_type() -> None:
    with world(KIOSK_SERVICE) as made, script(raising(Prickly())):
        assert ids(plain(made.event(plain, TICKET), None)) != []
        assert made.operation(plain, TICKET).code == "code.Prickly"


class Lazy(dict):
    """A mapping that cannot be read any more, as one of a closed session."""

    def items(self):
        raise ConnectionError("closed")


def test_a_result_that_cannot_be_read_never_fails_the_message() -> None:
    with world(KIOSK_SERVICE) as made, script(lambda ticket, job: Lazy(a=1)):
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert made.operation(plain, TICKET).state is State.SUCCEEDED


def test_a_rejection_of_an_earlier_unknown_effect_is_the_handler_s_own_word() -> None:
    failures = [UNKNOWN, Reject("data.bad")]
    with world(KIOSK_SERVICE) as made, script(lambda ticket, job: raising(failures.pop(0))()):
        event = made.event(plain, TICKET)
        plain(event, None)
        made.clock.advance(HOUR)
        plain(redeliver(event), None)
        assert made.operation(plain, TICKET).code == "data.bad"
