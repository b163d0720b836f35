"""What the metrics say of a schedule: ran, finished, skipped, and how late it began."""

from __future__ import annotations

from datetime import timedelta

from surehand import Cancel, Retry
from surehand.aws.telling import metrics
from surehand.testing import again, world
from tests.scenarios.clockwork import CLOCKWORK, NOON, event, often, script
from tests.scenarios.kiosk import KIOSK, Ticket, plain
from tests.scenarios.kiosk import script as kiosk_script
from tests.scenarios.test_cursors import rerun, scanning
from tests.scenarios.test_ticks import first, raising

MINUTE = timedelta(minutes=1)
NAMES = ("ScheduleRan", "ScheduleFinished", "ScheduleSkipped", "TickLag")


def told(made, handler=often):
    """Return what the schedule's metrics say of the deliveries so far, and forget them."""
    (record,) = metrics(handler, made.teller.endings, made.clock.now(), dimension="clockwork-test-often")
    made.teller.endings.clear()
    return {name: record[name] for name in NAMES if name in record}


def test_a_run_that_succeeds_ran_and_finished_and_says_how_late_it_began() -> None:
    with world(CLOCKWORK) as made, script():
        made.clock.advance(timedelta(seconds=40))
        often(event(made, often, NOON), None)
        assert told(made) == {"ScheduleRan": 1, "ScheduleFinished": 1, "TickLag": [40.0]}


def test_the_lag_is_that_of_the_start_however_long_the_run_takes() -> None:
    with world(CLOCKWORK) as made, script(lambda tick, job: made.clock.advance(timedelta(seconds=30))):
        made.clock.advance(timedelta(seconds=10))
        often(event(made, often, NOON), None)
        assert told(made)["TickLag"] == [10.0]


def test_a_run_that_fails_ran_and_did_not_finish_and_its_next_attempt_is_no_later_start() -> None:
    with world(CLOCKWORK) as made:
        with script(raising(Retry("provider.busy", after=10 * MINUTE))):
            one = rerun(often, event(made, often, NOON))
        assert told(made) == {"ScheduleRan": 1, "TickLag": [0.0]}
        made.clock.advance(10 * MINUTE)
        with script():
            rerun(often, one)
        assert told(made) == {"ScheduleRan": 1, "ScheduleFinished": 1}


def test_each_invocation_of_a_long_run_ran_and_the_last_one_finished() -> None:
    with world(CLOCKWORK) as made, script(scanning(made, 8)):
        one = rerun(often, event(made, often, NOON))
        assert told(made) == {"ScheduleRan": 1, "TickLag": [0.0]}
        rerun(often, one)
        assert told(made) == {"ScheduleRan": 1, "ScheduleFinished": 1}


def test_a_late_tick_and_an_overlapping_one_are_skipped_once_each_and_their_duplicates_not_again() -> None:
    with world(CLOCKWORK) as made:
        first(made, often)
        told(made)
        for _ in range(2):
            often(event(made, often, NOON - timedelta(hours=2)), None)
            often(event(made, often, NOON + 5 * MINUTE), None)
        assert told(made) == {"ScheduleSkipped": 2}


def test_a_handler_s_own_cancel_ran_and_is_no_skip() -> None:
    with world(CLOCKWORK) as made, script(raising(Cancel("schedule.late"))):
        often(event(made, often, NOON), None)
        assert told(made) == {"ScheduleRan": 1, "TickLag": [0.0]}


def test_a_duplicate_of_a_finished_tick_says_nothing() -> None:
    with world(CLOCKWORK) as made, script():
        one = event(made, often, NOON)
        often(one, None)
        told(made)
        often({"Records": [again(one["Records"][0])]}, None)
        assert told(made) == {}


def test_a_queue_s_handler_says_nothing_of_the_kind() -> None:
    with world(KIOSK) as made, kiosk_script():
        plain(made.event(plain, Ticket(number="1")), None)
        assert told(made, plain) == {}
