"""A message that kills its process: nine neighbours succeed, and it becomes poison and a dead letter by SQS's own move.

Real processes that really die, on the emulator's queue and ledger; this test plays the event source mapping.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from botocore.session import get_session

from surehand.aws.dynamodb import DynamoDBLedger
from surehand.declare import derived
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing.world import table_definition
from tests.contracts.stores import ROOT, ministack
from tests.e2e import culprits
from tests.e2e.culprits import CULPRITS, Work

#: Seconds: longer than a lease (timeout and margin) with room for a slow start of the process, and shorter than the
#: deployed 6 × timeout, since the test waits for it three times.
VISIBILITY = 12
COUNTS = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
BATCH = [Work(number=number, deadly=number == 3) for number in range(10)]


class Mapping:
    """Receives batches, invokes the handler in a process of its own, and deletes what the response lets go."""

    def __init__(self, url: str, name: str, folder: Path) -> None:
        self.handler = CULPRITS[name]
        self.effects = folder / f"{name}.effects"
        self.effects.touch()
        self.table = f"ledger-{uuid.uuid4().hex}"
        self.sqs, self.dynamodb = _client("sqs", url), _client("dynamodb", url)
        self.dynamodb.create_table(**table_definition(self.table))
        self.dead = self.sqs.create_queue(QueueName=f"{name}-dlq")["QueueUrl"]
        (arn,) = self._attributes(self.dead, "QueueArn")
        redrive = {"deadLetterTargetArn": arn, "maxReceiveCount": derived.max_receive_count(self.handler)}
        attributes = {"VisibilityTimeout": str(VISIBILITY), "RedrivePolicy": json.dumps(redrive)}
        self.queue = self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        self.environment = {
            **os.environ,
            "AWS_ENDPOINT_URL": url,
            "EFFECTS": str(self.effects),
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "shared"))),
            derived.TABLE: self.table,
            derived.WRITES: "batch",
            derived.queue_variable(name): self.queue,
        }
        self.receives: Counter[int] = Counter()
        self.told: list[dict[str, Any]] = []

    def send(self) -> None:
        entries = [{"Id": str(work.number), "MessageBody": work.model_dump_json()} for work in BATCH]
        self.sqs.send_message_batch(QueueUrl=self.queue, Entries=entries)

    def run(self) -> None:
        """Deliver until the queue is empty; a batch of ten first, then whatever is visible."""
        ends = time.monotonic() + 150
        while time.monotonic() < ends:
            # In one call: between two, a message can come back into sight and be in neither count.
            counts = self._attributes(
                self.queue, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"
            )
            if set(counts) == {"0"}:
                return
            messages = self._receive()
            if messages:
                self._invoke(messages)
            else:
                time.sleep(0.3)
        raise AssertionError(f"not quiet: {self.told[-5:]}")

    def story(self) -> str:
        """What was told of each delivery, for a failing test."""
        fields = ("operation", "receive_count", "outcome", "phase", "state", "fence", "detail")
        return "\n".join(" ".join(f"{line.get(name)}" for name in fields) for line in self.told)

    def dead_letters(self) -> list[Work]:
        found = self.sqs.receive_message(QueueUrl=self.dead, MaxNumberOfMessages=10).get("Messages", [])
        return [Work.model_validate_json(message["Body"]) for message in found]

    def operation(self, work: Work) -> Any:
        operation_id = self.handler.identify(work, b"").operation
        return DynamoDBLedger(self.dynamodb, self.table, batched=False).read([operation_id])[operation_id]

    def _attributes(self, url: str, *names: str) -> list[str]:
        found = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(names))["Attributes"]
        return [found[name] for name in names]

    def _receive(self) -> list[dict[str, Any]]:
        answer = self.sqs.receive_message(QueueUrl=self.queue, MaxNumberOfMessages=10, AttributeNames=["All"])
        return answer.get("Messages", [])

    def _invoke(self, messages: list[dict[str, Any]]) -> None:
        records = [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "messageAttributes": {},
                "eventSource": "aws:sqs",
            }
            for message in messages
        ]
        self.receives.update(Work.model_validate_json(message["Body"]).number for message in messages)
        try:
            done = subprocess.run(
                [sys.executable, culprits.__file__, self.handler.name],
                input=json.dumps({"Records": records}),
                capture_output=True,
                text=True,
                env=self.environment,
                cwd=ROOT,
                timeout=self.handler.options.timeout.total_seconds() + 4,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return  # Lambda's hard kill: nothing is answered
        assert "Traceback" not in done.stderr, done.stderr
        lines = done.stdout.splitlines()
        self.told += [line for line in map(json.loads, lines[:-1]) if line.get("event") == "delivery"]
        if done.returncode != 0:
            return
        kept = {entry["itemIdentifier"] for entry in json.loads(lines[-1])["batchItemFailures"]}
        for message in messages:
            if message["MessageId"] not in kept:
                self.sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=message["ReceiptHandle"])


def _client(service: str, url: str) -> Any:
    return get_session().create_client(service, endpoint_url=url)


@pytest.fixture(scope="module")
def mappings(tmp_path_factory: pytest.TempPathFactory):
    """All three queues, worked off at the same time, since most of that time is waiting for visibility."""
    with ministack() as url, ThreadPoolExecutor() as pool:
        made = {one.name: Mapping(url, one.name, tmp_path_factory.mktemp(one.name)) for one in CULPRITS.handlers}
        for mapping in made.values():
            mapping.send()
        list(pool.map(Mapping.run, made.values()))
        yield made


@pytest.mark.parametrize("name", ["exits", "hangs", "hogs"])
def test_a_message_that_kills_its_process_is_poison_and_its_nine_neighbours_succeed(name, mappings) -> None:
    mapping = mappings[name]
    healthy = [work for work in BATCH if not work.deadly]
    assert {mapping.operation(work).state for work in healthy} == {State.SUCCEEDED}
    effects = Counter(mapping.effects.read_text().split())
    assert set(effects) == {mapping.handler.first_job(work).key("effect") for work in healthy}
    assert max(effects.values()) <= 2
    assert max(mapping.receives[work.number] for work in healthy) <= 3, mapping.story()
    condemned = mapping.operation(BATCH[3])
    assert (condemned.state, condemned.code) == (State.PERMANENTLY_FAILED, "crash.poison")
    assert mapping.dead_letters() == [BATCH[3]]
    assert any(line["outcome"] == Outcome.REJECTED for line in mapping.told)
