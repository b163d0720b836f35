"""What can be seen of a running service, from three sources: log lines, the ledger, and the dead-letter queues.

Log lines say how each delivery went, also for messages that never named an operation; the ledger says what is
durable; only the dead-letter queue says that a message has arrived there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from surehand.aws.items import decode
from surehand.ledger import Operation
from surehand_cli.local.deployed import Deployed

if TYPE_CHECKING:
    from types_boto3_sqs.literals import QueueAttributeNameType

_COUNTS: Sequence[QueueAttributeNameType] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """The engine's log line of one delivery."""

    handler: str
    message_id: str
    operation: str | None
    attempt: int
    outcome: str
    code: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The ledger's item of one operation. *messages* are those it names, in order; *code* is the last failure's."""

    state: str
    messages: Sequence[str] = ()
    attempts: int = 0
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is new since the last look (*deliveries*, *other_lines*) and what is so now (the rest).

    *ledger* is its items by operation id. *dead* are the ids of the messages in dead-letter queues; *waiting* counts
    the messages in all queues, in flight or not.
    """

    deliveries: Sequence[Delivered]
    other_lines: Sequence[str]
    ledger: Mapping[str, Recorded]
    dead: frozenset[str]
    waiting: int


@dataclass(slots=True)
class Observer:
    """Looks at a deployed service again and again."""

    deployed: Deployed
    _read: Counter[str] = field(default_factory=Counter)
    _dead: set[str] = field(default_factory=set)
    _dead_counts: dict[str, int] = field(default_factory=dict)

    def look(self) -> Seen:
        """Look once."""
        lines = list(self._new_lines())
        deliveries = [delivered for line in lines if (delivered := read_delivery(line)) is not None]
        return Seen(
            deliveries=deliveries,
            other_lines=[line for line in lines if read_delivery(line) is None],
            ledger=dict(self._items()),
            dead=self._dead_letters(),
            waiting=sum(self._count(self.deployed.queue(handler)) for handler in self.deployed.service.handlers),
        )

    def _new_lines(self) -> Iterator[str]:
        """Yield each function's lines that were not there at the last look.

        They are told by their place in their stream, since the emulator gives the lines of functions no id.
        """
        pages = self.deployed.logs.get_paginator("filter_log_events")
        for handler in self.deployed.service.handlers:
            places: Counter[str] = Counter()
            try:
                for page in pages.paginate(logGroupName=self.deployed.log_group(handler)):
                    for event in page["events"]:
                        stream = event.get("logStreamName", "")
                        places[stream] += 1
                        if places[stream] > self._read[stream]:
                            yield event.get("message", "")
            except self.deployed.logs.exceptions.ResourceNotFoundException:
                continue  # the emulator makes it with the first invocation
            self._read |= places

    def _items(self) -> Iterator[tuple[str, Recorded]]:
        pages = self.deployed.dynamodb.get_paginator("scan")
        for page in pages.paginate(TableName=self.deployed.ledger, ConsistentRead=True):
            for item in page["Items"]:
                if item["part"].get("S") == "operation":
                    operation = decode(item)
                    yield operation.id, recorded(operation)

    def _dead_letters(self) -> frozenset[str]:
        for handler in self.deployed.service.handlers:
            url = self.deployed.dead_letters(handler)
            # Reading hides a message for a moment, and somebody may want to redrive it: read only when there is news.
            if (count := self._count(url)) != self._dead_counts.get(url, 0):
                self._dead_counts[url] = count
                self._dead.update(self._message_ids(url))
        return frozenset(self._dead)

    def _message_ids(self, url: str) -> Iterator[str]:
        while messages := self.deployed.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=1
        ).get("Messages"):
            yield from (message["MessageId"] for message in messages)

    def _count(self, url: str) -> int:
        """Count the messages of a queue, those in flight too."""
        answer = self.deployed.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=_COUNTS)
        return sum(int(answer["Attributes"].get(name, "0")) for name in _COUNTS)


def recorded(operation: Operation) -> Recorded:
    """Return what the ledger says of an operation; its own code goes with success, that of its history stays."""
    codes = [entry.code for entry in operation.history if entry.code is not None]
    return Recorded(
        state=operation.state.value,
        messages=operation.message_ids,
        attempts=operation.attempts,
        code=codes[-1] if codes else None,
    )


def read_delivery(line: str) -> Delivered | None:
    """Return what a log line says of a delivery, or None if it is another line."""
    try:
        said: Any = json.loads(line)
    except ValueError:
        return None
    if not isinstance(said, dict) or said.get("event") != "delivery":
        return None
    return Delivered(
        handler=str(said.get("handler")),
        message_id=str(said.get("message_id")),
        operation=said.get("operation"),
        attempt=int(said.get("attempt") or 0),
        outcome=str(said.get("outcome")),
        code=said.get("failure_code"),
    )
