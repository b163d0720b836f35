"""`surehand dlq`: plan, redrive, resume, report, park, purge on moto, with the depot's own function as the consumer."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from surehand.states import State
from surehand.testing import World
from tests.ops.burial import Consumer, mend, parcels, trouble
from tests.ops.conftest import Said, Surehand
from tests.ops.depot import STATE, Parcel, ship
from tests.ops.fake_sqs import Died

WHY = ("--execute", "--reason", "INC-17")
#: On moto no function is deployed; the test's own consumer plays it.
PLAYED = ("--despite", "mapping")


@pytest.fixture
def buried(consumer: Consumer) -> Consumer:
    """24 dead letters of three tenants and four codes; the fix is deployed."""
    consumer.bury(parcels(24))
    STATE.act = mend
    return consumer


def depth(consumer: Consumer, url: str) -> int:
    answer = consumer.sqs.get_queue_attributes(
        QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    )
    return sum(int(count) for count in answer["Attributes"].values())


def counts(said: Said) -> dict[str, int]:
    (report,) = [line for line in said.lines if line.get("kind") == "report"]
    found: dict[str, int] = report["counts"]
    return found


def redrive(surehand: Surehand, *arguments: object) -> Said:
    return surehand("dlq", "redrive", *arguments, "--rate", "500/s", *PLAYED, *WHY, "--json")


def edit(path: Path, change: Any) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_nothing_moves_without_execute(buried: Consumer, surehand: Surehand) -> None:
    said = surehand("dlq", "redrive", "parcels", "--all")
    assert said.status == 0
    assert "Changes made: none" in said.err
    assert depth(buried, buried.dead) == 24
    assert depth(buried, buried.url) == 0


@pytest.mark.parametrize("verb", ["redrive", "park", "purge"])
def test_nothing_is_meant_unless_something_is_said(buried: Consumer, surehand: Surehand, verb: str) -> None:
    said = surehand("dlq", verb, "parcels", *(() if verb == "park" else ("--limit", "3")))
    assert said.status in (2, 5)
    assert depth(buried, buried.dead) == 24


def test_a_selection_that_matches_nothing_exits_with_2(buried: Consumer, surehand: Surehand) -> None:
    assert surehand("dlq", "redrive", "parcels", "--tenant", "nobody").status == 2


def test_execute_without_a_reason_is_refused(buried: Consumer, surehand: Surehand) -> None:
    assert surehand("dlq", "redrive", "parcels", "--all", "--execute").status == 5
    assert depth(buried, buried.dead) == 24


def test_redrive_moves_what_is_meant_and_leaves_evidence(buried: Consumer, surehand: Surehand) -> None:
    said = redrive(surehand, "parcels", "--tenant", "bolt", "--code", "data.weight")
    assert said.status == 0, said.err
    assert counts(said) == {"succeeded": 2}
    assert depth(buried, buried.dead) == 22
    (folder,) = Path(".surehand/runs").iterdir()
    report = json.loads((folder / "report.json").read_text())
    assert report["runs"][0]["reason"] == "INC-17"
    assert report["runs"][0]["actor"].startswith("arn:aws:")
    assert report["plan"]["selector"] == {"tenants": ["bolt"], "codes": ["data.weight"]}
    row = report["rows"][0]
    assert row["before"]["state"] == "permanently_failed"
    assert row["after"]["state"] == "succeeded"
    assert row["new_id"] not in (None, row["id"])
    assert "data.weight" in (folder / "report.md").read_text()


def test_evidence_and_journal_hold_no_body(consumer: Consumer, surehand: Surehand) -> None:
    consumer.bury([Parcel(number="1", trouble="data.address", route="SECRET-ROUTE")])
    STATE.act = mend
    redrive(surehand, "parcels", "--all")
    (folder,) = Path(".surehand/runs").iterdir()
    assert all("SECRET-ROUTE" not in path.read_text() for path in folder.iterdir())


def test_a_plan_runs_once_and_again_without_effect(buried: Consumer, surehand: Surehand) -> None:
    surehand("dlq", "plan", "parcels", "--tenant", "acme", "-o", "plan.json")
    first = redrive(surehand, "--plan", "plan.json")
    second = redrive(surehand, "--plan", "plan.json")
    third = redrive(surehand, "--plan", "plan.json")
    assert (first.status, second.status, third.status) == (0, 0, 0)
    assert (counts(first), counts(second)) == ({"succeeded": 8}, {"already_applied": 8})
    assert second.lines[-1]["digest"] == third.lines[-1]["digest"]
    assert Counter(STATE.effects.values()) == {1: 8}


def test_an_edited_plan_is_refused(buried: Consumer, surehand: Surehand) -> None:
    surehand("dlq", "plan", "parcels", "--tenant", "acme", "-o", "plan.json")
    edit(Path("plan.json"), lambda plan: plan["letters"].pop())
    assert redrive(surehand, "--plan", "plan.json").status == 5
    assert depth(buried, buried.dead) == 24


def test_an_expired_plan_is_refused(buried: Consumer, surehand: Surehand, monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import timedelta

    monkeypatch.setattr("surehand_cli.dlq.planning.VALID", timedelta(0))
    surehand("dlq", "plan", "parcels", "--tenant", "acme", "-o", "plan.json")
    said = redrive(surehand, "--plan", "plan.json")
    assert (said.status, "expired" in said.err) == (5, True)


def test_a_plan_whose_operations_have_changed_is_refused(buried: Consumer, depot: World, surehand: Surehand) -> None:
    surehand("dlq", "plan", "parcels", "--tenant", "acme", "-o", "plan.json")
    parcel = next(one for one in parcels(24) if one.tenant == "acme")
    operation = depot.operation(ship, parcel)
    assert operation is not None
    surehand("ledger", "resolve", operation.id, "--not-applied", "--execute", "--reason", "x")
    said = redrive(surehand, "--plan", "plan.json")
    assert said.status == 5
    assert "drifted" in said.err


def test_a_plan_for_another_stage_is_refused(buried: Consumer, surehand: Surehand) -> None:
    surehand("dlq", "plan", "parcels", "--tenant", "acme", "-o", "plan.json")
    assert surehand("dlq", "redrive", "--plan", "plan.json", "--stage", "prod", *WHY).status == 5


def test_a_code_that_still_fails_stops_the_run_after_its_canary(buried: Consumer, surehand: Surehand) -> None:
    STATE.act = lambda parcel, job: trouble(parcel, job) if parcel.trouble == "data.weight" else None
    said = redrive(surehand, "parcels", "--code", "data.weight")
    assert said.status == 3
    assert "canary for data.weight failed again" in said.err
    assert counts(said) == {"failed": 1, "not moved": 5}


def test_a_destination_that_nothing_consumes_is_refused(buried: Consumer, surehand: Surehand) -> None:
    said = surehand("dlq", "redrive", "parcels", "--all", *WHY)
    assert said.status == 5
    assert "nothing consumes depot-test-parcels" in said.err
    assert depth(buried, buried.dead) == 24


def test_what_has_succeeded_is_said_to_be_a_no_op_before_anything_moves(
    buried: Consumer, depot: World, surehand: Surehand
) -> None:
    operation = depot.operation(ship, parcels(1)[0])
    assert operation is not None
    surehand("ledger", "resolve", operation.id, "--applied", "--execute", "--reason", "x")
    said = surehand("dlq", "redrive", "parcels", "--tenant", "acme", "--code", "data.address")
    assert "1 of them are no-ops" in said.err
    done = redrive(surehand, "parcels", "--tenant", "acme", "--code", "data.address")
    assert counts(done) == {"already_applied": 1, "succeeded": 1}
    assert STATE.order == ["12"]


def test_held_operations_stay_out_of_a_plan_until_they_are_resolved(consumer: Consumer, surehand: Surehand) -> None:
    consumer.bury([Parcel(number="1", trouble="effect.unknown"), Parcel(number="2", trouble="data.address")])
    STATE.act = mend
    said = redrive(surehand, "parcels", "--all")
    assert "1 stay where they are: held" in said.err
    assert counts(said) == {"succeeded": 1}
    assert counts(redrive(surehand, "parcels", "--all", "--fresh", "--include-held")) == {"succeeded": 1}


def test_a_killed_run_is_resumed_by_its_journal(
    buried: Consumer, surehand: Surehand, monkeypatch: pytest.MonkeyPatch
) -> None:
    from surehand_cli.dlq.moving import Mover

    delete = Mover._delete

    def die_at_the_third(self: Mover, accepted: Any) -> None:
        if depth(buried, buried.dead) <= 20:
            raise Died
        delete(self, accepted)

    monkeypatch.setattr(Mover, "_delete", die_at_the_third)
    with pytest.raises(Died):
        redrive(surehand, "parcels", "--all")
    monkeypatch.setattr(Mover, "_delete", delete)
    (run,) = [path.name for path in Path(".surehand/runs").iterdir()]
    _show_all(buried.dead)
    said = surehand("dlq", "resume", run, *PLAYED, "--json")
    assert said.status == 0, said.err
    assert sum(counts(said).values()) == 24
    assert Counter(STATE.effects.values()) == {1: 24}


def _show_all(url: str) -> None:
    """Let the visibility of everything end, as if a minute had passed."""
    from moto.sqs.models import sqs_backends

    backend = next(iter(sqs_backends.values()))["eu-west-1"]
    for message in backend.get_queue(url.rpartition("/")[2])._messages:
        message.change_visibility(0)


def test_an_edited_journal_is_noticed(buried: Consumer, surehand: Surehand) -> None:
    redrive(surehand, "parcels", "--tenant", "acme")
    (folder,) = Path(".surehand/runs").iterdir()
    journal = folder / "journal.jsonl"
    lines = journal.read_text().splitlines()
    lines[3] = lines[3].replace('"kind":', '"kind" :')
    journal.write_text("\n".join(lines) + "\n")
    assert surehand("dlq", "report", folder.name, "--json").lines[0]["journal"]["intact"] is True
    lines.pop(4)
    journal.write_text("\n".join(lines) + "\n")
    said = surehand("dlq", "report", folder.name)
    assert said.status == 5
    assert "edited at line 5" in said.out + said.err
    assert surehand("dlq", "resume", folder.name).status == 5


def test_production_asks_for_a_confirmation(buried: Consumer, surehand: Surehand) -> None:
    from surehand_cli.dlq.confirming import confirm
    from surehand_cli.dlq.plan import load
    from surehand_cli.problem import Refusal
    from surehand_cli.terminal.output import Output

    surehand("dlq", "plan", "parcels", "--tenant", "acme", "-o", "plan.json")
    edit(Path("plan.json"), lambda plan: plan.pop("digest"))
    surehand("dlq", "plan", "parcels", "--tenant", "acme", "-o", "other.json")
    import dataclasses

    plan = dataclasses.replace(load(Path("other.json")), stage="prod")
    with pytest.raises(Refusal, match="redrive 8 from depot-test-parcels-dlq"):
        confirm(Output(), plan, reason="x", yes=False, phrase=None)
    assert confirm(Output(), plan, reason="x", yes=True, phrase=None) == "x"
    assert confirm(Output(), plan, reason="x", yes=False, phrase="redrive 8 from depot-test-parcels-dlq") == "x"


def test_park_puts_letters_aside_from_where_they_can_be_redriven(buried: Consumer, surehand: Surehand) -> None:
    said = surehand("dlq", "park", "parcels", "--code", "data.weight", "--create", *WHY, "--json")
    assert said.status == 0, said.err
    assert (counts(said), depth(buried, buried.dead)) == ({"moved": 6}, 18)
    back = redrive(surehand, "depot-test-parcels-dlq-parked", "--all")
    assert back.status == 0, back.err
    assert counts(back) == {"succeeded": 6}


def test_purge_needs_its_phrase_and_keeps_a_copy(buried: Consumer, surehand: Surehand) -> None:
    refused = surehand("dlq", "purge", "parcels", "--code", "data.weight", *WHY)
    assert refused.status == 5
    assert depth(buried, buried.dead) == 24
    phrase = "purge 6 from depot-test-parcels-dlq"
    said = surehand("dlq", "purge", "parcels", "--code", "data.weight", *WHY, "--confirm", phrase, "--json")
    assert said.status == 0, said.err
    assert (counts(said), depth(buried, buried.dead)) == ({"moved": 6}, 18)
    (folder,) = Path(".surehand/runs").iterdir()
    assert len((folder / "letters.jsonl").read_text().splitlines()) == 6


def test_an_invalid_letter_stays_what_it_is_and_its_failure_is_seen(consumer: Consumer, surehand: Surehand) -> None:
    consumer.bury(['{"tenant":"acme"}', "not json"])
    said = redrive(surehand, "parcels", "--code", "input.schema")
    assert said.status == 3
    assert counts(said) == {"failed": 1}


def test_the_state_of_an_operation_after_its_redrive_is_one_real_attempt_more(
    consumer: Consumer, depot: World, surehand: Surehand
) -> None:
    consumer.bury(parcels(1))
    STATE.act = mend
    redrive(surehand, "parcels", "--all")
    operation = depot.operation(ship, parcels(1)[0])
    assert operation is not None
    assert operation.state is State.SUCCEEDED
    assert [entry.note for entry in operation.history if entry.note == "redrive"] == ["redrive"]
