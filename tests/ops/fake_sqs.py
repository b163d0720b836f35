# ruff: noqa: N803 - the arguments are spelt as boto3 spells them
"""SQS as the mover sees it: boto3's client in memory, on a clock of its own, and mortal.

Unlike moto it keeps FIFO groups locked, names the source of a dead letter, keeps trace headers in batches, has move
tasks if asked to, and can die before or after any call.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

BASE = "https://sqs.eu-west-1.amazonaws.com/000000000000/"


class Died(BaseException):
    """The process was killed. Nothing that it wanted to do afterwards happens."""


class FakeWaiting:
    """A clock that moves when somebody waits; `meanwhile` is what the rest of the world does then."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)) -> None:
        self.at = start
        self.stopped = False
        self.meanwhile: Callable[[], object] = lambda: None

    def now(self) -> datetime:
        return self.at

    def wait(self, length: timedelta) -> None:
        self.at += length
        self.meanwhile()


@dataclass
class Message:
    id: str
    body: str
    attributes: dict[str, Any]
    system: dict[str, str]
    sent_at: datetime
    visible_at: datetime
    receives: int = 0
    handle: str = ""

    @property
    def group(self) -> str | None:
        return self.system.get("MessageGroupId")


@dataclass
class FakeQueue:
    name: str
    attributes: dict[str, str]
    messages: list[Message] = field(default_factory=list)
    deduplicated: dict[str, tuple[datetime, str]] = field(default_factory=dict)

    @property
    def fifo(self) -> bool:
        return self.name.endswith(".fifo")

    @property
    def url(self) -> str:
        return BASE + self.name


class FakeSQS:
    """`die_at` is the number of the call, from 1, that kills; `after` says whether that call still takes effect."""

    def __init__(self, waiting: FakeWaiting) -> None:
        self.waiting = waiting
        self.queues: dict[str, FakeQueue] = {}
        self.calls: list[str] = []
        self.sent = 0
        self.die_at: int | None = None
        self.after = False
        self.dead = False
        self.refuse: Callable[[dict[str, Any]], str | None] = lambda entry: None
        self._numbers = itertools.count(1)

    # ---- the world outside the mover -------------------------------------------------------------------------------

    def create(self, name: str, **attributes: str) -> FakeQueue:
        arn = f"arn:aws:sqs:eu-west-1:000000000000:{name}"
        given = {"QueueArn": arn, "VisibilityTimeout": "30", "MessageRetentionPeriod": "345600", **attributes}
        queue = FakeQueue(name, given)
        self.queues[queue.url] = queue
        return queue

    def put(self, queue: FakeQueue, body: str, **entry: Any) -> str:
        """Send from outside: counts as no call of the mover's."""
        return self._send(queue, {"MessageBody": body, **entry})

    def take(self, queue: FakeQueue, *, visibility: timedelta, most: int = 10) -> list[Message]:
        """Receive from outside."""
        return self._receive(queue, most, visibility)

    def copy(self) -> FakeSQS:
        twin = copy.copy(self)
        twin.queues = copy.deepcopy(self.queues)
        twin.calls = []
        return twin

    # ---- boto3's client --------------------------------------------------------------------------------------------

    def receive_message(self, *, QueueUrl: str, **request: Any) -> dict[str, Any]:
        with_effect = self._call("receive")
        visibility = timedelta(seconds=request["VisibilityTimeout"])
        got = self._receive(self.queues[QueueUrl], request["MaxNumberOfMessages"], visibility)
        if not got and request.get("WaitTimeSeconds"):
            self.waiting.wait(timedelta(seconds=request["WaitTimeSeconds"]))
        with_effect()
        return {"Messages": [self._wire(one, request) for one in got]} if got else {}

    def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:
        with_effect = self._call("send")
        answer: dict[str, Any] = {"Successful": [], "Failed": []}
        for entry in Entries:
            assert len(entry.get("MessageAttributes", {})) <= 10
            if (code := self.refuse(entry)) is not None:
                answer["Failed"].append({"Id": entry["Id"], "Code": code, "SenderFault": code != "InternalError"})
                continue
            message_id = self._send(self.queues[QueueUrl], entry)
            self.sent += 1
            md5 = hashlib.md5(entry["MessageBody"].encode()).hexdigest()
            answer["Successful"].append({"Id": entry["Id"], "MessageId": message_id, "MD5OfMessageBody": md5})
        with_effect()
        return answer

    def delete_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:
        with_effect = self._call("delete")
        queue = self.queues[QueueUrl]
        gone = {entry["ReceiptHandle"] for entry in Entries}
        queue.messages = [one for one in queue.messages if one.handle not in gone]
        with_effect()
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries], "Failed": []}

    def change_message_visibility_batch(self, *, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:
        with_effect = self._call("visibility")
        by_handle = {one.handle: one for one in self.queues[QueueUrl].messages if one.handle}
        for entry in Entries:
            if (message := by_handle.get(entry["ReceiptHandle"])) is not None:
                message.visible_at = self.waiting.at + timedelta(seconds=entry["VisibilityTimeout"])
        with_effect()
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries], "Failed": []}

    def get_queue_attributes(self, *, QueueUrl: str, AttributeNames: list[str]) -> dict[str, Any]:
        with_effect = self._call("attributes")
        queue = self.queues[QueueUrl]
        visible = sum(one.visible_at <= self.waiting.at for one in queue.messages)
        counts = {
            "ApproximateNumberOfMessages": str(visible),
            "ApproximateNumberOfMessagesNotVisible": str(len(queue.messages) - visible),
        }
        with_effect()
        return {"Attributes": queue.attributes | counts}

    # ---- how it works inside ---------------------------------------------------------------------------------------

    def _call(self, name: str) -> Callable[[], None]:
        """Count a call and die before it, or return what dies after it."""
        if self.dead:
            raise Died(f"{name}, but the process is dead")
        self.calls.append(name)
        now = self.die_at == len(self.calls)
        if now and not self.after:
            self.dead = True
            raise Died(f"before call {len(self.calls)}, {name}")

        def end() -> None:
            if now:
                self.dead = True
                raise Died(f"after call {len(self.calls)}, {name}")

        return end

    def _send(self, queue: FakeQueue, entry: dict[str, Any]) -> str:
        system = {"SentTimestamp": str(int(self.waiting.at.timestamp() * 1000))}
        for name in ("MessageGroupId", "MessageDeduplicationId"):
            if name in entry:
                system[name] = entry[name]
        trace = entry.get("MessageSystemAttributes", {}).get("AWSTraceHeader")
        if trace:
            system["AWSTraceHeader"] = trace["StringValue"]
        if queue.fifo:
            at, known = queue.deduplicated.get(entry["MessageDeduplicationId"], (None, ""))
            if at is not None and self.waiting.at - at < timedelta(minutes=5):
                return known
        message_id = str(uuid.UUID(int=next(self._numbers)))
        if queue.fifo:
            queue.deduplicated[entry["MessageDeduplicationId"]] = (self.waiting.at, message_id)
        attributes = copy.deepcopy(entry.get("MessageAttributes", {}))
        made = Message(message_id, entry["MessageBody"], attributes, system, self.waiting.at, self.waiting.at)
        queue.messages.append(made)
        return message_id

    def _receive(self, queue: FakeQueue, most: int, visibility: timedelta) -> list[Message]:
        now = self.waiting.at
        locked = {one.group for one in queue.messages if queue.fifo and one.visible_at > now}
        got: list[Message] = []
        for message in list(queue.messages):
            if len(got) == most:
                break
            if message.visible_at > now or (queue.fifo and message.group in locked):
                continue
            policy = json.loads(queue.attributes.get("RedrivePolicy", "{}"))
            if policy and message.receives >= policy["maxReceiveCount"]:
                self._bury(queue, message, policy["deadLetterTargetArn"])
                continue
            message.receives += 1
            message.handle = f"{message.id}/{next(self._numbers)}"
            message.visible_at = now + visibility
            got.append(message)
        return got

    def _bury(self, queue: FakeQueue, message: Message, arn: str) -> None:
        queue.messages.remove(message)
        target = next(one for one in self.queues.values() if one.attributes["QueueArn"] == arn)
        message.system.setdefault("DeadLetterQueueSourceArn", queue.attributes["QueueArn"])
        message.receives = 0
        target.messages.append(message)

    def _wire(self, message: Message, request: dict[str, Any]) -> dict[str, Any]:
        wanted = request.get("MessageSystemAttributeNames", ())
        system = {**message.system, "ApproximateReceiveCount": str(message.receives)}
        system["ApproximateFirstReceiveTimestamp"] = system["SentTimestamp"]
        wire = {
            "MessageId": message.id,
            "ReceiptHandle": message.handle,
            "Body": message.body,
            "Attributes": {name: value for name, value in system.items() if name in wanted or "All" in wanted},
        }
        return {**wire, "MessageAttributes": message.attributes} if message.attributes else wire


def client_error(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, operation)
