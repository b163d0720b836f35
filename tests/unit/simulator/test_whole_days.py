"""Whole simulated days: nothing is lost, everything is repeatable."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surehand.testing.simulator import Faults, Simulation

SECOND = timedelta(seconds=1)
HOSTILE = Faults(duplicate=0.05, reorder=0.2, short=0.2, throttle=0.05, kill=0.05, latency=SECOND)


def day(seed: int, faults: Faults, *, messages: int = 300, redrives: int = 1) -> tuple[Simulation, list[str]]:
    """Run one day with a handler that fails now and then and return what came of it."""
    with Simulation(seed=seed, faults=faults) as sim:
        dead = sim.standard_queue("dead", retention=timedelta(days=14))
        queue = sim.standard_queue("orders", visibility=60 * SECOND, dead_letters=dead, max_receive_count=3)
        done: list[str] = []

        def handler(event, context):
            failures = []
            for record in event["Records"]:
                with sim.crossings.cross("effect"):
                    if sim.chance.of(0.1):
                        failures.append({"itemIdentifier": record["messageId"]})
                    else:
                        done.append(record["body"])
            return {"batchItemFailures": failures}

        sim.map(queue, sim.function("f", handler, timeout=20 * SECOND), maximum_concurrency=5)
        for number in range(messages):
            sim.clock.after(number * timedelta(days=1) / messages, partial(queue.send, str(number)))
        sim.run_until_quiet()
        for _ in range(redrives):
            sim.redrive(dead)
            sim.run_until_quiet()
        return sim, done


@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_every_message_is_deleted_or_stored_at_the_end_whatever_goes_wrong(seed):
    sim, done = day(seed, HOSTILE)
    counts = sim.trail.counts
    came = counts["sent"] + counts["repeated"] + counts["dead-lettered"] + counts["redriven"]
    went = counts["deleted"] + counts["expired"] + counts["left"]
    stored = sum(len(queue) for queue in sim.queues.values())
    assert came == went + stored
    assert {letter.body for letter in sim.queues["dead"].messages} | set(done) == {str(n) for n in range(300)}


def test_the_same_seed_gives_the_same_day_to_the_last_id():
    first, second = (day(7, HOSTILE)[0] for _ in range(2))
    assert str(first.trail) == str(second.trail)


def test_another_seed_gives_another_day():
    assert str(day(7, HOSTILE)[0].trail) != str(day(8, HOSTILE)[0].trail)


def test_a_perfect_day_handles_each_message_once_and_only_the_failures_again():
    sim, done = day(1, Faults())
    assert max(Counter(done).values()) == 1
    assert sim.trail.counts["killed"] == sim.trail.counts["throttled"] == sim.trail.counts["repeated"] == 0


@pytest.mark.parametrize("faults", [Faults(), HOSTILE])
def test_a_hundred_thousand_messages_are_simulated_in_one_test(faults):
    with Simulation(faults=faults) as sim:
        dead = sim.standard_queue("dead")
        queue = sim.standard_queue("orders", visibility=180 * SECOND, dead_letters=dead)
        sim.map(queue, sim.function("f", lambda event, context: None))

        def send(sent: int = 0) -> None:
            for _ in range(50):
                queue.send("{}")
            if sent + 50 < 100_000:
                sim.clock.after(timedelta(days=1) / 2_000, lambda: send(sent + 50))

        send()
        sim.run_until_quiet()
        assert sim.trail.counts["sent"] == 100_000
        assert len(queue) == 0
