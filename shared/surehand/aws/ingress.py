"""The ingress on AWS: one HTTP event through the webhook engine, timed, and told as a log line and metrics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Any, TextIO

from botocore.config import Config

from surehand.aws.clients import AWS_ERRORS
from surehand.aws.webhook_telling import lines
from surehand.webhooks.ingress import answer_event
from surehand.webhooks.ports import Message, Ports, QueuePort, SecretsPort, Stored, StorePort
from surehand.webhooks.secrets import Loaded
from surehand.webhooks.source import Source, Timeouts


def impatient(timeouts: Timeouts, *, attempts: int) -> Config:
    """Return a client's settings. Between two attempts botocore waits up to a second."""
    return Config(
        connect_timeout=timeouts.connect.total_seconds(),
        read_timeout=timeouts.read.total_seconds(),
        retries={"total_max_attempts": attempts, "mode": "standard"},
        tcp_keepalive=True,
    )


@dataclass(slots=True)
class Spent:
    """Seconds that one request has waited for each of AWS's services."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def on(self, service: str) -> Iterator[None]:
        """Count what the block takes."""
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[service] = self.seconds.get(service, 0.0) + perf_counter() - began


@dataclass(frozen=True, slots=True)
class _Timed:
    """The three ports of one request, with the time that it waits for each."""

    ports: Ports
    spent: Spent

    def load(self, name: str, *, max_age: Any) -> Loaded:
        with self.spent.on("secrets"):
            return self.ports.secrets.load(name, max_age=max_age)

    def put(self, key: str, body: bytes, *, content_type: str, sha256: str) -> Stored:
        with self.spent.on("store"):
            return self.ports.store.put(key, body, content_type=content_type, sha256=sha256)

    def send(self, message: Message) -> None:
        with self.spent.on("queue"):
            self.ports.queue.send(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingress:
    """One ingress function. *clock* returns the aware time now; *stream* is standard output unless a test says."""

    sources: Mapping[str, Source]
    secrets: SecretsPort
    store: StorePort
    queue: QueuePort
    clock: Callable[[], datetime]
    service: str
    stage: str
    version: str
    stream: TextIO | None = None

    def answer(self, event: Any) -> dict[str, Any]:
        """Answer one event of an HTTP API, a function URL or a REST API, and tell of it."""
        began, now, spent = perf_counter(), self.clock(), Spent()
        timed = _Timed(Ports(secrets=self.secrets, store=self.store, queue=self.queue), spent)
        response, outcome = answer_event(event, self.sources, Ports(secrets=timed, store=timed, queue=timed), now=now)
        told = lines(
            outcome,
            service=self.service,
            stage=self.stage,
            version=self.version,
            now=now,
            seconds=perf_counter() - began,
            spent=spent.seconds,
        )
        stream = self.stream or sys.stdout
        stream.write("".join(f"{line}\n" for line in told))
        stream.flush()
        return response.to_event()


class SQSQueue:
    """Sends messages to queues by URL. Implements `QueuePort`.

    *client* makes one attempt and *attempts* are made of it without a pause: botocore's own retries wait up to a
    second, which a sender with three seconds in all does not have. A message that was taken although the answer was
    lost becomes a duplicate, which the worker recognises.
    """

    def __init__(self, client: Any, *, attempts: int) -> None:
        self._client = client
        self._attempts = attempts

    def send(self, message: Message) -> None:
        """See `QueuePort.send`."""
        request: dict[str, Any] = {
            "QueueUrl": message.queue,
            "MessageBody": message.body,
            "MessageAttributes": {
                name: {"DataType": "String", "StringValue": value} for name, value in message.attributes.items()
            },
        }
        if message.group is not None:
            request["MessageGroupId"] = message.group
        for attempt in range(1, self._attempts + 1):
            try:
                self._client.send_message(**request)
            except AWS_ERRORS:
                if attempt == self._attempts:
                    raise
            else:
                return
