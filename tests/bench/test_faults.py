"""The soak counts what it should, and a small one keeps every promise."""

from __future__ import annotations

import json

import pytest

from bench.__main__ import main
from bench.faults.soak import Tally, wave


def test_a_small_soak_loses_nothing_and_repeats_nothing_without_a_fault() -> None:
    tally = wave(400, seed=3)
    assert tally.kept, tally.told()
    assert tally.messages == 400
    assert tally.faults["killed before"] + tally.faults["killed after"] > 0
    assert tally.faults["refused"] > 0
    assert tally.redriven > 0


def test_the_same_seed_gives_the_same_course_of_events() -> None:
    one, other = wave(150, seed=5), wave(150, seed=5)
    assert (one.outcomes, one.faults, one.deliveries) == (other.outcomes, other.faults, other.deliveries)


def test_the_command_prints_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--messages", "100", "--seed", "2", "--workers", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["messages"], told["lost"], told["stuck"], told["effects_under_other_key"]) == (100, 0, 0, 0)


@pytest.mark.parametrize("name", ["lost", "stuck", "effects_under_other_key", "repeated_beyond_faults"])
def test_one_broken_promise_fails_the_soak(name: str) -> None:
    tally = Tally()
    setattr(tally, name, 1)
    assert not tally.kept


def test_tallies_of_waves_add_up_and_memory_is_the_largest() -> None:
    total = Tally(messages=1, peak_mb=60)
    total.add(Tally(messages=2, peak_mb=50))
    assert (total.messages, total.peak_mb) == (3, 60)
