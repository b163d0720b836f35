"""Large queues: what a snapshot, and a filter over it, hold in memory does not grow with the bodies."""

from __future__ import annotations

import json
import tracemalloc
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from surehand.testing import MemoryLedger
from surehand_cli.dlq.known import join
from surehand_cli.dlq.queue import DeadLetterQueue, Queue
from surehand_cli.dlq.selector import Selection, Selector
from surehand_cli.dlq.snapshot import opened
from surehand_cli.dlq.taking import take
from tests.ops.depot import ship
from tests.ops.fake_sqs import FakeWaiting

#: Bytes of memory for each letter of a pass: its id, in a set.
PER_LETTER = 150
#: What a pass takes whatever the queue holds: a batch, a page, buffers.
FLAT = 3_000_000
BODY = "x" * 2_000


class Deep:
    """A queue of so many letters that are made when they are received and forgotten then."""

    def __init__(self, depth: int) -> None:
        self.depth, self.given, self.released = depth, 0, 0

    def receive_message(self, **request: Any) -> dict[str, Any]:
        messages = []
        while self.given < self.depth and len(messages) < 10:
            number = self.given
            self.given += 1
            body = {"number": str(number), "tenant": f"t{number % 3}", "route": BODY, "weight": number}
            messages.append(
                {
                    "MessageId": str(uuid.UUID(int=number)),
                    "ReceiptHandle": f"handle-{number}" + "h" * 400,
                    "Body": json.dumps(body),
                    "Attributes": {"SentTimestamp": "1767268800000", "ApproximateReceiveCount": "1"},
                }
            )
        return {"Messages": messages}

    def get_queue_attributes(self, **request: Any) -> dict[str, Any]:
        return {"Attributes": {"ApproximateNumberOfMessages": str(self.depth - self.given)}}

    def change_message_visibility_batch(self, *, QueueUrl: str, Entries: list[Any]) -> dict[str, Any]:  # noqa: N803
        self.released += len(Entries)
        return {}


def deep(depth: int) -> DeadLetterQueue:
    attributes = {"ApproximateNumberOfMessages": str(depth)}
    queue = Queue(url="https://sqs/deep-dlq", arn="arn:aws:sqs:eu-west-1:1:deep-dlq", attributes=attributes)
    return DeadLetterQueue(queue=queue, handler=ship, sources=())


def peak(work: Callable[[], object]) -> int:
    """Return the most bytes that Python held at once while it worked."""
    tracemalloc.start()
    work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_a_snapshot_and_a_filter_over_it_hold_one_id_per_letter_and_no_bodies(tmp_path: Path) -> None:
    depth = 5_000
    client = Deep(depth)
    path = tmp_path / "deep.jsonl"
    assert peak(lambda: take(client, deep(depth), path, waiting=FakeWaiting())) < FLAT + PER_LETTER * depth
    assert client.released == depth
    assert path.stat().st_size > depth * len(BODY)

    found: list[str] = []

    def filtered() -> None:
        selection = Selection(Selector(where=("body.weight > `4990`",)))
        ledger, now = MemoryLedger(), datetime.now().astimezone() + timedelta(0)
        for letter, who in opened(path).letters():
            (known,) = join([(letter, who)], ledger, now=now)
            if selection.takes(known):
                found.append(letter.message_id)

    assert peak(filtered) < FLAT
    assert len(found) == 9
