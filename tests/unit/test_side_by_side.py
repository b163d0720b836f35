"""Which steps of a batch run side by side, which one after the other, and what becomes of those that are late."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import wait
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from surehand.declare import Identity
from surehand.delivery import Delivery
from surehand.ledger import Claimed, Operation
from surehand.states import State
from surehand.worker import running
from surehand.worker.plan import Step
from surehand.worker.receive import Message
from surehand.worker.running import take_in_order, take_in_parallel

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def message(index: int, group: str | None) -> Message:
    delivery = Delivery(
        message_id=f"m{index}", receipt_handle="h", body="", receive_count=1, sent_at=NOW, received_at=NOW, group=group
    )
    identity = Identity(operation=f"o{index}", tenant=None, group=group, fingerprints=("a",))
    return Message(index=index, delivery=delivery, payload=None, identity=identity)


def step(index: int, group: str | None = None, *, marks: int = 0, copies: Sequence[Message] = ()) -> Step:
    operation = Operation(
        id=f"o{index}", handler="abreast", tenant=None, state=State.LEASED, fence=1, owner="one", marks=marks,
        claimed_at=NOW, started_at=NOW, expires_at=NOW + SECOND, lease_until=NOW + SECOND,
    )  # fmt: skip
    answer = Claimed(operation=operation, message_id=f"m{index}")
    return Step(message=message(index, group), answer=answer, copies=tuple(copies))


class Attempts:
    """Takes down what it is asked for; a step in *slow* does not end before `go_on`, one in *faulty* fails."""

    def __init__(self, *, slow: Sequence[int] = (), faulty: Sequence[int] = (), held: Sequence[str] = ()) -> None:
        self.slow, self.faulty, self.held = slow, faulty, held
        self.grace = 2 * SECOND
        self.begun: list[int] = []
        self.waited_for = False
        self.go_on = threading.Event()
        self.taken: list[int] = []
        self.left: list[int] = []
        self.running: list[int] = []
        self.threads: dict[int, str] = {}

    def lane_held(self, one: Step) -> bool:
        return one.message.lane in self.held

    def ended(self, one: Step) -> bool:
        return one.index in self.taken

    def take(self, one: Step) -> None:
        self.threads[one.index] = threading.current_thread().name
        if one.index in self.slow:
            self.begun.append(one.index)
            self.waited_for = self.waited_for or not self.go_on.wait(5)
        if one.index in self.faulty:
            raise LookupError("ours")
        self.taken.append(one.index)

    def leave(self, one: Step) -> None:
        self.left.append(one.index)

    def still_running(self, one: Step) -> None:
        self.running.append(one.index)


@pytest.fixture
def aside(monkeypatch):
    """Several steps at once. The time is over when *done* lanes are, and when every slow step has begun."""

    def run(attempts: Any, steps: Sequence[Step], *, done: int, fifo: bool = False, parallel: int = 4) -> None:
        def clocked(futures, *, timeout):
            assert timeout == 7
            ends = time.monotonic() + 5
            while sum(one.done() for one in futures) < done or len(attempts.begun) < len(attempts.slow):
                assert time.monotonic() < ends
                time.sleep(0.001)
            return wait(futures, timeout=0)

        monkeypatch.setattr(running, "wait", clocked)
        try:
            take_in_parallel(attempts, steps, fifo=fifo, parallel=parallel, left=5 * SECOND)
        finally:
            attempts.go_on.set()
        assert not attempts.waited_for

    return run


@pytest.mark.parametrize(("fifo", "taken", "left"), [(True, [1], [0, 2]), (False, [0, 1, 2], [])])
def test_in_order_only_fifo_leaves_what_its_group_holds(fifo, taken, left) -> None:
    attempts: Any = Attempts(held=["a"])
    take_in_order(attempts, [step(0, "a"), step(1, "b"), step(2, "a")], fifo=fifo)
    assert (attempts.taken, attempts.left) == (taken, left)


def test_a_step_that_is_late_keeps_its_lease_and_what_waits_for_a_thread_is_left(aside) -> None:
    attempts = Attempts(slow=[0])
    aside(attempts, [step(0), step(1), step(2)], done=0, parallel=1)
    assert (attempts.running, sorted(attempts.left), attempts.taken) == ([0], [1, 2], [])


def test_when_the_time_is_over_before_it_has_begun_nothing_is_waited_for(monkeypatch) -> None:
    waited = []

    def clocked(futures, *, timeout):
        waited.append(timeout)
        return wait(futures)

    monkeypatch.setattr(running, "wait", clocked)
    take_in_parallel(cast("Any", Attempts()), [step(0)], fifo=False, parallel=1, left=-5 * SECOND)
    assert waited == [0]


def test_of_a_late_lane_what_has_ended_stays_and_what_comes_behind_is_left(aside) -> None:
    attempts = Attempts(slow=[1])
    aside(attempts, [step(0, "a"), step(1, "a"), step(2, "a"), step(3, "b")], done=1, fifo=True)
    assert (sorted(attempts.taken), attempts.running, attempts.left) == ([0, 3], [1], [2])


def test_suspects_come_behind_all_others_one_by_one_in_the_caller_s_thread(aside) -> None:
    attempts = Attempts()
    aside(attempts, [step(0, marks=1), step(1), step(2, marks=2)], done=1)
    assert attempts.taken == [1, 0, 2]
    here = threading.current_thread().name
    assert [attempts.threads[index] == here for index in (0, 1, 2)] == [True, False, True]


def test_the_group_of_a_fair_queue_holds_no_suspect(aside) -> None:
    attempts = Attempts(held=["a"])
    aside(attempts, [step(0, "a", marks=1), step(1, "a")], done=1)
    assert (attempts.taken, attempts.left) == ([1, 0], [])


def test_behind_a_step_that_is_late_no_suspect_runs(aside) -> None:
    attempts = Attempts(slow=[1])
    aside(attempts, [step(0, marks=1), step(1)], done=0)
    assert (attempts.left, attempts.running, attempts.taken) == ([0], [1], [])


def test_on_fifo_a_suspect_keeps_its_place_in_its_lane(aside) -> None:
    attempts = Attempts()
    aside(attempts, [step(0, "a", marks=1), step(1, "a")], done=1, fifo=True)
    assert (attempts.taken, attempts.left) == ([0, 1], [])


def test_a_fault_of_ours_in_a_thread_is_raised(aside) -> None:
    with pytest.raises(LookupError, match="ours"):
        aside(Attempts(faulty=[0]), [step(0), step(1)], done=2)


def test_a_step_whose_copies_are_in_two_groups_joins_their_lanes_and_no_other(aside) -> None:
    attempts = Attempts(slow=[0], held=[])
    joining, again = (step(index, "a", copies=[message(index + 1, "b")]) for index in (2, 8))
    steps = [step(0, "a"), step(1, "b"), joining, step(4, "b"), step(5, "c"), step(6), step(7), again]
    aside(attempts, steps, done=3, fifo=True)
    assert (attempts.running, sorted(attempts.taken), attempts.left) == ([0], [5, 6, 7], [1, 2, 4, 8])
