"""`surehand send`: nothing leaves before every row was validated and keyed; a killed run goes on where it was."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from surehand.testing import World
from tests.ops.burial import Consumer, mend
from tests.ops.conftest import Said, Surehand
from tests.ops.depot import STATE, ship

GO = ("--execute", "--reason", "import", "--rate", "500/s", "--json")


def row(number: int, **more: object) -> str:
    return json.dumps({"number": str(number), "tenant": "acme", **more})


@pytest.fixture
def file(project: Path) -> Path:
    """25 rows."""
    path = project / "rows.jsonl"
    path.write_text("\n".join(row(n) for n in range(25)) + "\n\n")
    return path


def depth(consumer: Consumer) -> int:
    answer = consumer.sqs.get_queue_attributes(QueueUrl=consumer.url, AttributeNames=["ApproximateNumberOfMessages"])
    return int(answer["Attributes"]["ApproximateNumberOfMessages"])


def end(said: Said) -> dict[str, Any]:
    return {name: value for name, value in said.lines[-1].items() if name in ("sent", "refused")}


def test_nothing_is_sent_without_execute(consumer: Consumer, surehand: Surehand, file: Path) -> None:
    said = surehand("send", "parcels", "-f", file, "--json")
    assert (said.status, said.lines[0]["rows"], depth(consumer)) == (0, 25, 0)
    assert "Changes made: none" in said.err


def test_every_row_runs_once(consumer: Consumer, surehand: Surehand, file: Path) -> None:
    STATE.act = mend
    said = surehand("send", "parcels", "-f", file, *GO)
    assert (said.status, end(said)) == (0, {"sent": 25, "refused": 0}), said.err
    consumer.consume()
    assert Counter(STATE.effects.values()) == {1: 25}


def test_rows_come_from_standard_input_too(
    consumer: Consumer, surehand: Surehand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(row(1).encode())))
    assert end(surehand("send", "parcels", *GO)) == {"sent": 1, "refused": 0}


def test_one_row_that_does_not_fit_keeps_all_from_being_sent(
    consumer: Consumer, surehand: Surehand, file: Path
) -> None:
    file.write_text(file.read_text() + '{"tenant":"SECRET"}\nnot json\n{"number":"","tenant":"SECRET"}\n')
    said = surehand("send", "parcels", "-f", file, *GO)
    assert (said.status, depth(consumer)) == (5, 0)
    wrong = [(line["line"], line["code"]) for line in said.lines if line["kind"] == "invalid"]
    assert wrong == [(27, "input.schema"), (28, "input.malformed"), (29, "input.key")]
    assert "SECRET" not in said.out + said.err


def test_rows_that_do_not_fit_can_be_left_out(consumer: Consumer, surehand: Surehand, file: Path) -> None:
    file.write_text(file.read_text() + "not json\n")
    said = surehand("send", "parcels", "-f", file, "--skip-invalid", *GO)
    assert (said.status, end(said)) == (0, {"sent": 25, "refused": 0})


def test_two_payloads_for_one_operation_are_refused(consumer: Consumer, surehand: Surehand, file: Path) -> None:
    file.write_text(row(1) + "\n" + row(1, weight=2) + "\n")
    said = surehand("send", "parcels", "-f", file, *GO)
    assert (said.status, depth(consumer)) == (5, 0)
    assert said.lines[0] == {
        "kind": "invalid",
        "line": 2,
        "code": "input.conflict",
        "detail": "another payload for the operation that line 1 names",
    }
    assert "surehand: 1 row does not fit; correct the file, or leave such rows out with --skip-invalid" in said.err


def test_of_two_payloads_for_one_operation_the_later_can_be_left_out(
    consumer: Consumer, surehand: Surehand, file: Path
) -> None:
    file.write_text(row(1) + "\n" + row(1, weight=2) + "\n" + row(1) + "\n")
    said = surehand("send", "parcels", "-f", file, "--skip-invalid", *GO)
    assert (said.status, end(said), depth(consumer)) == (0, {"sent": 2, "refused": 0}, 2)
    assert "The same as an earlier row: 1." in said.err


def test_a_rate_that_is_none_is_refused_before_anything_is_looked_at(
    consumer: Consumer, surehand: Surehand, file: Path
) -> None:
    said = surehand("send", "parcels", "-f", file, "--rate", "fast")
    assert (said.status, said.out, said.err) == (2, "", "surehand: --rate 'fast': write 5/s, 300/m or 5\n")


def test_rows_that_all_fit_bring_no_empty_table(consumer: Consumer, surehand: Surehand, file: Path) -> None:
    file.write_text(row(1) + "\n")
    said = surehand("send", "parcels", "-f", file)
    assert (said.status, said.out) == (0, "")
    assert "1 row for 'parcels', 0 that do not fit." in said.err


def test_rows_of_operations_that_are_done_are_said_to_be_no_ops(
    consumer: Consumer, depot: World, surehand: Surehand, file: Path
) -> None:
    STATE.act = mend
    from tests.ops.depot import Parcel

    ship(depot.event(ship, Parcel(number="3"), Parcel(number="4")), None)
    said = surehand("send", "parcels", "-f", file, "--json")
    assert said.lines[0]["already_final"] == 2


def test_a_run_that_was_killed_goes_on_with_what_was_not_sent(
    consumer: Consumer, surehand: Surehand, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surehand.aws.queues import SQSQueues

    class Died(BaseException):
        pass

    usual, calls = SQSQueues.send, []

    def dying(self: SQSQueues, handler: str, messages: Any) -> Any:
        calls.append(len(messages))
        if len(calls) == 2:
            raise Died
        return usual(self, handler, messages)

    monkeypatch.setattr(SQSQueues, "send", dying)
    with pytest.raises(Died):
        surehand("send", "parcels", "-f", file, *GO)
    monkeypatch.setattr(SQSQueues, "send", usual)
    # The rate may have let the function work before the second batch.
    assert depth(consumer) + len(STATE.effects) == 10
    (run,) = [path.name for path in Path(".surehand/sends").iterdir()]
    file.unlink()
    said = surehand("send", "parcels", "--resume", run, "--json")
    assert (said.status, end(said)) == (0, {"sent": 25, "refused": 0}), said.err
    consumer.consume()
    assert Counter(STATE.effects.values()) == {1: 25}


def test_execute_without_a_reason_is_refused_and_leaves_nothing_behind(
    consumer: Consumer, surehand: Surehand, file: Path
) -> None:
    assert surehand("send", "parcels", "-f", file, "--execute").status == 5
    assert list(Path(".surehand/sends").iterdir()) == []


def test_an_unknown_handler_is_told_with_the_known_ones(consumer: Consumer, surehand: Surehand, file: Path) -> None:
    said = surehand("send", "parcel", "-f", file)
    assert (said.status, "parcels" in said.err) == (2, True)
