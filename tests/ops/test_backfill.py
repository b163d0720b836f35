"""`surehand backfill`: which ticks it sends, which it leaves alone, and how it goes on after an interruption."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import boto3
import pytest

from surehand import Reject, Retry, Tick, cron, schedule
from surehand.declare import queue_name
from surehand.states import State
from surehand.testing import World, world
from surehand_cli.account.waiting import SystemWaiting
from surehand_cli.backfill.ticks import next_tick, none_left
from tests.ops.bells import BELLS, TOWER, hourly
from tests.ops.conftest import Surehand

HOUR = timedelta(hours=1)


def raising(error: BaseException) -> Any:
    def act(tick: Tick, job: object) -> None:
        raise error

    return act


@pytest.fixture
def tower(project: Path) -> Iterator[World]:
    """The tower on moto, named by the project."""
    (project / "pyproject.toml").write_text('[tool.surehand]\nservice = "tests.ops.bells:TOWER"\n')
    BELLS.reset()
    with world(TOWER, on="moto") as made:
        yield made


class Ringer(SystemWaiting):
    """Waits by letting the hourly schedule's function work on what is in its queue."""

    def __init__(self) -> None:
        super().__init__()
        self.sqs = boto3.client("sqs")
        self.url = self.sqs.get_queue_url(QueueName=queue_name("tower", "test", hourly))["QueueUrl"]
        self.after: int | None = None

    def wait(self, length: timedelta) -> None:
        self.work()

    def work(self) -> None:
        while messages := self.sqs.receive_message(
            QueueUrl=self.url, MessageSystemAttributeNames=["All"], MessageAttributeNames=["All"]
        ).get("Messages"):
            for message in messages:
                if not hourly({"Records": [record(message)]}, None)["batchItemFailures"]:
                    self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
                if self.after is not None and sum(BELLS.rung.values()) >= self.after:
                    self.stop()


def record(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record that Lambda would make of a received message."""
    attributes = {
        name: {"stringValue": value["StringValue"], "dataType": value["DataType"]}
        for name, value in message.get("MessageAttributes", {}).items()
    }
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": attributes,
        "eventSource": "aws:sqs",
    }


@pytest.fixture
def ringer(tower: World, monkeypatch: pytest.MonkeyPatch) -> Ringer:
    made = Ringer()
    monkeypatch.setattr("surehand_cli.account.place.SystemWaiting", lambda: made)
    return made


def hours(count: int, *, before: int = 0) -> list[datetime]:
    """Return the last so many full hours, oldest first."""
    last = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - before * HOUR
    return [last - number * HOUR for number in reversed(range(count))]


def text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def spanning(moments: list[datetime]) -> list[str]:
    return ["--from", text(moments[0]), "--to", text(moments[-1] + timedelta(seconds=1))]


EXECUTE = ["--execute", "--reason", "the scheduler was down"]


def test_a_dry_run_lists_every_tick_that_was_due_and_sends_none(tower: World, surehand: Surehand) -> None:
    due = hours(5)
    said = surehand("backfill", "hourly", *spanning(due), "--json")
    assert said.status == 0
    assert [line["tick"] for line in said.lines] == [text(moment) for moment in due]
    assert {line["standing"] for line in said.lines} == {"missing"}
    assert "cron(0 * * * ? *)" in said.err
    assert "as it is declared today" in said.err
    assert "Changes made: none" in said.err


def test_the_ticks_that_the_ledger_does_not_know_are_sent_and_run_once(
    tower: World, ringer: Ringer, surehand: Surehand
) -> None:
    due = hours(6)
    hourly(tower.event(hourly, json.dumps({"at": text(due[-1])})), None)
    said = surehand("backfill", "hourly", *spanning(due), *EXECUTE)
    assert (said.status, BELLS.rung) == (0, dict.fromkeys(due, 1))
    assert "Sent: 5 of 5. Ended: 5 succeeded" in said.err


def test_a_tick_that_was_skipped_is_sent_and_its_history_tells_why(
    tower: World, ringer: Ringer, surehand: Surehand
) -> None:
    (moment,) = hours(1, before=3)
    hourly(tower.event(hourly, json.dumps({"at": text(moment)})), None)
    before = tower.operation(hourly, Tick(moment))
    assert before is not None
    assert (before.state, before.code) == (State.CANCELED, "schedule.late")
    said = surehand("backfill", "hourly", *spanning([moment]), *EXECUTE)
    after = tower.operation(hourly, Tick(moment))
    assert after is not None
    assert (said.status, BELLS.rung[moment], after.state) == (0, 1, State.SUCCEEDED)
    assert after.fence == before.fence + 1


def test_a_tick_that_has_failed_is_left_alone(tower: World, ringer: Ringer, surehand: Surehand) -> None:
    (moment,) = hours(1)
    BELLS.act = raising(Reject("data.no_rope"))
    hourly(tower.event(hourly, json.dumps({"at": text(moment)})), None)
    said = surehand("backfill", "hourly", *spanning([moment]), "--json", *EXECUTE)
    assert [line["standing"] for line in said.lines] == ["failed"]
    assert "Changes made: none" in said.err


def test_failed_ticks_are_sent_when_asked_for_and_get_fresh_attempts(
    tower: World, ringer: Ringer, surehand: Surehand
) -> None:
    (moment,) = hours(1)
    BELLS.act = raising(Reject("data.no_rope"))
    hourly(tower.event(hourly, json.dumps({"at": text(moment)})), None)
    BELLS.act = lambda tick, job: None
    said = surehand("backfill", "hourly", *spanning([moment]), "--failed", *EXECUTE)
    assert (said.status, BELLS.rung[moment]) == (0, 1)


def test_a_tick_in_progress_is_left_alone(tower: World, surehand: Surehand) -> None:
    (moment,) = hours(1)
    BELLS.act = raising(Retry("provider.busy", after=HOUR))
    hourly(tower.event(hourly, json.dumps({"at": text(moment)})), None)
    said = surehand("backfill", "hourly", *spanning([moment]), "--json")
    assert [(line["standing"], line["send"]) for line in said.lines] == [("going on", False)]


def test_a_tick_older_than_the_ledger_remembers_is_sent_only_when_asked_for(tower: World, surehand: Surehand) -> None:
    old = hours(2, before=24 * 31)
    said = surehand("backfill", "hourly", *spanning(old), "--json")
    assert [(line["standing"], line["send"]) for line in said.lines] == [("forgotten", False)] * 2
    said = surehand("backfill", "hourly", *spanning(old), "--json", "--forgotten")
    assert [line["send"] for line in said.lines] == [True, True]


def test_an_interrupted_backfill_goes_on_with_the_same_command(
    tower: World, ringer: Ringer, surehand: Surehand
) -> None:
    due = hours(12)
    ringer.after = 4
    said = surehand("backfill", "hourly", *spanning(due), "--at-once", "2", *EXECUTE)
    assert said.status == 3
    assert 4 <= sum(BELLS.rung.values()) < 12
    ringer.after = None
    ringer._stop.clear()
    said = surehand("backfill", "hourly", *spanning(due), *EXECUTE)
    assert (said.status, BELLS.rung) == (0, dict.fromkeys(due, 1))


def test_no_more_than_so_many_are_under_way_at_once(tower: World, ringer: Ringer, surehand: Surehand) -> None:
    most = []

    def act(tick: Tick, job: object) -> None:
        answer = ringer.sqs.get_queue_attributes(QueueUrl=ringer.url, AttributeNames=["All"])["Attributes"]
        counts = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        most.append(sum(int(answer[name]) for name in counts))

    BELLS.act = act
    surehand("backfill", "hourly", *spanning(hours(9)), "--at-once", "3", *EXECUTE)
    assert len(most) == 9
    assert max(most) <= 3


def test_the_journal_says_who_sent_what_and_why_before_it_left(
    tower: World, ringer: Ringer, surehand: Surehand, project: Path
) -> None:
    surehand("backfill", "hourly", *spanning(hours(2)), *EXECUTE)
    (journal,) = (project / ".surehand").glob("backfill-hourly-*.jsonl")
    entries = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert [entry["kind"] for entry in entries][:3] == ["begun", "sending", "sent"]
    assert entries[0]["reason"] == "the scheduler was down"
    assert entries[-1]["kind"] == "done"
    assert sorted(entry["kind"] for entry in entries[1:-1]) == ["ended"] * 2 + ["sending"] * 2 + ["sent"] * 2


def test_a_tick_that_fails_when_it_is_sent_again_is_told_by_the_exit_status(
    tower: World, ringer: Ringer, surehand: Surehand
) -> None:
    BELLS.act = raising(Reject("data.no_rope"))
    said = surehand("backfill", "hourly", *spanning(hours(1)), *EXECUTE)
    assert said.status == 1
    assert "1 permanently_failed" in said.err


@pytest.mark.parametrize(
    ("arguments", "status", "why"),
    [
        (["hourly", "--from", "2d", "--execute"], 5, "--reason"),
        (["hourly", "--from", "200d", "--to", "100d"], 5, "more than 1000 ticks"),
        (["hourly", "--from", "5d", "--max", "10"], 5, "more than 10 ticks"),
        (["odd", "--from", "1d"], 5, "rate(50 minutes)"),
        (["visitors", "--from", "1d"], 2, "no schedule"),
        (["nightly", "--from", "1d"], 2, "has no handler 'nightly'"),
        (["hourly", "--from", "1d", "--to", "2d"], 2, "range"),
        (["hourly", "--from", "2026-01-01T00:00Z", "--to", "2999-01-01T00:00Z"], 2, "range"),
        (["hourly", "--from", "yesterday"], 2, "no moment"),
        (["hourly", "--from", "2026-01-01T00:00"], 2, "no time zone"),
        (["hourly", "--from", "1d", "--dry-run", "--execute"], 2, "exclude each other"),
        (["hourly", "--from", "1d", "--execute", "--reason", "x", "--rate", "1000/s"], 2, "--rate"),
    ],
)
def test_what_cannot_be_or_is_unsafe_is_refused(
    tower: World, surehand: Surehand, arguments: list[str], status: int, why: str
) -> None:
    said = surehand("backfill", *arguments)
    assert (said.status, why in said.err) == (status, True), said.err


def test_a_guarded_stage_asks_for_a_yes(tower: World, surehand: Surehand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surehand_cli.backfill.command.GUARDED", frozenset({"test"}))
    said = surehand("backfill", "hourly", *spanning(hours(1)), *EXECUTE)
    assert (said.status, "add --yes" in said.err) == (5, True)


def test_the_local_times_of_a_cron_expression_are_the_ticks_of_its_zone(tower: World, surehand: Surehand) -> None:
    said = surehand("backfill", "evening", "--from", "3d", "--json")
    assert len(said.lines) == 3
    assert {line["tick"][11:] for line in said.lines} <= {"16:00:00Z", "17:00:00Z"}


def test_the_last_and_the_next_tick_of_every_schedule_are_shown(tower: World, surehand: Surehand) -> None:
    (moment,) = hours(1)
    hourly(tower.event(hourly, json.dumps({"at": text(moment)})), None)
    said = surehand("ticks", "--json")
    by_name = {line["schedule"]: line for line in said.lines}
    assert list(by_name) == ["hourly", "evening", "odd"]
    (last,) = by_name["hourly"]["last"]
    assert (last["tick"], last["standing"]) == (text(moment), "done")
    assert by_name["hourly"]["next"] == text(moment + HOUR)
    assert (by_name["odd"]["last"], by_name["odd"]["next"]) == ([], None)
    assert by_name["evening"]["last"][0]["standing"] == "missing"
    assert said.status == 1


def test_an_inventory_of_a_stage_shows_the_last_and_the_next_ticks(tower: World, surehand: Surehand) -> None:
    (moment,) = hours(1)
    hourly(tower.event(hourly, json.dumps({"at": text(moment)})), None)
    said = json.loads(surehand("inventory", "--live", "--json").out)
    ticks = {one["name"]: one["trigger"].get("ticks") for one in said["handlers"]}
    assert (said["live"]["ledger"], said["live"]["problem"]) == ("tower-test-ledger", None)
    assert ticks["hourly"]["next"] == text(moment + HOUR)
    last = ticks["hourly"]["last"]
    assert (last["tick"], last["standing"]) == (text(moment), "done")
    assert datetime.fromisoformat(last["ended"]) >= moment
    assert ticks["evening"]["last"]["standing"] == "missing"
    assert (ticks["odd"], ticks["visitors"]) == ({"next": None, "last": None}, None)
    (row,) = [line for line in surehand("inventory", "--live").out.splitlines() if "done" in line]
    assert row.startswith("hourly")
    assert f"{moment:%Y-%m-%d %H}:00:00Z" in row


def test_without_an_account_the_inventory_knows_the_next_ticks_and_says_why_not_the_last(
    tower: World, surehand: Surehand
) -> None:
    boto3.client("dynamodb").delete_table(TableName="tower-test-ledger")
    said = surehand("inventory", "--live", "--json")
    document = json.loads(said.out)
    hourly_ticks = document["handlers"][0]["trigger"]["ticks"]
    assert said.status == 0
    assert "the ledger cannot be read: ResourceNotFoundException" in said.err.replace("\n", " ")
    assert "ResourceNotFoundException" in document["live"]["problem"]
    assert document["live"]["ledger"] is None
    assert hourly_ticks["last"] is None
    assert hourly_ticks["next"] == text(hours(1)[0] + HOUR)


def test_the_table_of_the_inventory_shows_the_next_ticks_and_reads_nothing(tower: World, surehand: Surehand) -> None:
    boto3.client("dynamodb").delete_table(TableName="tower-test-ledger")
    said = surehand("inventory")
    rows = {line.split()[0]: line for line in said.out.splitlines() if line}  # the later table's
    assert f"{hours(1)[0] + HOUR:%Y-%m-%d %H}:00:00Z" in rows["hourly"]
    berlin = datetime.now(ZoneInfo("Europe/Berlin"))
    evening = berlin.replace(hour=18, minute=0, second=0) + timedelta(days=berlin.hour >= 18)
    assert f"{evening.astimezone(UTC):%Y-%m-%d %H}:00:00Z" in rows["evening"]
    assert (said.status, said.err) == (0, "")


def test_a_tick_in_the_ledger_is_shown_with_its_schedule_s_last_and_next(tower: World, surehand: Surehand) -> None:
    late, moment = hours(2)[0], hours(1)[0]
    for one in (late, moment):
        hourly(tower.event(hourly, json.dumps({"at": text(one)})), None)
    (line,) = surehand("ledger", "show", "hourly", text(late), "--json").lines
    assert line["state"] == "canceled"
    assert line["ticks"]["next"] == text(moment + HOUR)
    assert (line["ticks"]["last"]["tick"], line["ticks"]["last"]["standing"]) == (text(moment), "done")
    sentence = f"last tick: {text(moment)}, done; the next: {text(moment + HOUR)}."
    assert sentence in surehand("ledger", "show", "hourly", text(late)).out
    unknown = surehand("ledger", "show", "hourly", text(moment + HOUR))
    assert unknown.status == 2
    assert sentence in unknown.err


def test_the_ticks_of_one_schedule_are_listed_back_in_time(tower: World, surehand: Surehand) -> None:
    said = surehand("ticks", "hourly", "--last", "5", "--json")
    assert [one["tick"] for one in said.lines[0]["last"]] == [text(moment) for moment in reversed(hours(5))]
    assert surehand("ticks", "visitors").status == 2


def test_a_schedule_whose_last_tick_has_come_is_not_said_to_be_known_to_aws() -> None:
    over = schedule("over", cron("0 2 1 1 ? 2026"))(ring_once)
    assert next_tick(over, datetime(2026, 2, 1, tzinfo=UTC)) is None
    assert none_left(over) == "none any more"


def ring_once(tick: Tick) -> None:
    """Does nothing."""
