"""Dead letters on moto (or the emulator): parcels that the depot's own function has rejected, and a consumer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from surehand import Handler, Reject, entrypoint
from surehand.aws.items import encode, key_of
from surehand.declare import dead_letter_queue_name, queue_name, table_name
from surehand.ledger import Operation
from surehand.sending import outgoing
from surehand.testing import MemoryLedger, world
from surehand_cli.account.waiting import SystemWaiting
from tests.ops.depot import DEPOT, STATE, Parcel

CODES = ("data.address", "code.KeyError", "provider.down", "data.weight")
TENANTS = ("acme", "bolt", "crow")


def parcels(count: int) -> list[Parcel]:
    """Return parcels of three tenants that run into four kinds of trouble, evenly."""
    return [
        Parcel(number=str(n), tenant=TENANTS[n % 3], route=f"r{n % 3}", trouble=CODES[n // 3 % 4], weight=n)
        for n in range(count)
    ]


def trouble(parcel: Parcel, job: object) -> None:
    """Reject a parcel as it says."""
    if parcel.trouble:
        raise Reject(parcel.trouble)


def mend(parcel: Parcel, job: object) -> None:
    """The fix is deployed."""


@dataclass
class Consumer:
    """Plays the event source mapping of one handler of a service."""

    sqs: Any
    dynamodb: Any
    handler: Handler[Parcel]
    stage: str = "test"
    service: str = "depot"

    @property
    def url(self) -> str:
        name = queue_name(self.service, self.stage, self.handler)
        return str(self.sqs.get_queue_url(QueueName=name)["QueueUrl"])

    @property
    def dead(self) -> str:
        name = dead_letter_queue_name(self.service, self.stage, self.handler)
        return str(self.sqs.get_queue_url(QueueName=name)["QueueUrl"])

    def consume(self, *, keep_visible: bool = False) -> int:
        """Deliver what is visible, once, and return how many messages that was."""
        total = 0
        url = self.url
        while messages := self.sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=self.handler.options.batch_size,
            VisibilityTimeout=0 if keep_visible else 30,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        ).get("Messages"):
            total += len(messages)
            kept = {one["itemIdentifier"] for one in self.handler(event(messages), None)["batchItemFailures"]}
            done = [one for one in messages if one["MessageId"] not in kept]
            if done:
                entries = [{"Id": str(n), "ReceiptHandle": one["ReceiptHandle"]} for n, one in enumerate(done)]
                self.sqs.delete_message_batch(QueueUrl=url, Entries=entries)
        return total

    def bury(self, some: Sequence[Parcel | str]) -> None:
        """Put parcels (or raw bodies) into the dead-letter queue, which the function has rejected before.

        It settles in a ledger in memory: moto takes a tenth of a second for each update of an item.
        """
        act, STATE.act = STATE.act, trouble
        entries = [self._entry(n, one) for n, one in enumerate(some)]
        with world(DEPOT) as memory:
            ports = replace(entrypoint.ports_of(self.handler), clock=entrypoint.SystemClock())
            with entrypoint.bound(ports):
                for start in range(0, len(entries), 10):
                    self._bury(entries[start : start + 10])
            assert isinstance(memory.ledger, MemoryLedger)
            self._store(list(memory.ledger.items.values()))
        STATE.act = act

    def _bury(self, entries: Sequence[dict[str, Any]]) -> None:
        now = str(int(datetime.now(UTC).timestamp() * 1000))
        sent = self.sqs.send_message_batch(QueueUrl=self.dead, Entries=entries)["Successful"]
        ids = {one["Id"]: one["MessageId"] for one in sent}
        rejected = [
            {
                "MessageId": ids[entry["Id"]],
                "ReceiptHandle": "rejected",
                "Body": entry["MessageBody"],
                "Attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": now},
            }
            for entry in entries
        ]
        self.handler(event(rejected), None)

    def _store(self, operations: Sequence[Operation]) -> None:
        table = table_name(self.service, self.stage)
        for start in range(0, len(operations), 25):
            items = [{**key_of(one.id), **encode(one)} for one in operations[start : start + 25]]
            self.dynamodb.batch_write_item(RequestItems={table: [{"PutRequest": {"Item": item}} for item in items]})

    def _entry(self, number: int, one: Parcel | str) -> dict[str, Any]:
        if isinstance(one, str):
            return {"Id": str(number), "MessageBody": one}
        message = outgoing(self.handler, one)
        entry: dict[str, Any] = {"Id": str(number), "MessageBody": message.body}
        if message.group is not None:
            entry["MessageGroupId"] = message.group
        if message.deduplication is not None:
            entry["MessageDeduplicationId"] = message.deduplication
        return entry


def event(messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the event that Lambda would make of received messages."""
    return {
        "Records": [
            {
                "messageId": one["MessageId"],
                "receiptHandle": one["ReceiptHandle"],
                "body": one["Body"],
                "attributes": one["Attributes"],
                "messageAttributes": {},
                "eventSource": "aws:sqs",
            }
            for one in messages
        ]
    }


class Pumped(SystemWaiting):
    """Waits by letting the consumers work; the clock runs ahead by what was not slept."""

    def __init__(self, *consumers: Consumer) -> None:
        super().__init__()
        self.consumers = consumers
        self._ahead = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self._ahead

    def wait(self, length: timedelta) -> None:
        self._ahead += length
        for consumer in self.consumers:
            consumer.consume()
