"""From what an attempt did to what is written of it: every row of the outcome table, and every boundary."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from surehand import Cancel, Defer, Reject, Retry, Unknown
from surehand.declare.options import Options
from surehand.errors import CursorUnreadable, LedgerUnavailable
from surehand.ledger import Entry, Operation
from surehand.outcomes import Fate, Outcome
from surehand.states import State
from surehand.worker.conclude import conclude
from surehand.worker.conclusion import Conclusion, Raised, Returned, SoftDeadline, bounded, condemned
from surehand.worker.handing_over import HandOver
from surehand.worker.unknown import before_a_run, is_open

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)


class Half(Random):
    """Jitter in the middle: the wait after attempt n is 1 s · 2^(n-1) with the default backoff."""

    def random(self) -> float:
        return 0.5


def operation(*, age: timedelta = HOUR, history: tuple[Entry, ...] = (), **known) -> Operation:
    made = Operation(
        id="o",
        handler="orders",
        tenant=None,
        state=State.LEASED,
        fence=1,
        owner="one",
        claimed_at=NOW,
        started_at=NOW - age,
        expires_at=NOW + 30 * DAY,
        history=history,
    )
    return replace(made, **known)


def entry(state: State, note: str | None = None) -> Entry:
    return Entry(state=state, at=NOW, fence=1, attempt=1, note=note)


LEASED, MOVED, UNMOVED = entry(State.LEASED), entry(State.PENDING, "continued"), entry(State.PENDING, "unmoved")


def of(ended, one: Operation | None = None, *, ask=None, moved: bool = False, **options) -> Conclusion:
    ended = Raised(ended) if isinstance(ended, BaseException) else ended
    known = one or operation()
    return conclude(ended, known, Options(key="k", **options), ask=ask, now=NOW, random=Half(), moved=moved)


def test_a_return_succeeds_with_its_result() -> None:
    assert of(Returned(7)) == Conclusion(outcome=Outcome.SUCCEEDED, state=State.SUCCEEDED, result="7")


def test_a_cancel_is_final_under_its_code() -> None:
    expected = Conclusion(outcome=Outcome.CANCELED, state=State.CANCELED, code="data.declined")
    assert of(Cancel("data.declined")) == expected


def test_a_rejection_is_permanent_under_its_code() -> None:
    expected = Conclusion(outcome=Outcome.REJECTED, state=State.PERMANENTLY_FAILED, code="data.bad")
    assert of(Reject("data.bad")) == expected


@pytest.mark.parametrize(
    ("after", "wait"), [(None, 4 * SECOND), (HOUR, HOUR), (NOW + HOUR, HOUR), (NOW - HOUR, 0 * SECOND)]
)
def test_a_deferral_waits_as_it_says_or_by_the_backoff_and_counts_no_attempt(after, wait) -> None:
    assert of(Defer("provider.closed", after=after), operation(attempts=2)) == Conclusion(
        outcome=Outcome.DEFERRED, state=State.PENDING, code="provider.closed", wait=wait, attempted=False
    )


@pytest.mark.parametrize(("after", "wait"), [(None, 4 * SECOND), (HOUR, HOUR)])
def test_a_retry_waits_as_it_says_or_by_the_backoff(after, wait) -> None:
    assert of(Retry("provider.busy", after=after), operation(attempts=2)) == Conclusion(
        outcome=Outcome.RETRY, state=State.RETRYABLE_FAILED, code="provider.busy", wait=wait
    )


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyError("x"), "code.KeyError"),
        (LedgerUnavailable("x"), "ledger.unavailable"),
        (TimeoutError(), "provider.timeout"),
        (SystemExit(3), "code.SystemExit"),
        (Fate("data.odd"), "data.odd"),
    ],
)
def test_any_other_exception_is_a_failed_attempt_under_its_code(error, code) -> None:
    assert of(error) == Conclusion(outcome=Outcome.RETRY, state=State.RETRYABLE_FAILED, code=code, wait=SECOND)


class Prickly(Fate):
    """A fate of which nothing can be read."""

    def __init__(self) -> None:
        self.after = 30  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> object:
        if name == "code":
            raise KeyError(name)
        return super().__getattribute__(name)


@pytest.mark.parametrize("fate", [Retry, Defer, Reject, Cancel, Unknown])
def test_a_fate_of_which_nothing_can_be_read_is_that_fate_still(fate) -> None:
    odd = type("Odd", (Prickly, fate), {})
    concluded = of(odd())
    assert (concluded.outcome, concluded.code) == (of(fate("data.bad")).outcome, "code.bad_code")
    assert concluded.wait == of(fate("data.bad")).wait
    assert concluded.notice is not None
    assert concluded.notice.code == "code.bad_code"


def test_what_broke_beside_a_chosen_fate_is_told_as_its_origin() -> None:
    concluded = of(Raised(Cancel("data.declined"), beside=KeyError("x")))
    assert concluded.outcome is Outcome.CANCELED
    assert concluded.origin is not None
    assert concluded.origin.type == "KeyError"


def test_a_cursor_that_cannot_be_read_is_rejected() -> None:
    expected = Conclusion(outcome=Outcome.REJECTED, state=State.PERMANENTLY_FAILED, code="schedule.cursor")
    assert of(CursorUnreadable("x")) == expected


@pytest.mark.parametrize(("attempts", "ends"), [(3, False), (4, True)])
@pytest.mark.parametrize("error", [Retry("provider.busy"), Unknown("provider.busy")])
def test_the_last_attempt_ends_the_operation_under_the_code_of_its_failure(error, attempts, ends) -> None:
    concluded = of(error, operation(attempts=attempts))
    assert (concluded.outcome is Outcome.EXHAUSTED) is ends
    assert concluded.code == "provider.busy"
    if ends:
        expected = Conclusion(outcome=Outcome.EXHAUSTED, state=State.PERMANENTLY_FAILED, code="provider.busy")
        assert concluded == expected


@pytest.mark.parametrize(
    ("error", "code", "wait"),
    [
        (Unknown("provider.lost"), "provider.lost", SECOND),
        (Unknown("provider.lost", after=HOUR), "provider.lost", HOUR),
        (SoftDeadline(), "effect.timeout", SECOND),
    ],
)
def test_an_unknown_effect_is_tried_again_by_default(error, code, wait) -> None:
    expected = Conclusion(outcome=Outcome.UNKNOWN, state=State.RETRYABLE_FAILED, code=code, wait=wait)
    assert of(error) == expected


HELD = Conclusion(outcome=Outcome.HELD, state=State.PERMANENTLY_FAILED, code="effect.unknown")
PUT_BACK = Conclusion(outcome=Outcome.UNSTARTED, state=State.PENDING, attempted=False)
UNANSWERED = Conclusion(outcome=Outcome.UNKNOWN, state=State.RETRYABLE_FAILED, code="effect.unanswered")


@pytest.mark.parametrize(
    ("conclusion", "marks", "open_"),
    [
        (HELD, 0, True),
        (UNANSWERED, 0, True),
        (replace(UNANSWERED, state=State.PERMANENTLY_FAILED, outcome=Outcome.EXHAUSTED), 2, False),
        (replace(UNANSWERED, code="effect.timeout"), 0, False),
        (PUT_BACK, 1, False),
        (PUT_BACK, 2, True),
        (replace(PUT_BACK, outcome=Outcome.DEFERRED), 2, False),
    ],
)
def test_what_may_have_had_an_effect_that_nobody_knows_of_is_open(conclusion, marks, open_) -> None:
    assert is_open(conclusion, operation(marks=marks), Options(key="k", on_unknown="hold")) is open_
    assert is_open(conclusion, operation(marks=marks), Options(key="k")) is False


@pytest.mark.parametrize("error", [Unknown("provider.lost"), SoftDeadline()])
@pytest.mark.parametrize("moved", [True, False])
def test_an_unknown_effect_is_held_where_the_declaration_says_so(error, moved) -> None:
    assert of(error, on_unknown="hold", moved=moved) == replace(HELD, afresh=moved)


def policy(payload, job) -> bool | None: ...


@pytest.mark.parametrize(
    ("applied", "expected"),
    [
        (True, Conclusion(outcome=Outcome.SUCCEEDED, state=State.SUCCEEDED, code="provider.lost")),
        (
            False,
            Conclusion(outcome=Outcome.UNKNOWN, state=State.RETRYABLE_FAILED, code="provider.lost", wait=SECOND),
        ),
        (None, HELD),
        (1, HELD),
    ],
)
def test_an_unknown_effect_is_what_the_provider_says(applied, expected) -> None:
    assert of(Unknown("provider.lost"), ask=lambda: applied, on_unknown=policy) == expected


def raising(error):
    def ask():
        raise error

    return ask


AGAIN = Conclusion(outcome=Outcome.UNKNOWN, state=State.RETRYABLE_FAILED, code="effect.unanswered", wait=SECOND)


@pytest.mark.parametrize(
    ("error", "known", "expected"),
    [
        (OSError(), operation(), AGAIN),
        (OSError(), operation(attempts=2), replace(AGAIN, wait=4 * SECOND)),
        (Retry("provider.busy", after=HOUR), operation(), replace(AGAIN, wait=HOUR)),
        (Defer("provider.busy", after=HOUR), operation(), replace(AGAIN, wait=HOUR)),
        (Reject("provider.busy", after=HOUR), operation(), AGAIN),
        (OSError(), operation(attempts=3), replace(AGAIN, wait=8 * SECOND)),
        (OSError(), operation(attempts=4), HELD),
        (OSError(), operation(age=3 * DAY), HELD),
        (Retry("provider.busy", after=3 * DAY), operation(), HELD),
    ],
)
def test_a_question_that_fails_is_asked_again_until_the_attempts_or_the_time_are_over(error, known, expected) -> None:
    assert of(Unknown("provider.lost"), known, ask=raising(error), on_unknown=policy) == expected


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (lambda: True, Conclusion(
            outcome=Outcome.SUCCEEDED, state=State.SUCCEEDED, code="effect.interrupted", attempted=False
        )),
        (lambda: False, None),
        (lambda: None, replace(HELD, attempted=False)),
        (None, replace(HELD, attempted=False)),
        (raising(OSError()), replace(AGAIN, outcome=Outcome.DEFERRED, state=State.PENDING, attempted=False)),
        (raising(SoftDeadline()), replace(AGAIN, outcome=Outcome.DEFERRED, state=State.PENDING, attempted=False)),
    ],
)  # fmt: skip
def test_before_a_run_after_one_that_died_the_provider_is_asked_and_no_attempt_counted(ask, expected) -> None:
    assert before_a_run(operation(), Options(key="k", on_unknown=policy), ask=ask, now=NOW, random=Half()) == expected


def test_even_when_the_last_attempt_died_a_failing_question_waits() -> None:
    later = before_a_run(
        operation(attempts=4), Options(key="k", on_unknown=policy), ask=raising(OSError()), now=NOW, random=Half()
    )
    assert later is not None
    assert (later.state, later.wait) == (State.PENDING, 16 * SECOND)


@pytest.mark.parametrize("moved", [True, False])
def test_a_hand_over_continues_at_once_and_counts_no_attempt(moved) -> None:
    assert of(HandOver(), moved=moved) == Conclusion(
        outcome=Outcome.CONTINUED,
        state=State.PENDING,
        wait=timedelta(0),
        attempted=False,
        note="continued" if moved else "unmoved",
        afresh=moved,
    )


def test_an_interruption_behind_a_moved_cursor_is_a_hand_over_that_the_next_run_knows_of() -> None:
    assert of(SoftDeadline(), moved=True) == Conclusion(
        outcome=Outcome.CONTINUED,
        state=State.PENDING,
        code="effect.timeout",
        wait=timedelta(0),
        attempted=False,
        note="continued",
        afresh=True,
    )


def test_after_a_moved_cursor_earlier_failures_do_not_count() -> None:
    assert of(Retry("provider.busy"), operation(attempts=4), moved=True) == Conclusion(
        outcome=Outcome.RETRY, state=State.RETRYABLE_FAILED, code="provider.busy", wait=SECOND, afresh=True
    )
    assert of(Retry("provider.busy"), operation(attempts=4), moved=True, max_attempts=2).outcome is Outcome.RETRY
    assert of(Retry("provider.busy"), operation(), moved=True, max_attempts=1).outcome is Outcome.EXHAUSTED


def test_hand_overs_of_a_run_that_takes_too_long_have_an_end() -> None:
    too_long = Conclusion(
        outcome=Outcome.EXHAUSTED, state=State.PERMANENTLY_FAILED, code="schedule.too_long", attempted=False
    )
    assert of(HandOver(), operation(age=3 * DAY), moved=True).outcome is Outcome.CONTINUED
    assert of(HandOver(), operation(age=3 * DAY + SECOND), moved=True) == replace(too_long, afresh=True)


@pytest.mark.parametrize(
    ("history", "moved", "ends"),
    [
        ((LEASED, UNMOVED, LEASED), False, False),
        ((LEASED, UNMOVED, LEASED, UNMOVED, LEASED), False, True),
        ((LEASED, UNMOVED, LEASED, UNMOVED, LEASED), True, False),
        ((LEASED, UNMOVED, LEASED, MOVED, LEASED, UNMOVED, LEASED), False, False),
        ((LEASED, MOVED, LEASED, UNMOVED, LEASED, UNMOVED, LEASED), False, True),
    ],
)
def test_three_hand_overs_in_a_row_without_progress_are_the_end(history, moved, ends) -> None:
    concluded = of(HandOver(), operation(history=history), moved=moved)
    assert (concluded.code == "schedule.no_progress") is ends
    assert (concluded.outcome is Outcome.EXHAUSTED) is ends


WAITING = Conclusion(outcome=Outcome.DEFERRED, state=State.PENDING, wait=DAY, attempted=False)


@pytest.mark.parametrize(
    ("age", "conclusion", "code"),
    [
        (2 * DAY, WAITING, None),
        (2 * DAY + SECOND, WAITING, "code.gave_up"),
        (2 * DAY + SECOND, replace(WAITING, code="provider.closed"), "provider.closed"),
        (3 * DAY, replace(WAITING, wait=None), None),
        (3 * DAY + SECOND, replace(WAITING, wait=None), "code.gave_up"),
    ],
)
def test_waiting_ends_where_it_would_go_beyond_give_up_after_and_not_before(age, conclusion, code) -> None:
    ended = bounded(conclusion, operation(age=age), Options(key="k"), NOW)
    if code is None:
        assert ended == conclusion
    else:
        assert ended == Conclusion(
            outcome=Outcome.EXHAUSTED, state=State.PERMANENTLY_FAILED, code=code, attempted=False
        )


@pytest.mark.parametrize(
    ("known", "poison", "outcome", "code"),
    [
        (operation(), True, Outcome.REJECTED, "crash.poison"),
        (operation(attempts=5), False, Outcome.EXHAUSTED, "code.exhausted"),
        (operation(attempts=6, code="data.bad"), False, Outcome.EXHAUSTED, "data.bad"),
        (operation(age=3 * DAY + SECOND), False, Outcome.EXHAUSTED, "code.gave_up"),
        (operation(age=3 * DAY + SECOND, code="data.bad"), False, Outcome.EXHAUSTED, "data.bad"),
        (
            operation(age=3 * DAY + SECOND, history=(LEASED, MOVED, LEASED)),
            False,
            Outcome.EXHAUSTED,
            "schedule.too_long",
        ),
        (
            operation(age=3 * DAY + SECOND, history=(LEASED, MOVED, LEASED, entry(State.RETRYABLE_FAILED), LEASED)),
            False,
            Outcome.EXHAUSTED,
            "code.gave_up",
        ),
        (operation(attempts=4, age=3 * DAY), False, None, None),
    ],
)
def test_an_operation_that_must_not_run_is_ended_with_the_reason(known, poison, outcome, code) -> None:
    ended = condemned(known, Options(key="k"), poison=poison, now=NOW)
    if outcome is None:
        assert ended is None
    else:
        assert ended == Conclusion(outcome=outcome, state=State.PERMANENTLY_FAILED, code=code, attempted=False)
