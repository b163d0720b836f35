"""Ticks as operations: each moment runs once, in time, and not during another one's run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from surehand import Cancel, Defer, Reject, Retry, Tick
from surehand.delivery import BACKFILL
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import again, world
from tests.scenarios.clockwork import CLOCKWORK, NOON, abreast, body, event, in_line, nightly, odd, often, script
from tests.scenarios.kiosk import ids

MINUTE = timedelta(minutes=1)


def raising(error):
    def act(tick, job):
        raise error

    return act


def first(made, handler, moment=NOON):
    """Let a tick begin and fail for now, so that its run goes on."""
    with script(raising(Retry("provider.busy", after=10 * MINUTE))):
        one = event(made, handler, moment)
        assert ids(handler(one, None)) != []
    return {"Records": [again(one["Records"][0])]}


# ---- one run for each moment ----------------------------------------------------------------------------------------


def test_a_tick_delivered_twice_runs_once() -> None:
    with world(CLOCKWORK) as made, script() as told:
        assert ids(often(event(made, often, NOON), None)) == []
        assert ids(often(event(made, often, NOON), None)) == []
        assert told.runs == [NOON]
        assert made.teller.endings[-1].outcome is Outcome.ALREADY_APPLIED


def test_two_attempts_of_the_scheduler_with_other_execution_ids_are_one_tick() -> None:
    with world(CLOCKWORK) as made, script() as told:
        for execution in ("a1", "b2"):
            text = '{"at": "2026-01-01T12:00:00Z", "execution": "' + execution + '"}'
            assert ids(often(made.event(often, text), None)) == []
        assert told.runs == [NOON]


def test_the_same_moment_told_in_another_zone_is_the_same_tick() -> None:
    with world(CLOCKWORK) as made, script() as told:
        often(made.event(often, '{"at": "2026-01-01T12:00:00Z"}'), None)
        often(made.event(often, '{"at": "2026-01-01T13:00:00+01:00"}'), None)
        assert len(told.runs) == 1


def test_two_moments_are_two_operations() -> None:
    with world(CLOCKWORK) as made, script() as told:
        often(event(made, often, NOON), None)
        often(event(made, often, NOON - 5 * MINUTE), None)
        assert told.runs == [NOON, NOON - 5 * MINUTE]


def test_a_tick_is_told_in_the_zone_of_its_schedule() -> None:
    moment = datetime(2026, 1, 1, 1, 30, tzinfo=UTC)
    with world(CLOCKWORK) as made, script() as told:
        made.clock.advance(moment - NOON)
        nightly(event(made, nightly, moment), None)
        assert str(told.runs[0]) == "2026-01-01 02:30:00+01:00"
        assert made.ledger.items['["nightly",null,["2026-01-01T01:30:00Z"]]'].state is State.SUCCEEDED


@pytest.mark.parametrize("text", ['{"at": "noon"}', "{}", '{"at": "2026-01-01T12:00:00"}', "[]", '{"at": null}'])
def test_a_body_that_is_no_tick_is_rejected(text: str) -> None:
    with world(CLOCKWORK) as made, script() as told:
        assert ids(often(made.event(often, text), None)) != []
        assert made.teller.endings[0].code == "input.schema"
        assert told.runs == []


def test_a_tick_can_be_sent_by_hand() -> None:
    with world(CLOCKWORK) as made:
        often.send(Tick(NOON))
        assert [message.body for message in made.queues.sent["often"]] == [body(NOON).replace(" ", "")]


def test_a_tick_without_a_zone_is_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Tick(datetime(2026, 1, 1))  # noqa: DTZ001 - the point


# ---- the placeholder that an emulator leaves ------------------------------------------------------------------------


def test_an_unreplaced_placeholder_means_the_last_moment_of_the_grid_by_the_time_of_sending() -> None:
    with world(CLOCKWORK) as made, script() as told:
        made.clock.advance(4 * MINUTE + timedelta(seconds=59))
        assert ids(often(made.event(often, '{"at": "<aws.scheduler.scheduled-time>"}'), None)) == []
        assert told.runs == [NOON]


def test_two_unreplaced_placeholders_of_one_period_are_one_tick() -> None:
    with world(CLOCKWORK) as made, script() as told:
        for _ in range(2):
            made.clock.advance(MINUTE)
            often(made.event(often, '{"at": "<aws.scheduler.scheduled-time>"}'), None)
        assert told.runs == [NOON]


def test_an_unreplaced_placeholder_falls_on_the_local_times_of_a_cron_expression() -> None:
    with world(CLOCKWORK) as made, script() as told:
        made.clock.advance(timedelta(hours=13, minutes=35))
        nightly(made.event(nightly, '{"at": "<aws.scheduler.scheduled-time>"}'), None)
        assert str(told.runs[0]) == "2026-01-02 02:30:00+01:00"


def test_a_placeholder_of_a_period_that_aws_anchors_is_an_estimate_that_is_the_same_for_duplicates() -> None:
    with world(CLOCKWORK) as made, script() as told:
        for _ in range(2):
            odd(made.event(odd, '{"at": "<aws.scheduler.scheduled-time>"}'), None)
        assert len(told.runs) == 1
        assert timedelta(0) <= NOON - told.runs[0] < 7 * MINUTE


# ---- late ticks -----------------------------------------------------------------------------------------------------


def test_a_tick_that_comes_later_than_catch_up_is_canceled_and_acknowledged() -> None:
    with world(CLOCKWORK) as made, script() as told:
        assert ids(often(event(made, often, NOON - 31 * MINUTE), None)) == []
        (ending,) = made.teller.endings
        assert (ending.outcome, ending.code, told.runs) == (Outcome.CANCELED, "schedule.late", [])
        assert ending.detail == "0:31:00 after its moment"


def test_a_tick_that_comes_just_in_time_runs() -> None:
    with world(CLOCKWORK) as made, script() as told:
        often(event(made, often, NOON - 30 * MINUTE), None)
        assert len(told.runs) == 1


def test_a_duplicate_of_a_late_tick_is_acknowledged_too() -> None:
    with world(CLOCKWORK) as made, script():
        for _ in range(2):
            assert ids(often(event(made, often, NOON - 40 * MINUTE), None)) == []


def test_a_tick_that_began_in_time_is_finished_however_late() -> None:
    with world(CLOCKWORK) as made:
        later = first(made, often)
        made.clock.advance(timedelta(hours=5))
        with script() as told:
            assert ids(often(later, None)) == []
            assert told.runs == [NOON]


def test_a_backfilled_tick_is_never_too_late() -> None:
    with world(CLOCKWORK) as made, script() as told:
        moment = NOON - timedelta(days=20)
        assert ids(often(event(made, often, moment, attributes={BACKFILL: "plan-1"}), None)) == []
        assert told.runs == [moment]


# ---- overlap --------------------------------------------------------------------------------------------------------


def test_a_tick_during_another_one_s_run_is_skipped_and_names_it() -> None:
    with world(CLOCKWORK) as made:
        first(made, often)
        made.clock.advance(5 * MINUTE)
        with script() as told:
            assert ids(often(event(made, often, NOON + 5 * MINUTE), None)) == []
            ending = made.teller.endings[-1]
            assert (ending.outcome, ending.code, told.runs) == (Outcome.CANCELED, "schedule.overlap", [])
            assert ending.detail == "while the tick of 2026-01-01T12:00:00Z had not ended"
            assert made.operation(often, Tick(NOON + 5 * MINUTE)).history[-1].note == ending.detail


@pytest.mark.parametrize("act", [lambda tick, job: None, raising(Cancel("data.nothing_to_do"))])
def test_the_next_tick_runs_when_the_last_one_s_run_has_ended(act) -> None:
    with world(CLOCKWORK) as made:
        later = first(made, often)
        made.clock.advance(10 * MINUTE)
        with script(act):
            often(later, None)
        with script() as told:
            often(event(made, often, NOON + 10 * MINUTE), None)
            assert told.runs == [NOON + 10 * MINUTE]


def test_the_next_tick_runs_when_the_last_one_is_a_dead_letter() -> None:
    with world(CLOCKWORK) as made:
        later = first(made, often)
        for _ in range(4):
            made.clock.advance(20 * MINUTE)
            with script(raising(ValueError())):
                often(later, None)
            later = {"Records": [again(later["Records"][0])]}
        assert made.operation(often, Tick(NOON)).state is State.PERMANENTLY_FAILED
        with script() as told:
            often(event(made, often, made.clock.now()), None)
            assert len(told.runs) == 1


def test_a_run_whose_message_is_gone_does_not_block_the_schedule_for_ever() -> None:
    with world(CLOCKWORK) as made:
        first(made, often)
        runs = []
        for _ in range(30):
            made.clock.advance(5 * MINUTE)
            with script() as told:
                often(event(made, often, made.clock.now()), None)
                runs += told.runs
        assert runs != []
        assert runs[0] - NOON == timedelta(hours=1, minutes=20)  # its backoff, the visibility and an hour of patience


def test_a_run_that_comes_back_after_it_was_given_up_waits_for_its_successor() -> None:
    with world(CLOCKWORK) as made:
        later = first(made, often)
        made.clock.advance(timedelta(hours=2))
        second = made.clock.now()
        first(made, often, second)
        with script() as told:
            assert ids(often(later, None)) != []
            assert (told.runs, made.teller.endings[-1].outcome) == ([], Outcome.DEFERRED)
        assert made.operation(often, Tick(NOON)).attempts == 1


def test_a_waiting_tick_runs_when_the_run_before_it_has_ended_and_no_attempt_is_counted() -> None:
    with world(CLOCKWORK) as made:
        later = first(made, in_line)
        made.clock.advance(5 * MINUTE)
        second = event(made, in_line, NOON + 5 * MINUTE)
        with script() as told:
            assert ids(in_line(second, None)) != []
            assert made.teller.endings[-1].outcome is Outcome.DEFERRED
            made.clock.advance(5 * MINUTE)
            assert ids(in_line(later, None)) == []
            assert ids(in_line({"Records": [again(second["Records"][0])]}, None)) == []
            assert told.runs == [NOON, NOON + 5 * MINUTE]
            assert [job.attempt for job in told.jobs] == [2, 1]


def test_one_tick_waits_and_further_ones_are_skipped() -> None:
    with world(CLOCKWORK) as made:
        first(made, in_line)
        outcomes = []
        for minutes in (5, 6, 7):
            in_line(event(made, in_line, NOON + minutes * MINUTE), None)
            outcomes.append(made.teller.endings[-1].outcome)
        assert outcomes == [Outcome.DEFERRED, Outcome.CANCELED, Outcome.CANCELED]


def test_a_newcomer_does_not_overtake_the_tick_that_waits() -> None:
    with world(CLOCKWORK) as made:
        later = first(made, in_line)
        waiting = event(made, in_line, NOON + 5 * MINUTE)
        in_line(waiting, None)
        made.clock.advance(10 * MINUTE)
        with script() as told:
            in_line(later, None)
            in_line(event(made, in_line, NOON + 10 * MINUTE), None)
            in_line({"Records": [again(waiting["Records"][0])]}, None)
            assert told.runs == [NOON, NOON + 5 * MINUTE]


def test_the_place_in_the_queue_is_free_again_once_its_tick_runs() -> None:
    with world(CLOCKWORK) as made:
        later = first(made, in_line)
        waiting = event(made, in_line, NOON + 5 * MINUTE)
        in_line(waiting, None)
        made.clock.advance(10 * MINUTE)
        with script():
            in_line(later, None)
        with script(raising(Retry("provider.busy", after=MINUTE))):
            in_line({"Records": [again(waiting["Records"][0])]}, None)
        in_line(event(made, in_line, NOON + 10 * MINUTE), None)
        assert made.teller.endings[-1].outcome is Outcome.DEFERRED


def test_ticks_that_may_overlap_run_beside_each_other() -> None:
    with world(CLOCKWORK) as made:
        first(made, abreast)
        with script() as told:
            abreast(event(made, abreast, NOON + 5 * MINUTE), None)
            assert told.runs == [NOON + 5 * MINUTE]


def test_a_tick_that_defers_itself_still_holds_the_schedule() -> None:
    with world(CLOCKWORK) as made:
        with script(raising(Defer("provider.closed", after=20 * MINUTE))):
            often(event(made, often, NOON), None)
        made.clock.advance(5 * MINUTE)
        with script() as told:
            often(event(made, often, NOON + 5 * MINUTE), None)
            assert told.runs == []


def test_two_schedules_do_not_hold_each_other() -> None:
    with world(CLOCKWORK) as made:
        first(made, often)
        with script() as told:
            in_line(event(made, in_line, NOON), None)
            assert told.runs == [NOON]


def test_what_is_kept_of_a_schedule_s_run_is_free_when_it_has_ended() -> None:
    with world(CLOCKWORK) as made, script():
        often(event(made, often, NOON), None)
        slot = made.ledger.items['["often",null,["!running"]]']
        assert slot.expired_at(made.clock.now())
        assert slot.state is State.SUCCEEDED


def test_a_backfilled_tick_waits_for_its_turn_even_where_others_are_skipped() -> None:
    with world(CLOCKWORK) as made:
        later = first(made, often)
        old = event(made, often, NOON - timedelta(days=3), attributes={BACKFILL: "plan-1"})
        with script() as told:
            assert ids(often(old, None)) != []
            assert made.teller.endings[-1].outcome is Outcome.DEFERRED
            made.clock.advance(10 * MINUTE)
            often(later, None)
            assert ids(often({"Records": [again(old["Records"][0])]}, None)) == []
            assert told.runs == [NOON, NOON - timedelta(days=3)]


def test_a_redriven_tick_waits_for_its_turn_at_every_look() -> None:
    with world(CLOCKWORK) as made:
        with script(raising(Reject("data.no_such_day"))):
            often(event(made, often, NOON), None)
        made.clock.advance(5 * MINUTE)
        later = first(made, often, NOON + 5 * MINUTE)
        redriven = event(made, often, NOON)
        with script() as told:
            for _ in range(3):
                often(redriven, None)
                assert made.teller.endings[-1].outcome is Outcome.DEFERRED
                made.clock.advance(3 * MINUTE)
                redriven = {"Records": [again(redriven["Records"][0])]}
            made.clock.advance(10 * MINUTE)
            often(later, None)
            often(redriven, None)
            assert told.runs == [NOON + 5 * MINUTE, NOON]


def test_a_tick_that_got_its_place_in_the_queue_without_learning_of_it_keeps_it(monkeypatch) -> None:
    from surehand.ledger import Unavailable, write_surely

    def lost(ledger, writes, *, now):
        write_surely(ledger, writes, now=now)
        return [Unavailable("ReadTimeoutError")]

    with world(CLOCKWORK) as made:
        first(made, in_line)
        waiting = event(made, in_line, NOON + 5 * MINUTE)
        with monkeypatch.context() as patched:
            patched.setattr("surehand.worker.ticks.write_surely", lost)
            in_line(waiting, None)
        made.clock.advance(2 * MINUTE)
        in_line({"Records": [again(waiting["Records"][0])]}, None)
        outcomes = [ending.outcome for ending in made.teller.endings]
        assert outcomes[1:] == [Outcome.UNSTARTED, Outcome.DEFERRED]


def test_a_ledger_that_is_away_when_a_tick_looks_whether_it_may_run_puts_it_back(monkeypatch) -> None:
    from surehand.errors import LedgerUnavailable

    def away(*_):
        raise LedgerUnavailable("ThrottlingException")

    with world(CLOCKWORK) as made, script() as told:
        monkeypatch.setattr("surehand.worker.ticks.Ticks._read", away)
        assert ids(often(event(made, often, NOON), None)) != []
        assert (told.runs, made.teller.endings[-1].outcome) == ([], Outcome.UNSTARTED)
        assert made.operation(often, Tick(NOON)).attempts == 0
