"""Cursors: a run goes on where the last one stood, over attempts and hand-overs, and only one run moves it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from surehand import Retry, Tick
from surehand.errors import CursorUnreadable, LedgerUnavailable, WritesRefused
from surehand.ledger import RefusedWrites, Unavailable
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import again, job, world
from tests.scenarios.clockwork import CLOCKWORK, NOON, event, in_line, often, script
from tests.scenarios.kiosk import KIOSK, Ticket, abreast, awaited, careful, ids, plain
from tests.scenarios.kiosk import script as kiosk_script

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
TICKET = Ticket(number="1")


class PageId(BaseModel):
    """A cursor as a user would write it."""

    after: str
    at: datetime | None = None


@dataclass
class Place:
    """A cursor that is a dataclass."""

    row: int


def scanning(made, pages, *, page=10 * SECOND, seen=None):
    """Return a handler that goes through *pages*, each of which takes so long, and notes those it has done."""
    seen = [] if seen is None else seen

    def act(tick, job):
        done = job.cursor(int) or 0
        for number in range(done + 1, pages + 1):
            made.clock.advance(page)
            seen.append(number)
            job.save_cursor(number)

    act.seen = seen  # type: ignore[attr-defined]
    return act


def rerun(handler, one):
    """Deliver a message once more and return it as SQS would deliver it the next time, or None if it is deleted."""
    return {"Records": [again(one["Records"][0])]} if ids(handler(one, None)) else None


def to_the_end(handler, one, *, most=50):
    """Deliver a message until it is deleted, and return how many deliveries that took."""
    for count in range(1, most + 1):
        one = rerun(handler, one)
        if one is None:
            return count
    raise AssertionError(f"still there after {most} deliveries")


# ---- hand-over ------------------------------------------------------------------------------------------------------


def test_a_run_longer_than_its_timeout_goes_on_in_further_invocations_from_its_cursor() -> None:
    with world(CLOCKWORK) as made:
        act = scanning(made, 20)
        with script(act) as told:
            assert to_the_end(often, event(made, often, NOON)) == 5
            assert act.seen == list(range(1, 21))
            assert {one.attempt for one in told.jobs} == {1}
        assert [ending.outcome for ending in made.teller.endings] == [Outcome.CONTINUED] * 4 + [Outcome.SUCCEEDED]
        assert made.operation(often, Tick(NOON)).attempts == 1


def test_a_hand_over_makes_the_message_visible_at_once_and_counts_no_attempt() -> None:
    with world(CLOCKWORK) as made, script(scanning(made, 20)):
        one = event(made, often, NOON)
        often(one, None)
        assert made.queues.hidden == {one["Records"][0]["receiptHandle"]: timedelta(0)}
        operation = made.operation(often, Tick(NOON))
        assert (operation.state, operation.attempts, operation.history[-1].note) == (State.PENDING, 0, "continued")


def test_a_hand_over_comes_before_a_page_for_which_the_time_may_not_suffice() -> None:
    with world(CLOCKWORK) as made, script(scanning(made, 9, page=25 * SECOND)) as told:
        often(event(made, often, NOON), None)  # one minute: after one page 33 s are left, and another may need 37 s
        assert made.clock.now() - NOON == 25 * SECOND
        assert len(told.runs) == 1


def test_a_long_start_does_not_count_as_a_page_once_there_are_others() -> None:
    with world(CLOCKWORK) as made:

        def act(tick, job):
            made.clock.advance(20 * SECOND)
            for number in range(1, 60):
                made.clock.advance(SECOND)
                job.save_cursor(number)

        with script(act):
            often(event(made, often, NOON), None)
        assert made.clock.now() - NOON >= 55 * SECOND


def test_a_hand_over_cannot_be_eaten_by_except_exception() -> None:
    with world(CLOCKWORK) as made:

        def greedy(tick, job):
            made.clock.advance(55 * SECOND)
            try:
                job.save_cursor(1)
            except Exception:  # noqa: BLE001 - the point
                return "eaten"

        with script(greedy):
            often(event(made, often, NOON), None)
        assert made.teller.endings[-1].outcome is Outcome.CONTINUED


def test_what_must_be_tidied_up_is_tidied_up_at_a_hand_over() -> None:
    closed = []
    with world(CLOCKWORK) as made:

        def act(tick, job):
            made.clock.advance(55 * SECOND)
            try:
                job.save_cursor(1)
            finally:
                closed.append(job.operation)

        with script(act):
            often(event(made, often, NOON), None)
    assert len(closed) == 1


@pytest.mark.parametrize("handler", [plain, abreast, careful])
def test_every_kind_of_queue_handler_can_hand_over(handler) -> None:
    with world(KIOSK) as made, kiosk_script() as told:

        def act(ticket, job):
            made.clock.advance(handler.options.timeout - SECOND)
            if job.cursor(int) is None:
                job.save_cursor(1)

        told.act = act
        one = rerun(handler, made.event(handler, TICKET))
        assert made.teller.endings[-1].outcome is Outcome.CONTINUED
        assert rerun(handler, one) is None
        assert made.operation(handler, TICKET).state is State.SUCCEEDED


def test_an_async_handler_can_hand_over() -> None:
    with world(KIOSK) as made, kiosk_script() as told:

        async def scan(job):
            if job.cursor(int) is None:
                made.clock.advance(9 * SECOND)
                job.save_cursor(1)

        told.act = lambda ticket, job: scan(job)
        one = rerun(awaited, made.event(awaited, TICKET))
        assert made.teller.endings[-1].outcome is Outcome.CONTINUED
        assert rerun(awaited, one) is None


def test_a_duplicate_between_two_invocations_goes_on_with_the_one_chain() -> None:
    with world(CLOCKWORK) as made:
        act = scanning(made, 8)
        with script(act):
            first = rerun(often, event(made, often, NOON))
            assert rerun(often, event(made, often, NOON)) is None
            assert rerun(often, first) is None
        assert act.seen == list(range(1, 9))


def test_a_duplicate_during_an_invocation_does_not_start_a_second_chain() -> None:
    with world(CLOCKWORK) as made:
        outcomes = []

        def act(tick, job):
            if not outcomes:
                outcomes.append(made.teller.endings)
                assert ids(often(event(made, often, NOON), None)) != []
            job.save_cursor(1)

        with script(act) as told:
            often(event(made, often, NOON), None)
            assert len(told.runs) == 1
        assert [ending.outcome for ending in made.teller.endings] == [Outcome.IN_PROGRESS, Outcome.SUCCEEDED]


def test_a_tick_in_hand_over_holds_the_schedule() -> None:
    with world(CLOCKWORK) as made:
        with script(scanning(made, 20)):
            often(event(made, often, NOON), None)
        made.clock.advance(4 * MINUTE)
        with script() as told:
            often(event(made, often, NOON + 5 * MINUTE), None)
            assert (told.runs, made.teller.endings[-1].code) == ([], "schedule.overlap")


# ---- limits ---------------------------------------------------------------------------------------------------------


def test_three_hand_overs_in_a_row_without_progress_end_the_run() -> None:
    with world(CLOCKWORK) as made:

        def act(tick, job):
            made.clock.advance(55 * SECOND)
            job.save_cursor("still here")

        with script(act) as told:
            one = event(made, often, NOON)
            for _ in range(6):
                one = rerun(often, one)
            assert len(told.runs) == 4  # the first one moved the cursor to where it then stayed
        operation = made.operation(often, Tick(NOON))
        assert (operation.state, operation.code) == (State.PERMANENTLY_FAILED, "schedule.no_progress")


def test_progress_in_between_is_progress() -> None:
    with world(CLOCKWORK) as made:
        cursors = iter("aaabbcccdd")

        def act(tick, job):
            made.clock.advance(55 * SECOND)
            if (cursor := next(cursors, None)) is not None:
                job.save_cursor(cursor)

        with script(act):
            assert to_the_end(often, event(made, often, NOON)) == 11


def test_a_run_that_takes_longer_than_give_up_after_over_its_hand_overs_is_ended() -> None:
    with world(CLOCKWORK) as made:

        def act(tick, job):
            made.clock.advance(55 * SECOND)
            job.save_cursor((job.cursor(int) or 0) + 1)

        with script(act):
            one = event(made, often, NOON)
            for _ in range(3):
                one = rerun(often, one)
                made.clock.advance(timedelta(days=1))
            one = rerun(often, one)
        operation = made.operation(often, Tick(NOON))
        assert (operation.state, operation.code) == (State.PERMANENTLY_FAILED, "schedule.too_long")


def test_earlier_failures_do_not_count_once_the_cursor_has_moved() -> None:
    with world(CLOCKWORK) as made:

        def act(tick, job):
            done = job.cursor(int) or 0
            if done < 12:
                job.save_cursor(done + 1)
                raise Retry("provider.busy", after=MINUTE)

        with script(act) as told:
            one = event(made, often, NOON)
            for _ in range(13):
                one = rerun(often, one)
                made.clock.advance(MINUTE)
            assert one is None
            assert [one.attempt for one in told.jobs] == [1] + [2] * 12


def test_a_run_that_gets_further_at_its_last_attempt_has_further_ones() -> None:
    with world(CLOCKWORK) as made:

        def act(tick, job):
            if job.last_attempt:
                job.save_cursor(1)
            raise ValueError

        with script(act) as told:
            one = event(made, often, NOON)
            for _ in range(6):
                one = rerun(often, one)
                made.clock.advance(20 * MINUTE)
            assert [one.attempt for one in told.jobs] == [1, 2, 3, 4, 5, 2]


def test_a_run_that_gets_further_is_no_suspect_any_more() -> None:
    with world(CLOCKWORK) as made:
        one = event(made, often, NOON)
        with script(scanning(made, 20)):
            one = rerun(often, one)
            item = made.ledger.items[made.operation(often, Tick(NOON)).id]
            made.ledger.items[item.id] = replace(item, marks=2)
            one = rerun(often, one)
        operation = made.operation(often, Tick(NOON))
        assert (operation.state, operation.marks) == (State.PENDING, 0)


def test_a_run_that_fails_at_one_place_is_exhausted_there_however_far_it_had_got() -> None:
    with world(CLOCKWORK) as made:

        def act(tick, job):
            if job.cursor(int) is None:
                for number in range(100):
                    job.save_cursor(number)
            raise ValueError

        with script(act) as told:
            one = event(made, often, NOON)
            for _ in range(8):
                one = rerun(often, one)
                made.clock.advance(20 * MINUTE)
            assert len(told.runs) == 5
        assert made.operation(often, Tick(NOON)).state is State.PERMANENTLY_FAILED


# ---- one holder -----------------------------------------------------------------------------------------------------


def test_a_late_worker_s_save_is_refused_and_it_leaves_at_once() -> None:
    with world(CLOCKWORK) as made:
        after = []

        def act(tick, job):
            job.save_cursor(5)
            item = made.ledger.items[job.operation]
            made.ledger.items[job.operation] = replace(item, fence=item.fence + 1, owner="another")
            try:
                job.save_cursor(4)
            except Exception:  # noqa: BLE001 - the point
                after.append("eaten")
            after.append("went on")

        with script(act):
            assert ids(often(event(made, often, NOON), None)) != []
        ending = made.teller.endings[-1]
        assert (ending.outcome, ending.code, after) == (Outcome.FENCE_LOST, "ledger.fence_lost", [])
        operation = made.operation(often, Tick(NOON))
        assert (operation.owner, operation.state) == ("another", State.LEASED)


def test_a_worker_whose_lease_has_ended_saves_nothing_and_counts_no_attempt() -> None:
    with world(CLOCKWORK) as made:

        def act(tick, job):
            made.clock.advance(10 * MINUTE)
            job.save_cursor(1)

        with script(act):
            assert ids(often(event(made, often, NOON), None)) != []
        operation = made.operation(often, Tick(NOON))
        assert made.teller.endings[-1].outcome is Outcome.FENCE_LOST
        assert (operation.state, operation.attempts, made.cursors.items) == (State.LEASED, 0, {})


def test_a_cancel_takes_effect_at_the_next_page() -> None:
    with world(CLOCKWORK) as made:
        pages = []

        def act(tick, job):
            for number in range(10):
                pages.append(number)
                if number == 3:
                    item = made.ledger.items[job.operation]
                    made.ledger.items[job.operation] = replace(item, cancel_requested=True)
                job.save_cursor(number)

        with script(act):
            assert ids(often(event(made, often, NOON), None)) == []
        assert pages == [0, 1, 2, 3]
        assert made.operation(often, Tick(NOON)).state is State.CANCELED


def test_a_ledger_that_is_away_at_a_save_is_a_failed_attempt_that_is_tried_again(monkeypatch) -> None:
    with world(CLOCKWORK) as made:
        monkeypatch.setattr("surehand.testing.cursors.MemoryCursors.save", lambda *_, **__: Unavailable("Throttling"))
        with script(lambda tick, job: job.save_cursor(1)):
            assert ids(often(event(made, often, NOON), None)) != []
        operation = made.operation(often, Tick(NOON))
        assert (operation.state, operation.code) == (State.RETRYABLE_FAILED, "ledger.unavailable")


def test_a_refused_write_of_the_handler_s_own_is_its_exception(monkeypatch) -> None:
    met = []

    def act(tick, job):
        try:
            job.save_cursor(1, with_writes=[{"Put": {}}, {"Put": {}}])
        except WritesRefused as error:
            met.append((error.reasons, str(error)))

    with world(CLOCKWORK) as made, script(act):
        refused = RefusedWrites(["None", "ConditionalCheckFailed"])
        monkeypatch.setattr("surehand.testing.cursors.MemoryCursors.save", lambda *_, **__: refused)
        often(event(made, often, NOON), None)
    assert met == [(("None", "ConditionalCheckFailed"), "nothing was saved; with_writes[1]: ConditionalCheckFailed")]


# ---- what a cursor may be -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "value"),
    [
        (int, 0),
        (str, ""),
        (bool, False),
        (list[int], []),
        (dict[str, int], {"a": 1}),
        (PageId, PageId(after="x", at=NOON)),
        (Place, Place(row=7)),
        (datetime, NOON),
        (tuple[str, int], ("a", 1)),
        (int | str, "x"),
    ],
)
def test_a_cursor_of_any_type_that_pydantic_knows_comes_back_as_it_was(of, value) -> None:
    one = job(often, Tick(NOON))
    one.save_cursor(value)
    found = one.cursor(of)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("value", [None, object(), lambda: 1, "x" * 40_000, b"\xff", SimpleNamespace(a=1)])
def test_what_cannot_be_a_cursor_is_a_type_error_and_nothing_is_written(value) -> None:
    one = job(often, Tick(NOON), cursor=3)
    with pytest.raises(TypeError):
        one.save_cursor(value)
    assert one.cursor(int) == 3


@pytest.mark.parametrize("writes", [["Put"], [{}], [{"Put": {}, "Delete": {}}], [{"Scan": {}}], [{"Put": {}}] * 99])
def test_writes_of_another_form_are_a_type_error_and_nothing_is_written(writes) -> None:
    one = job(often, Tick(NOON))
    with pytest.raises(TypeError, match="with_writes"):
        one.save_cursor(1, with_writes=writes)
    assert one.cursor(int) is None


def test_a_cursor_of_a_changed_type_rejects_the_message_and_names_no_value() -> None:
    with world(CLOCKWORK) as made:
        with script(scanning(made, 20)):
            one = rerun(often, event(made, often, NOON))
        with script(lambda tick, job: job.cursor(PageId)):
            assert ids(often(one, None)) != []
        ending = made.teller.endings[-1]
        assert (ending.outcome, ending.code) == (Outcome.REJECTED, "schedule.cursor")


def test_a_redrive_with_a_type_that_reads_the_old_cursor_goes_on_from_it() -> None:
    with world(CLOCKWORK) as made:
        with script(scanning(made, 20)):
            one = rerun(often, event(made, often, NOON))
        with script(lambda tick, job: job.cursor(PageId)):
            often(one, None)
        made.clock.advance(MINUTE)
        found: list[object] = []
        with script(lambda tick, job: found.append(job.cursor(PageId | int))):  # type: ignore[arg-type]
            assert ids(often(event(made, often, NOON), None)) == []
        assert found == [5]


def test_an_unreadable_cursor_says_which_type_was_asked_for_and_not_what_stood_there() -> None:
    one = job(often, Tick(NOON), cursor="card 4111")
    with pytest.raises(CursorUnreadable) as unreadable:
        one.cursor(int)
    assert str(unreadable.value) == "the saved cursor is no int (int_parsing)"


def test_shards_are_kept_apart() -> None:
    one = job(often, Tick(NOON))
    one.save_cursor(1, shard="a")
    one.save_cursor(2, shard="b")
    assert (one.cursor(int, shard="a"), one.cursor(int, shard="b"), one.cursor(int)) == (1, 2, None)


def test_a_cursor_belongs_to_its_operation_and_the_next_tick_begins_anew() -> None:
    with world(CLOCKWORK) as made:
        with script(lambda tick, job: job.save_cursor(9)):
            in_line(event(made, in_line, NOON), None)
        found = []
        with script(lambda tick, job: found.append(job.cursor(int))):
            in_line(event(made, in_line, NOON + 5 * MINUTE), None)
        assert found == [None]


def test_a_handler_that_is_run_by_itself_keeps_its_cursor_in_memory() -> None:
    with script(lambda tick, job: job.save_cursor((job.cursor(int) or 0) + 1)):
        one = job(often, Tick(NOON), cursor=41)
        often.run(Tick(NOON), one)
        assert one.cursor(int) == 42
        often.run(Tick(NOON))


def test_a_ledger_that_is_away_when_a_cursor_is_read_is_no_missing_cursor(monkeypatch) -> None:
    def away(*_, **__):
        raise LedgerUnavailable("Throttling")

    with world(CLOCKWORK) as made, script(lambda tick, job: job.cursor(int)):
        monkeypatch.setattr("surehand.testing.cursors.MemoryCursors.read", away)
        assert ids(often(event(made, often, NOON), None)) != []
        assert made.operation(often, Tick(NOON)).code == "ledger.unavailable"
