"""A simulated EventBridge Scheduler."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from surehand.testing.simulator import Faults, Schedule, Simulation, StandardQueue

HOUR = timedelta(hours=1)
NAMES = {"at": "scheduled-time", "id": "execution-id", "n": "attempt-number"}
TEXT = json.dumps({key: f"<aws.scheduler.{name}>" for key, name in NAMES.items()})


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with Simulation() as simulation:
        yield simulation


@pytest.fixture
def queue(sim: Simulation) -> StandardQueue:
    return sim.standard_queue("ticks")


def hourly(sim: Simulation, queue: StandardQueue, **settings) -> Schedule:
    return sim.schedule("hourly", following=lambda moment: moment + HOUR, target=queue, text=TEXT, **settings)


def bodies(queue: StandardQueue) -> list[dict]:
    return [json.loads(message.body) for message in queue.messages]


def test_each_scheduled_time_is_sent_once_within_a_minute(sim, queue):
    start = sim.clock.now()
    hourly(sim, queue)
    sim.run(for_=timedelta(hours=3, minutes=1))
    assert [body["at"] for body in bodies(queue)] == [f"{start + n * HOUR:%Y-%m-%dT%H:%M:%SZ}" for n in (1, 2, 3)]
    late = [message.sent_at - datetime.fromisoformat(json.loads(message.body)["at"]) for message in queue.messages]
    assert all(timedelta(0) <= length <= timedelta(seconds=60) for length in late)


def test_a_scheduled_time_of_another_zone_is_sent_in_utc(sim, queue):
    start = sim.clock.now().astimezone(ZoneInfo("Europe/Berlin"))
    sim.schedule("berlin", following=lambda _: start + HOUR, target=queue, text=TEXT).tick(start + HOUR)
    (body,) = bodies(queue)
    assert body["at"] == f"{(start + HOUR).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def test_a_flexible_window_spreads_the_ticks_over_it(sim, queue):
    hourly(sim, queue, window=timedelta(minutes=15))
    sim.run(for_=48 * HOUR)
    late = [message.sent_at - datetime.fromisoformat(json.loads(message.body)["at"]) for message in queue.messages]
    assert timedelta(minutes=10) < max(late) <= timedelta(minutes=16)


def test_a_tick_that_cannot_be_delivered_is_tried_again_under_another_execution_id(sim, queue):
    schedule = hourly(sim, queue)
    schedule.target_down_until = sim.clock.now() + HOUR + timedelta(minutes=5)
    sim.run(for_=HOUR + timedelta(minutes=20))
    (body,) = bodies(queue)
    assert int(body["n"]) > 5
    assert body["at"] == f"{sim.clock.now() - timedelta(minutes=20):%Y-%m-%dT%H:%M:%SZ}"


def test_a_duplicate_tick_has_the_same_scheduled_time_and_another_execution_id(sim, queue):
    sim.chance.faults = Faults(tick_duplicate=1.0)
    hourly(sim, queue)
    sim.run(for_=HOUR + timedelta(minutes=2))
    first, second = bodies(queue)
    assert first["at"] == second["at"]
    assert first["id"] != second["id"]


def test_after_the_last_retry_a_tick_goes_to_the_dead_letter_queue_of_the_schedule(sim, queue):
    dead = sim.standard_queue("dead-ticks")
    schedule = hourly(sim, queue, retries=2, dead_letters=dead)
    schedule.target_down_until = sim.clock.now() + timedelta(days=1)
    sim.run(for_=HOUR + timedelta(minutes=30))
    (letter,) = dead.messages
    assert letter.attributes["RETRY_ATTEMPTS"]["StringValue"] == "2"
    assert len(queue) == 0


def test_without_a_dead_letter_queue_an_undeliverable_tick_is_lost_and_the_trail_tells(sim, queue):
    schedule = hourly(sim, queue, retries=0)
    schedule.target_down_until = sim.clock.now() + 90 * timedelta(minutes=1)
    sim.run(for_=HOUR + timedelta(minutes=30))
    assert (len(queue), sim.trail.counts["tick given up"]) == (0, 1)


def test_a_disabled_schedule_skips_its_ticks_and_never_catches_up(sim, queue):
    schedule = hourly(sim, queue)
    schedule.enabled = False
    sim.run(for_=2 * HOUR + timedelta(minutes=30))
    schedule.enabled = True
    sim.run(for_=HOUR)
    assert len(queue) == 1


def test_schedules_do_not_keep_a_simulation_from_coming_to_rest(sim, queue):
    hourly(sim, queue)
    sim.run_until_quiet()
    assert len(queue) == 0
