"""What a simulated standard queue does, as SQS documents it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from surehand.testing.simulator import Denied, Faults, Simulation, StandardQueue

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
    return sim.standard_queue("orders", visibility=30 * SECOND, dead_letters=dead, max_receive_count=3)


def test_a_received_message_is_hidden_until_its_visibility_timeout_ends(sim, queue):
    queue.send("a")
    assert [message.receive_count for message in queue.receive()] == [1]
    sim.run(for_=29 * SECOND)
    assert queue.receive() == []
    sim.run(for_=SECOND)
    assert [message.receive_count for message in queue.receive()] == [2]


def test_a_receive_returns_at_most_ten(queue):
    for number in range(12):
        queue.send(str(number))
    assert len(queue.receive(100)) == 10


def test_a_delayed_message_is_not_received_before_its_delay_ends(sim, queue):
    queue.send("a", delay=5 * SECOND)
    assert queue.receive() == []
    sim.run(for_=5 * SECOND)
    assert len(queue.receive()) == 1


def test_the_receive_after_the_last_allowed_one_moves_the_message_to_the_dead_letter_queue(sim, queue, dead):
    queue.send("a")
    for _ in range(3):
        assert len(queue.receive()) == 1
        sim.run(for_=30 * SECOND)
    assert len(dead) == 0
    assert queue.receive() == []
    assert len(queue) == 0
    assert len(dead) == 1


def test_a_dead_letter_keeps_its_id_and_its_enqueue_time(sim, queue, dead):
    identifier = queue.send("a")
    sent_at = sim.clock.now()
    for _ in range(4):
        queue.receive(visibility=timedelta(0))
    (letter,) = dead.messages
    assert (letter.id, letter.sent_at, letter.source) == (identifier, sent_at, "orders")
    assert letter.expires_at == sent_at + timedelta(days=14)


def test_a_receive_with_visibility_zero_leaves_the_message_visible(queue):
    queue.send("a")
    queue.receive(visibility=timedelta(0))
    assert queue.receive()[0].receive_count == 2


def test_a_message_past_its_retention_is_gone_in_silence_and_the_trail_tells(sim, queue):
    queue.send("a")
    sim.run(for_=timedelta(days=4))
    assert queue.receive() == []
    assert sim.trail.counts["expired"] == 1


def test_retention_ends_a_message_in_flight_too(sim, queue):
    queue.send("a")
    sim.run(for_=timedelta(days=4) - SECOND)
    (message,) = queue.receive()
    sim.run(for_=2 * SECOND)
    assert (len(queue), queue.in_flight) == (0, 0)
    assert queue.delete(message.receipt_handle) is False


def test_a_delete_with_the_receipt_of_an_earlier_receive_succeeds_without_deleting(sim, queue):
    queue.send("a")
    (first,) = queue.receive()
    sim.run(for_=30 * SECOND)
    (second,) = queue.receive()
    assert first.receipt_handle != second.receipt_handle
    assert queue.delete(first.receipt_handle) is False
    assert len(queue) == 1
    assert queue.delete(second.receipt_handle) is True
    assert len(queue) == 0


def test_a_delete_after_the_timeout_still_deletes_if_nobody_received_it_since(sim, queue):
    queue.send("a")
    (message,) = queue.receive()
    sim.run(for_=60 * SECOND)
    assert queue.delete(message.receipt_handle) is True
    assert queue.receive() == []


def test_deleting_twice_succeeds(queue):
    queue.send("a")
    (message,) = queue.receive()
    queue.delete(message.receipt_handle)
    assert queue.delete(message.receipt_handle) is False


def test_visibility_counts_from_the_call_and_is_forgotten_at_the_next_receive(sim, queue):
    queue.send("a")
    (message,) = queue.receive()
    sim.run(for_=10 * SECOND)
    queue.change_visibility(message.receipt_handle, 100 * SECOND)
    sim.run(for_=99 * SECOND)
    assert queue.receive() == []
    sim.run(for_=SECOND)
    assert queue.receive()[0].visible_at == sim.clock.now() + 30 * SECOND


def test_visibility_can_be_shortened_to_nothing(queue):
    queue.send("a")
    (message,) = queue.receive()
    queue.change_visibility(message.receipt_handle, timedelta(0))
    assert queue.receive()[0].receive_count == 2


def test_visibility_beyond_twelve_hours_from_the_receive_is_refused(sim, queue):
    queue.send("a")
    (message,) = queue.receive(visibility=timedelta(hours=1))
    sim.run(for_=SECOND)
    with pytest.raises(Denied, match="InvalidParameterValue"):
        queue.change_visibility(message.receipt_handle, timedelta(hours=12))
    queue.change_visibility(message.receipt_handle, timedelta(hours=12) - SECOND)


def test_visibility_of_a_message_that_is_visible_again_is_refused(sim, queue):
    queue.send("a")
    (message,) = queue.receive()
    sim.run(for_=30 * SECOND)
    with pytest.raises(Denied, match="MessageNotInflight"):
        queue.change_visibility(message.receipt_handle, SECOND)


@pytest.mark.parametrize("how", ["stale", "deleted", "made up"])
def test_visibility_under_a_receipt_that_stands_for_nothing_is_refused(sim, queue, how):
    queue.send("a")
    (message,) = queue.receive()
    receipt = message.receipt_handle
    if how == "stale":
        sim.run(for_=30 * SECOND)
        queue.receive()
    elif how == "deleted":
        queue.delete(receipt)
    else:
        receipt = "made up"
    with pytest.raises(Denied, match="InvalidParameterValue"):
        queue.change_visibility(receipt, SECOND)


@pytest.mark.parametrize("deleted", [False, True])
def test_a_message_can_be_delivered_again_while_in_flight_and_after_its_deletion(queue, deleted):
    identifier = queue.send("a")
    (message,) = queue.receive()
    if deleted:
        queue.delete(message.receipt_handle)
    queue.deliver_again(identifier)
    (again,) = queue.receive()
    assert (again.message_id, again.receive_count) == (identifier, 2)
    assert again.receipt_handle != message.receipt_handle


def test_at_a_rate_of_duplicates_everything_is_delivered_at_least_once_and_something_twice(sim, queue):
    sim.chance.faults = Faults(duplicate=0.2)
    sent = {queue.send(str(number)) for number in range(200)}
    seen: list[str] = []
    for _ in range(40):
        while messages := queue.receive(10):
            seen += [message.message_id for message in messages]
            for message in messages:
                queue.delete(message.receipt_handle)
        sim.run(for_=60 * SECOND)
    assert set(seen) == sent
    assert 210 < len(seen) < 320


def test_copies_have_no_copies_so_what_goes_round_does_not_multiply(sim, queue):
    sim.chance.faults = Faults(duplicate=2.0)  # certain for each receive and each delete of what was sent
    queue.send("a")
    counts = []
    for _ in range(20):
        for message in queue.receive(10):
            counts.append(message.receive_count)
            queue.delete(message.receipt_handle)
        sim.run(for_=60 * SECOND)
    assert counts == [1, 2, 2]


def test_reordering_changes_the_order_and_loses_nothing(sim, queue):
    sim.chance.faults = Faults(reorder=0.5)
    sent = [queue.send(str(number)) for number in range(50)]
    seen = [message.message_id for _ in range(5) for message in queue.receive(10)]
    assert sorted(seen) == sorted(sent)
    assert seen != sent


def test_a_short_receive_returns_at_least_one(sim, queue):
    sim.chance.faults = Faults(short=1.0)
    for number in range(100):
        queue.send(str(number))
    sizes = [len(queue.receive(10)) for _ in range(10)]
    assert min(sizes) >= 1
    assert max(sizes) <= 10
    assert sum(sizes) < 100


@pytest.mark.parametrize(
    "parts",
    [
        {"body": ""},
        {"body": "x" * (1024 * 1024 + 1)},
        {"body": "é" * (512 * 1024 + 1)},
        {"body": "x", "delay": timedelta(minutes=16)},
        {"body": "x", "deduplication": "d"},
        {"body": "x", "attributes": {f"a{n}": {"DataType": "String", "StringValue": "v"} for n in range(11)}},
    ],
)
def test_what_send_message_refuses_is_refused(queue, parts):
    with pytest.raises(Denied):
        queue.send(**parts)
    assert len(queue) == 0


def test_a_queue_and_its_dead_letter_queue_are_of_one_type(sim):
    with pytest.raises(ValueError, match="same type"):
        sim.standard_queue("q", dead_letters=sim.fifo_queue("d.fifo"))


def test_memory_follows_the_backlog_and_not_the_past(sim, queue):
    for _ in range(20_000):
        queue.send("a")
        queue.delete(queue.receive()[0].receipt_handle)
    shelf = queue._shelf
    assert max(len(shelf._expiry), len(shelf._hidden), len(shelf._receipts)) < 10_000
