"""A simulated Lambda function: deadline, kill, cold and warm."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from surehand.testing.simulator import Crossing, End, Fault, Faults, Killed, Simulation

SECOND = timedelta(seconds=1)


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with Simulation() as simulation:
        yield simulation


def test_the_response_comes_back_as_json(sim):
    result = sim.invoke(sim.function("f", lambda event, context: {"got": tuple(event)}), [1, 2])
    assert (result.ended, result.response) == (End.RETURNED, {"got": [1, 2]})


def test_an_exception_and_an_answer_that_is_no_json_are_function_errors(sim):
    assert sim.invoke(sim.function("f", lambda event, context: 1 / 0), None).ended is End.RAISED
    assert sim.invoke(sim.function("g", lambda event, context: object()), None).ended is End.RAISED


def test_the_remaining_time_falls_with_the_simulated_clock(sim):
    def handler(event, context):
        before = context.get_remaining_time_in_millis()
        sim.sleep(2 * SECOND)
        return [before, context.get_remaining_time_in_millis()]

    assert sim.invoke(sim.function("f", handler, timeout=10 * SECOND), None).response == [10_000, 8_000]


def test_the_context_names_the_request_and_the_function(sim):
    def handler(event, context):
        return [context.aws_request_id, context.function_name, context.memory_limit_in_mb]

    request, name, memory = sim.invoke(sim.function("f", handler, memory=256), None).response
    assert (len(request), name, memory) == (36, "f", "256")


def test_a_function_that_runs_past_its_timeout_is_ended_and_answers_nothing(sim):
    done = []

    def handler(event, context):
        sim.sleep(31 * SECOND)
        done.append(1)

    start = sim.clock.now()
    result = sim.invoke(sim.function("f", handler), None)
    assert (result.ended, done, sim.clock.now() - start) == (End.TIMED_OUT, [], 30 * SECOND)


def test_after_a_kill_every_crossing_of_the_invocation_is_refused_even_in_finally(sim):
    effects = []

    def effect(name: str) -> None:
        with sim.crossings.cross("effect", name):
            effects.append(name)

    def handler(event, context):
        try:
            effect("first")
            effect("second")
        finally:
            effect("clean-up")

    def plan(crossing: Crossing) -> Fault | None:
        return Fault.KILL_BEFORE if crossing.detail == "second" else None

    sim.crossings.plan = plan
    assert sim.invoke(sim.function("f", handler), None).ended is End.KILLED
    assert effects == ["first"]


def test_a_kill_after_a_crossing_leaves_its_effect(sim):
    effects = []

    def handler(event, context):
        with sim.crossings.cross("effect"):
            effects.append(1)

    sim.crossings.plan = lambda crossing: Fault.KILL_AFTER if crossing.kind == "effect" else None
    assert sim.invoke(sim.function("f", handler), None).ended is End.KILLED
    assert effects == [1]


def test_an_invocation_killed_before_its_acknowledgement_has_not_answered(sim):
    sim.crossings.plan = lambda crossing: Fault.KILL_BEFORE if crossing.kind == "acknowledge" else None
    assert sim.invoke(sim.function("f", lambda event, context: {}), None).ended is End.KILLED


def test_a_handler_that_swallows_the_kill_answers_nothing_all_the_same(sim):
    def handler(event, context):
        try:
            sim.sleep(60 * SECOND)
        except BaseException:  # noqa: BLE001 - what the worst of handlers does
            return "survived"

    result = sim.invoke(sim.function("f", handler), None)
    assert (result.ended, result.response) == (End.TIMED_OUT, None)


def test_a_lost_reply_has_its_effect_and_a_refusal_has_none(sim):
    effects = []

    def handler(event, context):
        for name in ("lost", "refused"):
            try:
                with sim.crossings.cross("call", name, error=TimeoutError):
                    effects.append(name)
            except TimeoutError:
                effects.append("error")

    faults = {"lost": Fault.LOSE_REPLY, "refused": Fault.REFUSE}
    sim.crossings.plan = lambda crossing: faults.get(crossing.detail)
    sim.invoke(sim.function("f", handler), None)
    assert effects == ["lost", "error", "error"]


def test_the_first_call_is_cold_and_the_next_is_warm(sim):
    starts = []
    function = sim.function("f", lambda event, context: None, on_init=lambda: starts.append(1))
    sim.invoke(function, None)
    sim.invoke(function, None)
    assert starts == [1]


def test_an_environment_whose_process_died_is_not_used_again(sim):
    starts = []
    function = sim.function("f", lambda event, context: sim.sleep(event), on_init=lambda: starts.append(1))
    sim.invoke(function, 60 * SECOND)
    sim.invoke(function, SECOND)
    assert starts == [1, 1]


def test_an_environment_that_was_idle_for_long_is_gone(sim):
    starts = []
    function = sim.function("f", lambda event, context: None, on_init=lambda: starts.append(1))
    sim.invoke(function, None)
    sim.run(for_=timedelta(hours=1))
    sim.invoke(function, None)
    assert starts == [1, 1]


def test_invocations_at_once_interleave_where_time_passes(sim):
    seen = []

    def handler(event, context):
        for step in range(3):
            seen.append((event, step))
            sim.sleep(2 * SECOND)

    function = sim.function("f", handler)
    function.invoke("a", lambda result: None)
    sim.run(for_=SECOND)
    function.invoke("b", lambda result: None)
    sim.run_until_quiet()
    assert seen == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)]


def test_beyond_its_reserved_concurrency_a_function_is_throttled(sim):
    function = sim.function("f", lambda event, context: sim.sleep(SECOND), reserved=1)
    ended = []
    for _ in range(2):
        function.invoke(None, lambda result: ended.append(result.ended))
    sim.run_until_quiet()
    assert ended == [End.THROTTLED, End.RETURNED]


def test_an_alarm_rings_inside_the_sleeping_invocation_and_may_raise(sim):
    def ring():
        raise TimeoutError

    def handler(event, context):
        sim.clock.alarm(sim.clock.now() + 5 * SECOND, ring)
        try:
            sim.sleep(20 * SECOND)
        except TimeoutError:
            return context.get_remaining_time_in_millis()
        return None

    assert sim.invoke(sim.function("f", handler), None).response == 25_000


def test_an_alarm_that_raises_nothing_lets_the_sleep_go_on(sim):
    rings = []

    def handler(event, context):
        sim.clock.alarm(sim.clock.now() + 5 * SECOND, lambda: rings.append(1))
        sim.sleep(20 * SECOND)
        return context.get_remaining_time_in_millis()

    assert sim.invoke(sim.function("f", handler), None).response == 10_000
    assert rings == [1]


def test_a_failing_test_inside_a_handler_fails_the_test_and_not_the_function(sim):
    def handler(event, context):
        pytest.fail("seen")

    with pytest.raises(pytest.fail.Exception, match="seen"):
        sim.invoke(sim.function("f", handler), None)


def test_leaving_a_simulation_ends_what_is_still_in_progress():
    ends = []

    def handler(event, context):
        try:
            simulation.sleep(20 * SECOND)
        except Killed:
            ends.append("killed")
            raise

    with Simulation() as simulation:
        simulation.function("f", handler).invoke(None, lambda result: ends.append(result.ended))
    assert ends[0] == "killed"


def test_kills_at_a_rate_end_about_that_share_of_calls(sim):
    sim.chance.faults = Faults(kill=0.2)
    function = sim.function("f", lambda event, context: None)
    killed = sum(sim.invoke(function, None).ended is End.KILLED for _ in range(500))
    assert 70 < killed < 130
