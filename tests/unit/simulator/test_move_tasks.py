"""What a simulated StartMessageMoveTask does, as SQS documents it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from surehand.testing.simulator import Denied, MoveStatus, Simulation, StandardQueue

SECOND = timedelta(seconds=1)


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with Simulation() as simulation:
        yield simulation


@pytest.fixture
def dead(sim: Simulation) -> StandardQueue:
    return sim.standard_queue("dead", retention=timedelta(days=14))


@pytest.fixture
def queue(sim: Simulation, dead: StandardQueue) -> StandardQueue:
    return sim.standard_queue("orders", dead_letters=dead, max_receive_count=1)


def bury(queue: StandardQueue, number: int) -> list[str]:
    """Send *number* messages and let each become a dead letter."""
    sent = [queue.send(str(n)) for n in range(number)]
    for _ in range(2):
        while queue.receive(10, visibility=timedelta(0)):
            pass
    return sent


def test_a_redriven_message_is_new_but_for_its_content(sim, queue, dead):
    (old,) = bury(queue, 1)
    sim.run(for_=timedelta(days=2))
    task = sim.redrive(dead)
    sim.run(for_=5 * SECOND)
    assert (task.status, task.moved, len(dead)) == (MoveStatus.COMPLETED, 1, 0)
    (message,) = queue.receive()
    assert message.message_id != old
    assert (message.root, message.body, message.receive_count) == (old, "0", 1)
    assert message.sent_at > sim.clock.now() - 10 * SECOND
    assert message.source is None


def test_no_more_than_the_rate_are_moved_in_a_second(sim, queue, dead):
    bury(queue, 1_200)
    task = sim.redrive(dead)
    sim.run(for_=SECOND)
    assert task.moved == 500
    sim.run(for_=SECOND)
    assert task.moved == 1_000


def test_cancelling_stops_and_undoes_nothing(sim, queue, dead):
    bury(queue, 30)
    task = sim.redrive(dead, rate=10)
    sim.run(for_=SECOND)
    task.cancel()
    assert task.status is MoveStatus.CANCELLING
    sim.run(for_=10 * SECOND)
    assert (task.status, len(queue), len(dead)) == (MoveStatus.CANCELLED, 10, 20)
    with pytest.raises(Denied):
        task.cancel()


def test_one_task_at_a_time_for_a_queue(sim, queue, dead):
    bury(queue, 1)
    sim.redrive(dead)
    with pytest.raises(Denied, match="active"):
        sim.redrive(dead)
    sim.run(for_=5 * SECOND)
    sim.redrive(dead)
    assert len(sim.moves.of(dead)) == 2


def test_messages_in_flight_stay_behind(sim, queue, dead):
    bury(queue, 3)
    dead.receive()
    task = sim.redrive(dead)
    sim.run(for_=5 * SECOND)
    assert (task.status, task.moved, len(dead)) == (MoveStatus.COMPLETED, 2, 1)


def test_a_message_that_sqs_did_not_move_there_fails_the_task(sim, queue, dead):
    dead.send("by hand")
    task = sim.redrive(dead)
    sim.run(for_=5 * SECOND)
    assert (task.status, task.failure) == (MoveStatus.FAILED, "CouldNotDetermineMessageSource")
    assert len(dead) == 1


def test_a_destination_of_its_own_takes_messages_of_any_origin(sim, queue, dead):
    bury(queue, 1)
    dead.send("by hand")
    other = sim.standard_queue("other")
    sim.redrive(dead, destination=other)
    sim.run(for_=5 * SECOND)
    assert (len(other), len(dead)) == (2, 0)


def test_the_source_must_be_a_dead_letter_queue(sim, queue):
    with pytest.raises(Denied, match="dead-letter queue"):
        sim.redrive(queue)


@pytest.mark.parametrize("rate", [0, 501])
def test_the_rate_has_its_limits(sim, queue, dead, rate):
    with pytest.raises(Denied):
        sim.redrive(dead, rate=rate)
