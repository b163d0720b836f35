"""The dead-letter commands on the emulator: over HTTP, as processes of their own, killed with SIGKILL."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from surehand import entrypoint
from surehand.declare import (
    dead_letter_queue_name,
    ledger_retention,
    max_receive_count,
    queue_name,
    queue_variable,
    table_name,
    visibility_timeout,
)
from surehand.testing.world import table_definition
from surehand_cli.local.emulator import CREDENTIALS, REGION, emulator
from tests.ops.burial import CODES, TENANTS, Consumer, mend, parcels
from tests.ops.depot import DEPOT, STATE, ship

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = ROOT / ".emulator" / "bin" / "ministack"
GO = ("--despite", "mapping", "--execute", "--reason", "INC-17", "--json")


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with emulator(EMULATOR, port=0, log=tmp_path_factory.mktemp("emulator") / "log") as address:
        yield address


@pytest.fixture
def consumer(endpoint: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> Consumer:
    """The depot's queues and ledger on the emulator, empty, and its consumer."""
    import boto3

    session = boto3.session.Session(
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        region_name=REGION,
    )
    sqs, dynamodb = session.client("sqs", endpoint_url=endpoint), session.client("dynamodb", endpoint_url=endpoint)
    for url in sqs.list_queues().get("QueueUrls", ()):
        sqs.delete_queue(QueueUrl=url)
    for table in dynamodb.list_tables()["TableNames"]:
        dynamodb.delete_table(TableName=table)
    dynamodb.create_table(**table_definition(table_name("depot", "test")))
    for name, value in {**_variables(sqs), **CREDENTIALS, "AWS_ENDPOINT_URL": endpoint, "AWS_REGION": REGION}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    entrypoint.forget()
    STATE.reset()
    # A process of its own cannot import the tests: a package of that name is installed beside them.
    (project / "depot.py").write_text((Path(__file__).parent / "depot.py").read_text())
    (project / "pyproject.toml").write_text('[tool.surehand]\nservice = "depot:DEPOT"\n')
    return Consumer(sqs, dynamodb, ship)


def _variables(sqs: Any) -> dict[str, str]:
    found = {
        "SUREHAND_SERVICE": "depot",
        "SUREHAND_TABLE": table_name("depot", "test"),
        "SUREHAND_WRITES": "single",
        "SUREHAND_LEDGER_RETENTION": str(int(ledger_retention(DEPOT.handlers).total_seconds())),
    }
    for handler in DEPOT.handlers:
        fifo = {"FifoQueue": "true"} if handler.options.fifo else {}
        dead = sqs.create_queue(QueueName=dead_letter_queue_name("depot", "test", handler), Attributes=fifo)["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        policy = {"deadLetterTargetArn": arn, "maxReceiveCount": max_receive_count(handler)}
        attributes = {
            **fifo,
            "VisibilityTimeout": str(int(visibility_timeout(handler).total_seconds())),
            "RedrivePolicy": json.dumps(policy),
        }
        name = queue_name("depot", "test", handler)
        found[queue_variable(handler.name)] = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    return found


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "surehand_cli.app", *arguments]


def environment() -> Mapping[str, str]:
    paths = os.pathsep.join(str(ROOT / folder) for folder in (".", "shared", "ops"))
    return {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}


def surehand(*arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    done = subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=280, check=False, env=environment()
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()] if "--json" in arguments else []
    return done.returncode, lines, done.stderr


@contextmanager
def consuming(consumer: Consumer) -> Iterator[None]:
    """Let the function work beside the command, as Lambda does."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            consumer.consume()
            time.sleep(0.05)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def depth(consumer: Consumer, url: str) -> int:
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    attributes = consumer.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(count) for count in attributes.values())


def test_of_a_thousand_letters_exactly_the_planned_ones_are_moved_and_only_once(consumer: Consumer) -> None:
    letters = parcels(1_000)
    consumer.bury(letters)
    STATE.act = mend
    status, lines, said = surehand("dlq", "snapshot", "parcels", "-o", "snap.jsonl", "--no-tell", "--json")
    assert status == 0, said
    assert (status, lines[0]["letters"]) == (0, 1_000), said
    chosen = ("--tenant", TENANTS[1], "--code", CODES[2])
    status, lines, said = surehand("dlq", "plan", "snap.jsonl", *chosen, "-o", "plan.json", "--json")
    meant = {one.number for one in letters if (one.tenant, one.trouble) == (TENANTS[1], CODES[2])}
    assert (status, lines[0]["letters"]) == (0, len(meant)), said
    with consuming(consumer):
        status, lines, said = surehand("dlq", "redrive", "--plan", "plan.json", "--rate", "100/s", *GO)
        assert (status, lines[-1]["counts"]) == (0, {"succeeded": len(meant)}), said
        status, lines, said = surehand("dlq", "redrive", "--plan", "plan.json", "--rate", "100/s", *GO)
        assert (status, lines[-1]["counts"]) == (0, {"already_applied": len(meant)}), said
    assert Counter(STATE.effects.values()) == {1: len(meant)}
    assert set(STATE.order) == meant
    assert depth(consumer, consumer.dead) == 1_000 - len(meant)


def test_a_run_that_is_killed_at_letter_20_is_resumed_without_loss_or_a_second_effect(consumer: Consumer) -> None:
    consumer.bury(parcels(40))
    STATE.act = mend
    with consuming(consumer):
        running = subprocess.Popen(
            command("dlq", "redrive", "parcels", "--all", "--rate", "10/s", *GO),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        journal = _journal(running)
        while running.poll() is None and _sent(journal) < 20:
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL
        left = depth(consumer, consumer.dead)
        assert 0 < left < 40
        status, lines, said = surehand("dlq", "resume", journal.parent.name, "--despite", "mapping", "--json")
    assert status == 0, said
    assert sum(lines[-1]["counts"].values()) == 40
    assert set(lines[-1]["counts"]) <= {"succeeded", "already_applied"}
    assert Counter(STATE.effects.values()) == {1: 40}
    assert depth(consumer, consumer.dead) == depth(consumer, consumer.url) == 0


def _journal(running: subprocess.Popen[bytes]) -> Path:
    while running.poll() is None:
        for journal in Path(".surehand/runs").glob("*/journal.jsonl"):
            return journal
        time.sleep(0.02)
    raise AssertionError("the run ended before it began")


def _sent(journal: Path) -> int:
    whole = journal.read_text().rpartition("\n")[0].splitlines()
    return sum(len(entry.get("moves", ())) for entry in map(json.loads, whole))


def test_the_emulator_has_no_move_tasks_and_one_line_says_what_to_do(consumer: Consumer) -> None:
    consumer.bury(parcels(1))
    status, _, said = surehand("dlq", "native", "start", "parcels")
    assert (status, said.count("\n")) == (5, 1)
    assert "surehand dlq redrive" in said
