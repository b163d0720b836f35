"""A dead-letter queue as AWS describes it, and the queues that it serves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from botocore.exceptions import ClientError

from surehand import Handler
from surehand.declare import dead_letter_queue_name, queue_name
from surehand_cli.account.place import Place
from surehand_cli.account.session import is_missing
from surehand_cli.problem import Problem

_ATTRIBUTES = ("All",)


class NoQueue(Problem):
    """There is no queue of that name or at that address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue: *visible*, *in_flight* and *delayed* are SQS's approximate counts."""

    url: str
    arn: str
    attributes: Mapping[str, str]

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.arn.rpartition(":")[2]

    @property
    def fifo(self) -> bool:
        """Whether it is FIFO."""
        return self.name.endswith(".fifo")

    @property
    def visible(self) -> int:
        """Messages that can be received."""
        return int(self.attributes.get("ApproximateNumberOfMessages", "0"))

    @property
    def in_flight(self) -> int:
        """Messages that somebody has received and not deleted."""
        return int(self.attributes.get("ApproximateNumberOfMessagesNotVisible", "0"))

    @property
    def depth(self) -> int:
        """All messages, those that are delayed too."""
        return self.visible + self.in_flight + int(self.attributes.get("ApproximateNumberOfMessagesDelayed", "0"))

    @property
    def retention(self) -> timedelta:
        """How long SQS keeps a message."""
        return timedelta(seconds=int(self.attributes.get("MessageRetentionPeriod", "345600")))

    @property
    def visibility(self) -> timedelta:
        """The queue's own visibility timeout."""
        return timedelta(seconds=int(self.attributes.get("VisibilityTimeout", "30")))

    @property
    def dead_letter_target(self) -> str | None:
        """The ARN of its dead-letter queue."""
        policy = json.loads(self.attributes.get("RedrivePolicy") or "{}")
        return str(policy["deadLetterTargetArn"]) if "deadLetterTargetArn" in policy else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterQueue:
    """A dead-letter queue, the handler whose letters it holds (None: not one of this service) and its sources."""

    queue: Queue
    handler: Handler[Any] | None
    sources: tuple[Queue, ...]


def dead_letter_queue(place: Place, text: str) -> DeadLetterQueue:
    """Return the dead-letter queue that *text* means: a handler's name, or a queue's name or URL.

    Raises:
        NoQueue: There is no such queue.
        ClientError, BotoCoreError: SQS refused or could not be reached.
    """
    handlers = {handler.name: handler for handler in place.service.handlers}
    names = {dead_letter_queue_name(place.service.name, place.stage, handler): handler for handler in handlers.values()}
    if text in handlers:
        text = dead_letter_queue_name(place.service.name, place.stage, handlers[text])
    client = place.account.client("sqs")
    queue = described(client, queue_url(client, text))
    if queue.name in names:
        handler = names[queue.name]
        own = queue_name(place.service.name, place.stage, handler)
        return DeadLetterQueue(queue=queue, handler=handler, sources=tuple(_sources(client, queue, own=own)))
    parked = {parked_name(name): handler for name, handler in names.items()}
    if queue.name in parked:
        handler = parked[queue.name]
        source = described(client, queue_url(client, queue_name(place.service.name, place.stage, handler)))
        return DeadLetterQueue(queue=queue, handler=handler, sources=(source,))
    return DeadLetterQueue(queue=queue, handler=None, sources=tuple(_sources(client, queue, own=None)))


def parked_name(name: str) -> str:
    """Return the name of the queue in which letters of a dead-letter queue are parked."""
    return f"{name.removesuffix('.fifo')}-parked" + (".fifo" if name.endswith(".fifo") else "")


def queue_url(client: Any, text: str) -> str:
    """Return the URL of a queue given by name, ARN or URL.

    Raises:
        NoQueue: There is no queue of that name.
    """
    if text.startswith(("http://", "https://")):
        return text
    name = text.rpartition(":")[2]
    try:
        return str(client.get_queue_url(QueueName=name)["QueueUrl"])
    except client.exceptions.QueueDoesNotExist:
        raise NoQueue(
            f"there is no queue '{name}' here; `surehand dlq ls` lists them, and --stage chooses them"
        ) from None


def described(client: Any, url: str) -> Queue:
    """Return a queue with its attributes.

    Raises:
        NoQueue: There is no such queue.
        ClientError, BotoCoreError: SQS refused or could not be reached.
    """
    try:
        attributes = client.get_queue_attributes(QueueUrl=url, AttributeNames=list(_ATTRIBUTES))["Attributes"]
    except client.exceptions.QueueDoesNotExist:
        raise NoQueue(f"there is no queue at {url}") from None
    return Queue(url=url, arn=attributes["QueueArn"], attributes=attributes)


def _sources(client: Any, queue: Queue, *, own: str | None) -> Iterable[Queue]:
    """Yield the queues whose dead letters come here; where the endpoint cannot list them, the handler's *own* one."""
    try:
        pages = list(client.get_paginator("list_dead_letter_source_queues").paginate(QueueUrl=queue.url))
    except (ClientError, NotImplementedError) as error:
        if not is_missing(error):
            raise
        candidates = [described(client, queue_url(client, own))] if own is not None else []
        yield from (one for one in candidates if one.dead_letter_target == queue.arn)
        return
    for page in pages:
        for url in page.get("queueUrls", ()):
            yield described(client, url)
