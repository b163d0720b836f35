"""Moving letters: nothing is lost, nothing is moved twice, order is kept, and failures that come back stop it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from surehand import Reject
from surehand_cli.dlq import journal as journals
from surehand_cli.dlq.execute import Ending
from surehand_cli.dlq.progress import Became, Step
from tests.ops.depot import STATE, Parcel, route, ship
from tests.ops.yard import Attempt, Saved, Yard, plan_of, yard


def trouble(parcel: Parcel, job: object) -> None:
    """Fail as the parcel says."""
    if parcel.trouble:
        raise Reject(parcel.trouble)


def mend(parcel: Parcel, job: object) -> None:
    """The fix is deployed: nothing fails any more."""


def buried(made: Yard, count: int, codes: tuple[str, ...] = ("data.address", "code.KeyError", "provider.down")) -> None:
    STATE.act = trouble
    made.bury(
        *(
            Parcel(number=str(n), tenant=f"t{n % 3}", route=f"r{n % 4}", trouble=codes[n % len(codes)])
            for n in range(count)
        )
    )
    STATE.act = mend


def test_every_letter_is_moved_once_and_succeeds(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 37)
        ending, progress = Attempt(made, plan_of(made), tmp_path).run()
        assert ending is Ending.DONE
        assert progress.counts() == {"succeeded": 37}
        assert made.dead.messages == made.source.messages == []
        assert Counter(STATE.effects.values()) == {1: 37}


def test_the_first_letters_are_one_canary_for_each_code(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 30)
        _, progress = Attempt(made, plan_of(made), tmp_path).run()
        canaries = [mail for mail in progress.mail.values() if mail.canary]
        assert Counter(mail.planned.code for mail in canaries) == {
            "data.address": 1,
            "code.KeyError": 1,
            "provider.down": 1,
        }


def test_a_code_that_still_fails_stops_after_its_canary(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 30)
        STATE.act = trouble
        ending, progress = Attempt(made, plan_of(made), tmp_path).run()
        assert ending is Ending.STOPPED
        moved = [mail for mail in progress.mail.values() if mail.step is Step.DELETED]
        assert len(moved) <= 3
        assert all(mail.canary and mail.became is Became.FAILED for mail in moved)


def test_one_failed_canary_is_enough_to_stop(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 30, codes=("data.address",))
        STATE.act = trouble
        ending, progress = Attempt(made, plan_of(made), tmp_path).run()
        assert ending is Ending.STOPPED
        assert progress.counts() == {"failed": 1, "not moved": 29}


def test_what_was_sent_before_a_kill_is_only_deleted_by_the_next_run(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 12)
        plan = plan_of(made)
        Attempt(made, plan, tmp_path / "golden").run()
        calls = list(made.sqs.calls)
    with yard(ship) as made:
        buried(made, 12)
        plan = plan_of(made)
        last_delete = len(calls) - calls[::-1].index("delete")
        Attempt(made, plan, tmp_path).run(die_at=last_delete)
        assert made.sqs.sent == 12
        ending, _ = Attempt(made, plan, tmp_path).run()
        assert ending is Ending.DONE
        assert made.sqs.sent == 12


def test_failures_that_come_back_later_stop_the_run(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 120, codes=("data.address",))
        STATE.act = lambda parcel, job: trouble(parcel, job) if int(parcel.number) > 40 else None
        ending, progress = Attempt(made, plan_of(made), tmp_path).run()
        assert ending is Ending.STOPPED
        assert progress.counts()["not moved"] > 0


def test_a_second_run_of_the_same_plan_is_all_no_ops(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 12)
        plan = plan_of(made)
        Attempt(made, plan, tmp_path / "first").run()
        ending, progress = Attempt(made, plan, tmp_path / "second").run()
        assert ending is Ending.DONE
        assert progress.counts() == {"already_applied": 12}
        assert "send" not in made.sqs.calls
        assert Counter(STATE.effects.values()) == {1: 12}


def test_only_what_is_planned_leaves_the_dead_letter_queue(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 45)
        plan = plan_of(made, which=lambda known: known.tenant == "t1" and known.code == "code.KeyError")
        _, progress = Attempt(made, plan, tmp_path).run()
        assert progress.counts() == {"succeeded": 15}
        assert len(made.dead.messages) == 30
        assert all(one.visible_at <= made.waiting.at for one in made.dead.messages)


def test_what_sqs_refuses_stays_where_it_is(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 9)
        made.sqs.refuse = lambda entry: "InvalidMessageContents" if '"number":"4"' in entry["MessageBody"] else None
        _, progress = Attempt(made, plan_of(made), tmp_path).run()
        assert progress.counts() == {"succeeded": 8, "refused": 1}
        assert list(made.operations(made.dead)) == ["4"]


def test_a_letter_that_was_refused_for_sqs_own_fault_is_sent_again(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 9)
        faults = iter([None, "InternalError"])
        made.sqs.refuse = lambda entry: next(faults, None)
        _, progress = Attempt(made, plan_of(made), tmp_path).run()
        assert progress.counts() == {"succeeded": 9}


def test_a_body_that_is_not_the_planned_one_is_not_moved(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 5)
        plan = plan_of(made)
        made.dead.messages[0].body = made.dead.messages[0].body.replace('"weight":1', '"weight":2')
        _, progress = Attempt(made, plan, tmp_path).run()
        assert progress.counts() == {"succeeded": 4, "refused": 1}


def test_the_rate_is_kept(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 60)
        start = made.waiting.at
        Attempt(made, plan_of(made), tmp_path, rate=2.0, patience=None).run()
        assert (made.waiting.at - start).total_seconds() >= (60 - 10) / 2


def test_an_interruption_finishes_the_batch_and_shows_the_rest_to_others(tmp_path: Path) -> None:
    with yard(ship) as made:
        buried(made, 60)
        plan = plan_of(made)
        wait = made.waiting.wait

        def wait_and_stop(length: timedelta) -> None:
            wait(length)
            made.waiting.stopped = len(made.dead.messages) < 50

        made.waiting.wait = wait_and_stop  # type: ignore[method-assign]
        ending, progress = Attempt(made, plan, tmp_path, rate=1.0).run()
        assert ending is Ending.INTERRUPTED
        assert all(one.visible_at <= made.waiting.at for one in made.dead.messages)
        assert {mail.step for mail in progress.mail.values()} == {Step.PLANNED, Step.DELETED}
        made.waiting.wait, made.waiting.stopped = wait, False  # type: ignore[method-assign]
        ending, progress = Attempt(made, plan, tmp_path).run()
        assert ending is Ending.DONE
        assert progress.counts() == {"succeeded": 60}


def test_a_group_keeps_its_order(tmp_path: Path) -> None:
    with yard(route) as made:
        buried(made, 40, codes=("data.address", "code.KeyError"))
        ending, _ = Attempt(made, plan_of(made), tmp_path).run()
        assert ending is Ending.DONE
        assert len(STATE.order) == 40
        for lane in range(4):
            mine = [int(number) for number in STATE.order if int(number) % 4 == lane]
            assert mine == sorted(mine)


def test_a_letter_that_is_not_meant_blocks_what_is_behind_it_in_its_group(tmp_path: Path) -> None:
    with yard(route) as made:
        buried(made, 40, codes=("data.address",))
        plan = plan_of(made, which=lambda known: '"number":"5"' not in known.letter.body)
        _, progress = Attempt(made, plan, tmp_path).run()
        counts = progress.counts()
        assert counts == {"succeeded": 31, "not moved": 8}
        assert list(made.operations(made.dead)) == [str(n) for n in range(5, 40, 4)]


def test_a_code_that_comes_into_sight_later_has_its_canary_then(tmp_path: Path) -> None:
    with yard(route) as made:
        STATE.act = trouble
        made.bury(*(Parcel(number=str(n), trouble="data.address" if n < 12 else "code.KeyError") for n in range(24)))
        STATE.act = lambda parcel, job: trouble(parcel, job) if int(parcel.number) >= 12 else None
        ending, progress = Attempt(made, plan_of(made), tmp_path).run()
        assert ending is Ending.STOPPED
        assert progress.counts() == {"succeeded": 12, "failed": 1, "not moved": 11}


def test_what_sqs_refuses_stops_its_group_and_no_other(tmp_path: Path) -> None:
    with yard(route) as made:
        buried(made, 20, codes=("data.address",))
        made.sqs.refuse = lambda entry: "InvalidMessageContents" if '"number":"5"' in entry["MessageBody"] else None
        Attempt(made, plan_of(made), tmp_path).run()
        assert list(made.operations(made.dead)) == ["5", "9", "13", "17"]


@pytest.fixture
def without_syncing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of what is killed here loses what it has written, so hundreds of runs need not wait for the disk."""
    monkeypatch.setattr("os.fsync", lambda file: None)


def kills(handler) -> int:
    """How many calls a run of 30 letters makes."""
    with yard(handler) as made:
        import tempfile

        buried(made, 30)
        with tempfile.TemporaryDirectory() as folder:
            Attempt(made, plan_of(made), Path(folder)).run()
        return len(made.sqs.calls)


@pytest.mark.parametrize("handler", [ship, route], ids=["standard", "fifo"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_any_call_and_resumed_nothing_is_lost_and_no_effect_happens_twice(
    handler, after: bool, tmp_path: Path, without_syncing: None
) -> None:
    """Every call of SQS, ledger and journal is a point where the process dies, before it or after it."""
    with yard(handler) as made:
        buried(made, 30)
        plan = plan_of(made)
        start = Saved.of(made)
        total = kills(handler)
        buried_effects = STATE.effects.copy()
        STATE.act = mend
        for point in range(1, total + 1):
            start.restore(made)
            STATE.effects, STATE.order = buried_effects.copy(), []
            STATE.effects.clear()
            folder = tmp_path / str(point)
            died, _ = Attempt(made, plan, folder).run(die_at=point, after=after)
            assert died is None
            ending, progress = Attempt(made, plan, folder).run()
            made.drain()
            where = f"killed {'after' if after else 'before'} call {point} of {total}"
            assert ending is Ending.DONE, where
            assert made.dead.messages == [], where
            assert Counter(STATE.effects.values()) == {1: 30}, where
            assert set(progress.counts()) <= {"succeeded", "already_applied"}, where
            assert {mail.step for mail in progress.mail.values()} == {Step.DELETED}, where
            assert journals.read(folder / "journal.jsonl").broken is None, where
            if made.source.fifo:
                for lane in range(4):
                    mine = [int(number) for number in STATE.order if int(number) % 4 == lane]
                    assert mine == sorted(mine), where
