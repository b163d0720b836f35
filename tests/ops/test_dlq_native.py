"""`surehand dlq native`: SQS's move tasks behind the same checks; and where there are none, a clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from surehand_cli.account.session import Account
from tests.ops.burial import Consumer, mend, parcels, trouble
from tests.ops.conftest import Surehand
from tests.ops.depot import STATE

WHY = ("--despite", "mapping", "--execute", "--reason", "INC-17", "--json")


class MoveTasks:
    """moto's SQS with move tasks, as AWS documents them: new ids, all letters, one task at a time."""

    def __init__(self, sqs: Any, destination: str) -> None:
        self._sqs, self._destination = sqs, destination
        self.failure: str | None = None
        self.results: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sqs, name)

    def list_message_move_tasks(self, *, SourceArn: str, MaxResults: int) -> dict[str, Any]:  # noqa: N803
        for task in self.results:
            if task["Status"] == "RUNNING":
                task["Status"] = "FAILED" if self.failure else "COMPLETED"
                task["FailureReason"] = self.failure
                return {"Results": [{**task, "Status": "RUNNING", "TaskHandle": "h"}, *self.results[1:]]}
        return {"Results": self.results}

    def start_message_move_task(self, *, SourceArn: str, MaxNumberOfMessagesPerSecond: int) -> dict[str, Any]:  # noqa: N803
        url = self._sqs.get_queue_url(QueueName=SourceArn.rpartition(":")[2])["QueueUrl"]
        moved = 0
        while not self.failure and (
            messages := self._sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages")
        ):
            for one in messages:
                self._sqs.send_message(QueueUrl=self._destination, MessageBody=one["Body"])
                self._sqs.delete_message(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"])
                moved += 1
        self.results.insert(0, {"Status": "RUNNING", "ApproximateNumberOfMessagesMoved": moved})
        return {"TaskHandle": "h"}


@pytest.fixture
def tasks(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> MoveTasks:
    """Move tasks for the commands' SQS client, and twelve dead letters."""
    consumer.bury(parcels(12))
    STATE.act = mend
    made = MoveTasks(consumer.sqs, consumer.url)
    usual = Account.client
    monkeypatch.setattr(Account, "client", lambda self, name: made if name == "sqs" else usual(self, name))
    return made


def test_without_move_tasks_one_line_points_to_the_way_that_works(consumer: Consumer, surehand: Surehand) -> None:
    consumer.bury(parcels(1))
    for verb in ("start", "status", "cancel"):
        said = surehand("dlq", "native", verb, "parcels")
        assert said.status == 5
        assert said.err.count("\n") == 1
        assert "surehand dlq redrive" in said.err


def test_start_changes_nothing_without_execute(tasks: MoveTasks, surehand: Surehand) -> None:
    said = surehand("dlq", "native", "start", "parcels")
    assert said.status == 0
    assert "Changes made: none" in said.err
    assert tasks.results == []


def test_a_move_task_is_followed_to_the_outcome_of_every_letter(tasks: MoveTasks, surehand: Surehand) -> None:
    said = surehand("dlq", "native", "start", "parcels", *WHY)
    assert said.status == 0, said.err
    assert said.lines[-1]["counts"] == {"succeeded": 12}
    (folder,) = Path(".surehand/runs").iterdir()
    report = json.loads((folder / "report.json").read_text())
    assert {row["outcome"] for row in report["rows"]} == {"succeeded"}


def test_letters_that_fail_again_after_a_move_task_are_seen(tasks: MoveTasks, surehand: Surehand) -> None:
    STATE.act = trouble
    said = surehand("dlq", "native", "start", "parcels", *WHY)
    assert said.status == 4
    assert said.lines[-1]["counts"] == {"failed": 12}


def test_a_task_that_fails_says_why_and_nothing_counts_as_moved(tasks: MoveTasks, surehand: Surehand) -> None:
    tasks.failure = "CouldNotDetermineMessageSource"
    said = surehand("dlq", "native", "start", "parcels", *WHY)
    assert said.status == 4
    assert "CouldNotDetermineMessageSource" in said.err
    assert said.lines[-1]["counts"] == {"perhaps moved": 12}


def test_no_redrive_of_ours_begins_while_a_move_task_is_at_work(tasks: MoveTasks, surehand: Surehand) -> None:
    tasks.results = [{"Status": "CANCELLING", "ApproximateNumberOfMessagesMoved": 3}]
    said = surehand("dlq", "redrive", "parcels", "--all", *WHY)
    assert said.status == 5
    assert "a move task is at work" in said.err


def test_status_lists_the_latest_tasks(tasks: MoveTasks, surehand: Surehand) -> None:
    surehand("dlq", "native", "start", "parcels", *WHY)
    (line,) = surehand("dlq", "native", "status", "parcels", "--json").lines
    assert (line["Status"], line["ApproximateNumberOfMessagesMoved"]) == ("COMPLETED", 12)
