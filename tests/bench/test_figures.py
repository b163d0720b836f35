"""The benches run and print their figures. How fast they are is no test's business."""

from __future__ import annotations

import json

import pytest

from bench.__main__ import SPEED, main
from bench.figures import Figure, Target
from bench.money.bill import Measured, bill
from bench.speed.latency import latency


def lines(output: str) -> list[dict]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


@pytest.mark.parametrize("name", ["cpu", "units", "money"])
def test_a_figure_is_printed_as_one_json_object_a_line_at_the_end(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["speed", "--only", name, "--runs", "1", "--json"])
    output = capsys.readouterr().out.splitlines()
    figures = lines("\n".join(output))
    assert figures[0]["figure"] == "machine"
    assert len(figures) > 2
    assert [json.loads(line) for line in output[-len(figures) :]] == figures


def test_latency_is_measured_for_each_size_and_round_trip() -> None:
    figures = list(latency(runs=1, sizes=(1, 10), round_trips_ms=(0, 5)))
    assert [(one.under["batch"], one.under["round_trip_ms"]) for one in figures] == [(1, 0), (10, 0), (1, 5), (10, 5)]
    assert all(one.values["surehand_ms"] > 0 < one.values["powertools_ms"] for one in figures)


def test_a_round_trip_is_never_shorter_than_it_says() -> None:
    (figure,) = latency(runs=1, sizes=(1,), round_trips_ms=(20,))
    assert min(figure.values["surehand_ms"], figure.values["powertools_ms"]) >= 40


def test_a_message_that_succeeds_costs_two_write_units_and_its_duplicate_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["speed", "--only", "units", "--json"])
    ours = {one["case"]: one for one in lines(capsys.readouterr().out) if one.get("side") == "surehand"}
    assert (ours["fresh"]["write_units"], ours["duplicate"]["write_units"]) == (2.0, 1.0)
    assert ours["redelivered"]["write_units"] == 0.0
    assert ours["fresh"]["largest_item_bytes"] < 1024
    assert ours["fresh"]["by_call"] == {"BatchExecuteStatement": 2}


def test_a_target_that_is_missed_is_said_and_ends_the_command_with_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    missed = Figure(name="made-up", values={"ratio": 2.0}, targets=(Target("ratio", 1.0),))
    monkeypatch.setitem(SPEED, "cpu", lambda *, runs: iter([missed]))
    assert main(["speed", "--only", "cpu"]) == 1
    assert "✗ ratio ≤ 1" in capsys.readouterr().out


def test_waiting_is_billed_and_cpu_below_a_whole_processor_takes_longer() -> None:
    one = Measured(
        side="x", cpu_us=100, waits=2, write_units=2, read_units=0, log_bytes=500, item_bytes=500, sqs_requests=1.2
    )
    whole, half = (bill(one, memory_mb=memory, round_trip_ms=5) for memory in (1_769, 1_769 // 2))
    seconds = 100_000 * (0.010 + 0.001)
    assert whole.duration == pytest.approx(seconds * 1_769 / 1024 * 0.0000133334)
    assert half.duration == pytest.approx(100_000 * (0.010 + 0.002) * 884 / 1024 * 0.0000133334, rel=1e-3)
    assert whole.dynamodb == pytest.approx(1.25)
