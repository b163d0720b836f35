"""`surehand dlq`: looking at dead letters. Nothing moves, the ledger is joined in, and bodies stay private."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from surehand.states import State
from surehand.testing import World
from tests.ops.burial import Consumer, parcels
from tests.ops.conftest import Surehand
from tests.ops.depot import Parcel, ship


@pytest.fixture
def buried(consumer: Consumer) -> Consumer:
    """24 dead letters of three tenants and four codes."""
    consumer.bury(parcels(24))
    return consumer


def listed(surehand: Surehand, *arguments: object) -> list[str]:
    said = surehand("dlq", "list", "parcels", *arguments, "--json")
    assert said.status == 0, said.err
    return [json.loads(line["operation"])[2][0] for line in said.lines]


def numbers(test) -> set[str]:
    return {parcel.number for parcel in parcels(24) if test(parcel)}


def test_ls_counts_letters_without_receiving_any(buried: Consumer, surehand: Surehand) -> None:
    lines = surehand("dlq", "ls", "--json").lines
    assert {line["handler"]: line["letters"] for line in lines} == {"parcels": 24, "lanes": 0, "careful": 0}
    (message,) = buried.sqs.receive_message(
        QueueUrl=buried.dead, MaxNumberOfMessages=1, MessageSystemAttributeNames=["All"]
    )["Messages"]
    assert message["Attributes"]["ApproximateReceiveCount"] == "1"  # by this look alone


def test_a_snapshot_holds_every_letter_and_shows_them_to_others_again(buried: Consumer, surehand: Surehand) -> None:
    said = surehand("dlq", "snapshot", "parcels", "-o", "snap.jsonl", "--json")
    assert said.lines == [
        {"snapshot": "snap.jsonl", "queue": said.lines[0]["queue"], "letters": 24, "complete": True, "told": 24}
    ]
    assert len(Path("snap.jsonl").read_text().splitlines()) == 26
    answer = buried.sqs.get_queue_attributes(QueueUrl=buried.dead, AttributeNames=["ApproximateNumberOfMessages"])
    assert answer["Attributes"]["ApproximateNumberOfMessages"] == "24"


def test_a_snapshot_is_readable_by_its_owner_only(buried: Consumer, surehand: Surehand) -> None:
    surehand("dlq", "snapshot", "parcels", "-o", "snap.jsonl")
    assert stat.S_IMODE(Path("snap.jsonl").stat().st_mode) == 0o600


def test_a_snapshot_never_overwrites_another(buried: Consumer, surehand: Surehand) -> None:
    Path("snap.jsonl").write_text("mine")
    assert surehand("dlq", "snapshot", "parcels", "-o", "snap.jsonl").status == 2
    assert Path("snap.jsonl").read_text() == "mine"


def test_a_snapshot_tells_the_ledger_what_is_dead(buried: Consumer, depot: World, surehand: Surehand) -> None:
    surehand("dlq", "snapshot", "parcels")
    operation = depot.operation(ship, parcels(1)[0])
    assert operation is not None
    assert operation.state is State.DEAD_LETTERED
    assert operation.code == "data.address"


def test_a_reading_verb_tells_the_ledger_nothing(buried: Consumer, depot: World, surehand: Surehand) -> None:
    surehand("dlq", "list", "parcels")
    operation = depot.operation(ship, parcels(1)[0])
    assert operation is not None
    assert operation.state is State.PERMANENTLY_FAILED


def test_reading_verbs_share_one_snapshot_so_that_nobody_looks_twice(buried: Consumer, surehand: Surehand) -> None:
    surehand("dlq", "stats", "parcels")
    assert "Reading the snapshot" in surehand("dlq", "list", "parcels").err
    assert "Reading the snapshot" not in surehand("dlq", "list", "parcels", "--fresh").err


def test_stats_count_by_code_and_tenant_and_say_what_a_redrive_comes_to(buried: Consumer, surehand: Surehand) -> None:
    lines = surehand("dlq", "stats", "parcels", "--by", "code", "--by", "tenant", "--json").lines
    assert len(lines) == 12
    assert {line["letters"] for line in lines} == {2}
    assert all(line["redrive"] == {"runs again": 2} for line in lines)


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        (("--tenant", "bolt"), lambda p: p.tenant == "bolt"),
        (("--tenant", "bolt", "--tenant", "crow"), lambda p: p.tenant != "acme"),
        (("--code", "data.address"), lambda p: p.trouble == "data.address"),
        (("--class", "data"), lambda p: p.trouble.startswith("data.")),
        (("--tenant", "bolt", "--code", "data.weight"), lambda p: (p.tenant, p.trouble) == ("bolt", "data.weight")),
        (("--where", "body.weight > `20`"), lambda p: p.weight > 20),
        (("--where", "body.weight > `20`", "--where", "body.tenant == 'acme'"), lambda p: p.number == "21"),
        (("--attempts", ">=1"), lambda p: True),
        (("--attempts", "2"), lambda p: False),
        (("--since", "1h"), lambda p: True),
        (("--until", "1h"), lambda p: False),
        (("--dead-since", "1h"), lambda p: True),
        (("--dead-until", "1h"), lambda p: False),
        (("--version", "test"), lambda p: True),
        (("--version", "other"), lambda p: False),
    ],
)
def test_a_selection_means_exactly_those(buried: Consumer, surehand: Surehand, options, meant) -> None:
    assert set(listed(surehand, *options)) == numbers(meant)


def test_an_id_range_is_everything_between_its_ends_in_the_snapshots_order(
    buried: Consumer, surehand: Surehand
) -> None:
    ids = [line["id"] for line in surehand("dlq", "list", "parcels", "--json").lines]
    ranged = surehand("dlq", "list", "parcels", "--id", f"{ids[3]}..{ids[7]}", "--id", ids[20], "--json").lines
    assert [line["id"] for line in ranged] == [*ids[3:8], ids[20]]


def test_a_limit_takes_the_first_ones(buried: Consumer, surehand: Surehand) -> None:
    everything = listed(surehand)
    assert listed(surehand, "--limit", 5) == everything[:5]


def test_show_outlines_the_body_and_prints_it_only_when_asked(buried: Consumer, surehand: Surehand) -> None:
    (letter,) = surehand("dlq", "list", "parcels", "--where", "body.number == '7'", "--json").lines
    said = surehand("dlq", "show", "parcels", letter["id"])
    assert "<text, 1 characters>" in said.out
    assert '"bolt"' not in said.out.split("\n\n", 2)[2]
    assert '"number":"7"' in surehand("dlq", "show", "parcels", letter["id"], "--body").out


def test_no_listing_prints_a_body(consumer: Consumer, surehand: Surehand) -> None:
    consumer.bury([Parcel(number="1", trouble="data.address", route="SECRET-ROUTE")])
    for verb in ("stats", "list"):
        for form in ((), ("--json",)):
            said = surehand("dlq", verb, "parcels", *form)
            assert "SECRET-ROUTE" not in said.out + said.err


def test_letters_that_name_no_operation_are_listed_with_the_reason(consumer: Consumer, surehand: Surehand) -> None:
    consumer.bury(['{"tenant":"acme"}', "not json"])
    lines = surehand("dlq", "list", "parcels", "--json").lines
    assert sorted(line["code"] for line in lines) == ["input.malformed", "input.schema"]
    assert {line["verdict"] for line in lines} == {"rejected again"}


def test_letters_whose_operation_has_succeeded_are_said_to_be_no_ops(
    consumer: Consumer, depot: World, surehand: Surehand
) -> None:
    consumer.bury(parcels(1))
    operation = depot.operation(ship, parcels(1)[0])
    assert operation is not None
    surehand("ledger", "resolve", operation.id, "--applied", "--execute", "--reason", "the customer has it")
    (line,) = surehand("dlq", "list", "parcels", "--json").lines
    assert (line["state"], line["verdict"]) == ("succeeded", "no-op: already succeeded")


def test_export_writes_one_file_for_the_letter_and_one_for_its_body(buried: Consumer, surehand: Surehand) -> None:
    said = surehand("dlq", "export", "parcels", "--tenant", "acme", "--code", "data.address", "-o", "out", "--json")
    assert len(said.lines) == 2
    body = Path(said.lines[0]["file"]).with_suffix(".body")
    assert json.loads(body.read_text())["tenant"] == "acme"
    assert stat.S_IMODE(body.stat().st_mode) == 0o600


def test_export_without_a_selection_is_refused(buried: Consumer, surehand: Surehand) -> None:
    assert surehand("dlq", "export", "parcels", "-o", "out").status == 5


def test_an_unknown_queue_is_one_line_with_advice(depot: World, surehand: Surehand) -> None:
    said = surehand("dlq", "stats", "nothing-here")
    assert said.status == 2
    assert said.err.count("\n") == 1
    assert "surehand dlq ls" in said.err


def test_a_snapshot_without_bodies_still_knows_the_operations(buried: Consumer, surehand: Surehand) -> None:
    surehand("dlq", "snapshot", "parcels", "--no-bodies", "-o", "snap.jsonl")
    assert "weight" not in Path("snap.jsonl").read_text()
    assert len(surehand("dlq", "list", "snap.jsonl", "--tenant", "acme", "--json").lines) == 8
    assert surehand("dlq", "list", "snap.jsonl", "--where", "body.weight > `3`").status == 2
