"""What a simulated FIFO queue does, as SQS documents it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surehand.testing.simulator import Denied, FifoQueue, Simulation

SECOND = timedelta(seconds=1)


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with Simulation() as simulation:
        yield simulation


@pytest.fixture
def queue(sim: Simulation) -> FifoQueue:
    dead = sim.fifo_queue("dead.fifo", retention=timedelta(days=14))
    return sim.fifo_queue("orders.fifo", dead_letters=dead, max_receive_count=2, content_based=True)


def bodies(messages) -> list[str]:
    return [message.body for message in messages]


def test_a_receive_returns_as_many_of_one_group_as_there_are_and_then_of_the_next(queue):
    for body in ("a1", "b1", "a2", "b2"):
        queue.send(body, group=body[0])
    assert bodies(queue.receive(10)) == ["a1", "a2", "b1", "b2"]


def test_a_group_with_a_message_in_flight_is_locked_and_others_are_not(queue):
    for body in ("a1", "a2", "b1"):
        queue.send(body, group=body[0])
    assert bodies(queue.receive()) == ["a1"]
    assert bodies(queue.receive(10)) == ["b1"]
    assert queue.receive(10) == []


def test_deleting_what_is_in_flight_unlocks_its_group(queue):
    queue.send("a1", group="a")
    queue.send("a2", group="a")
    queue.delete(queue.receive()[0].receipt_handle)
    assert bodies(queue.receive(10)) == ["a2"]


def test_a_message_that_comes_back_comes_before_its_followers(sim, queue):
    queue.send("a1", group="a")
    queue.send("a2", group="a")
    queue.receive()
    sim.run(for_=30 * SECOND)
    assert bodies(queue.receive(10)) == ["a1", "a2"]


def test_a_follower_that_is_visible_again_does_not_overtake_a_message_in_flight(queue):
    queue.send("a1", group="a")
    queue.send("a2", group="a")
    first, second = queue.receive(10)
    queue.change_visibility(first.receipt_handle, 60 * SECOND)
    queue.change_visibility(second.receipt_handle, timedelta(0))
    assert queue.receive(10) == []


def test_the_same_deduplication_id_within_five_minutes_is_accepted_and_not_delivered(sim, queue):
    first = queue.send("one", group="a", deduplication="d")
    queue.delete(queue.receive()[0].receipt_handle)
    sim.run(for_=timedelta(minutes=5) - SECOND)
    assert queue.send("two", group="a", deduplication="d") == first
    assert queue.receive() == []
    sim.run(for_=SECOND)
    assert queue.send("three", group="a", deduplication="d") != first
    assert bodies(queue.receive()) == ["three"]


def test_content_based_deduplication_takes_the_body(queue):
    assert queue.send("same", group="a") == queue.send("same", group="b")
    assert queue.send("other", group="a") != queue.send("same", group="b")


def test_a_delete_under_an_expired_receipt_is_refused(sim, queue):
    queue.send("a1", group="a")
    (message,) = queue.receive()
    sim.run(for_=30 * SECOND)
    with pytest.raises(Denied, match="expired"):
        queue.delete(message.receipt_handle)
    assert len(queue) == 1


def test_a_dead_letter_gets_a_new_enqueue_time_and_its_own_id_for_deduplication(sim, queue):
    identifier = queue.send("a1", group="a", deduplication="d")
    for _ in range(2):
        queue.receive()
        sim.run(for_=30 * SECOND)
    queue.receive()
    (letter,) = queue.dead_letters.messages
    assert (letter.id, letter.deduplication, letter.sent_at) == (identifier, identifier, sim.clock.now())
    assert letter.expires_at == sim.clock.now() + timedelta(days=14)


def test_a_group_goes_on_behind_a_dead_letter(sim, queue):
    queue.send("a1", group="a")
    queue.send("a2", group="a")
    for _ in range(2):
        queue.receive()
        sim.run(for_=30 * SECOND)
    assert bodies(queue.receive()) == ["a2"]


@pytest.mark.parametrize("parts", [{"group": None, "deduplication": "d"}, {"group": "a", "delay": SECOND}])
def test_what_send_message_refuses_on_fifo_is_refused(queue, parts):
    with pytest.raises(Denied):
        queue.send("x", **parts)


def test_without_content_based_deduplication_the_id_is_required(sim):
    with pytest.raises(Denied, match="MessageDeduplicationId"):
        sim.fifo_queue("plain.fifo").send("x", group="a")


STEP = st.one_of(
    st.tuples(st.just("send"), st.sampled_from("abc")),
    st.tuples(st.just("receive"), st.integers(1, 5)),
    st.tuples(st.sampled_from(["delete", "release", "extend"]), st.integers(0, 9)),
    st.tuples(st.just("wait"), st.sampled_from([1, 10, 30, 61])),
)


@given(st.lists(STEP, max_size=60))
def test_within_a_group_nothing_is_ever_received_before_an_earlier_message_is_gone_or_taken_with_it(steps):
    with Simulation() as sim:
        queue = sim.fifo_queue("q.fifo", max_receive_count=1_000)
        serial = count()
        alive: dict[str, list[int]] = {"a": [], "b": [], "c": []}
        held = []
        for step, value in steps:
            if step == "send":
                number = next(serial)
                queue.send(f"{value}{number}", group=value, deduplication=str(number))
                alive[value].append(number)
            elif step == "receive":
                taken = queue.receive(value)
                for group, numbers in alive.items():
                    got = [int(message.body[1:]) for message in taken if message.group == group]
                    assert got == numbers[: len(got)]
                held += taken
            elif step == "wait":
                sim.run(for_=value * SECOND)
            elif held:
                message = held.pop(value % len(held))
                try:
                    if step == "delete":
                        if queue.delete(message.receipt_handle):
                            alive[message.group or ""].remove(int(message.body[1:]))
                    else:
                        queue.change_visibility(message.receipt_handle, SECOND * (0 if step == "release" else 60))
                except Denied:
                    pass
        assert queue.in_flight == sum(queue._flying.values())
        assert len(queue) == sum(map(len, alive.values()))
