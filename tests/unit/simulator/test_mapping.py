"""A simulated event source mapping between a queue and a function."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from surehand.delivery import Delivery, parse_event
from surehand.testing.simulator import Simulation, StandardQueue

SECOND = timedelta(seconds=1)


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with Simulation() as simulation:
        yield simulation


@pytest.fixture
def queue(sim: Simulation) -> StandardQueue:
    dead = sim.standard_queue("dead", retention=timedelta(days=14))
    return sim.standard_queue("orders", visibility=180 * SECOND, dead_letters=dead, max_receive_count=3)


class Recorder:
    """A function that keeps its events and answers what it is told."""

    def __init__(self, sim: Simulation, answer=None, lasts=timedelta(0)) -> None:
        self.sim = sim
        self.answer: Any = answer or (lambda ids: {"batchItemFailures": []})
        self.lasts = lasts
        self.batches: list[list[str]] = []
        self.events: list[dict] = []
        self.at_once = 0
        self.most = 0

    def __call__(self, event, context):
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        self.events.append(event)
        self.batches.append([record["body"] for record in event["Records"]])
        self.sim.sleep(self.lasts)
        self.at_once -= 1
        return self.answer([record["messageId"] for record in event["Records"]])


def failing(*bodies: str) -> Any:
    """Answer with the ids of the messages that have these bodies."""

    def answer(event: Any) -> Any:
        ids = [record["messageId"] for record in event["Records"] if record["body"] in bodies]
        return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in ids]}

    return lambda event, context: answer(event)


def test_messages_come_in_batches_of_at_most_the_batch_size(sim, queue):
    seen = Recorder(sim)
    for number in range(25):
        queue.send(str(number))
    sim.map(queue, sim.function("f", seen), batch_size=10)
    sim.run_until_quiet()
    assert [len(batch) for batch in seen.batches] == [10, 10, 5]
    assert len(queue) == 0


def test_the_engine_reads_the_event_as_it_reads_a_real_one(sim, queue):
    attribute = {"DataType": "String", "StringValue": "v"}
    identifier = queue.send("{}", group="tenant", trace="Root=1", attributes={"n": attribute})
    sent_at = sim.clock.now()
    seen = Recorder(sim)
    sim.map(queue, sim.function("f", seen))
    sim.run_until_quiet()
    (delivery,) = parse_event(seen.events[0])
    assert isinstance(delivery, Delivery)
    assert (delivery.message_id, delivery.body, delivery.receive_count) == (identifier, "{}", 1)
    assert (delivery.sent_at, delivery.received_at, delivery.group) == (sent_at, sent_at, "tenant")
    assert (delivery.trace, dict(delivery.attributes)) == ("Root=1", {"n": "v"})


def test_a_window_gathers_until_it_ends_or_the_batch_is_full(sim, queue):
    seen = Recorder(sim)
    sim.map(queue, sim.function("f", seen), batch_size=10, window=20 * SECOND)
    for second in range(30):
        sim.clock.after(second * 4 * SECOND, lambda: queue.send("x"))
    sim.run_until_quiet()
    assert [len(batch) for batch in seen.batches] == [5] * 6


def test_a_batch_of_hundreds_is_gathered_by_tens(sim, queue):
    seen = Recorder(sim)
    for number in range(250):
        queue.send(str(number))
    sim.map(queue, sim.function("f", seen), batch_size=100, window=5 * SECOND)
    sim.run_until_quiet()
    assert [len(batch) for batch in seen.batches] == [100, 100, 50]


@pytest.mark.parametrize(("limit", "most"), [(2, 2), (None, 5)])
def test_no_more_invocations_at_once_than_the_maximum_and_five_at_first(sim, queue, limit, most):
    seen = Recorder(sim, lasts=SECOND)
    for number in range(100):
        queue.send(str(number))
    sim.map(queue, sim.function("f", seen), batch_size=1, maximum_concurrency=limit)
    sim.run(for_=30 * SECOND)
    assert seen.most == most


def test_concurrency_grows_by_three_hundred_a_minute(sim, queue):
    seen = Recorder(sim, lasts=25 * SECOND)
    mapping = sim.map(queue, sim.function("f", seen), batch_size=1)
    for number in range(2_000):
        queue.send(str(number))
    sim.run(for_=65 * SECOND)
    assert mapping.limit == 305
    assert 200 < seen.most <= 305


def test_reported_messages_come_again_and_the_others_do_not(sim, queue):
    for body in ("good", "bad"):
        queue.send(body)
    sim.map(queue, sim.function("f", failing("bad")))
    sim.run_until_quiet()
    assert sim.trail.counts["deleted"] == 1
    assert [letter.body for letter in queue.dead_letters.messages] == ["bad"]
    assert queue.dead_letters.messages[0].receives == 3


def test_an_exception_brings_the_whole_batch_again(sim, queue):
    queue.send("a")
    queue.send("b")

    def handler(event, context):
        raise RuntimeError

    sim.map(queue, sim.function("f", handler))
    sim.run_until_quiet()
    assert len(queue.dead_letters) == 2


def test_a_timeout_brings_the_whole_batch_again_after_the_visibility_timeout(sim, queue):
    queue.send("a")
    starts = []

    def handler(event, context):
        starts.append(sim.clock.now())
        sim.sleep(60 * SECOND)

    sim.map(queue, sim.function("f", handler, timeout=30 * SECOND))
    sim.run_until_quiet()
    assert [later - earlier for earlier, later in pairwise(starts)] == [180 * SECOND] * 2
    assert len(queue.dead_letters) == 1


@pytest.mark.parametrize("answer", [{"batchItemFailures": [{"itemIdentifier": "x"}]}, "done"])
def test_a_bad_response_keeps_the_whole_batch(sim, queue, answer):
    queue.send("a")
    sim.map(queue, sim.function("f", lambda event, context: answer))
    sim.run_until_quiet()
    assert len(queue.dead_letters) == 1


def test_without_the_flag_reported_failures_are_deleted(sim, queue):
    queue.send("bad")
    sim.map(queue, sim.function("f", failing("bad")), report_batch_item_failures=False)
    sim.run_until_quiet()
    assert (len(queue), len(queue.dead_letters)) == (0, 0)


def test_a_throttled_batch_is_tried_again_until_its_visibility_timeout_and_then_its_receive_has_counted(sim, queue):
    queue.send("a")
    sim.map(queue, sim.function("f", lambda event, context: None, reserved=0))
    sim.run_until_quiet()
    assert len(queue.dead_letters) == 1
    assert sim.trail.counts["throttled"] > 3 * 100
    assert sim.trail.counts["received"] == 3


def test_a_disabled_mapping_leaves_messages_where_they_are_until_it_is_enabled(sim, queue):
    seen = Recorder(sim)
    mapping = sim.map(queue, sim.function("f", seen))
    mapping.disable()
    queue.send("a")
    sim.run(for_=timedelta(hours=1))
    assert seen.batches == []
    mapping.enable()
    sim.run_until_quiet()
    assert seen.batches == [["a"]]


def test_a_fifo_group_is_never_in_two_invocations_at_once(sim):
    queue = sim.fifo_queue("q.fifo", visibility=180 * SECOND)
    running: set[str] = set()
    order: dict[str, list[int]] = {"a": [], "b": []}

    def handler(event, context):
        groups = {record["attributes"]["MessageGroupId"] for record in event["Records"]}
        assert not groups & running
        running.update(groups)
        for record in event["Records"]:
            order[record["attributes"]["MessageGroupId"]].append(int(record["body"]))
        sim.sleep(SECOND)
        running.difference_update(groups)
        return {"batchItemFailures": []}

    for number in range(40):
        queue.send(str(number), group="ab"[number % 2], deduplication=str(number))
    sim.map(queue, sim.function("f", handler), batch_size=3)
    sim.run_until_quiet()
    assert order == {"a": list(range(0, 40, 2)), "b": list(range(1, 40, 2))}


@pytest.mark.parametrize(
    "settings",
    [{"batch_size": 0}, {"batch_size": 11}, {"batch_size": 10_001, "window": SECOND}, {"maximum_concurrency": 1}],
)
def test_a_mapping_that_lambda_would_refuse_is_refused(sim, queue, settings):
    with pytest.raises(ValueError, match=r"is|needs"):
        sim.map(queue, sim.function("f", lambda event, context: None), **settings)


def test_a_function_timeout_beyond_the_visibility_timeout_is_refused(sim, queue):
    with pytest.raises(ValueError, match="visibility"):
        sim.map(queue, sim.function("f", lambda event, context: None, timeout=181 * SECOND))
