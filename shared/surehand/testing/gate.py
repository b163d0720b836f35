"""The ingress of a service in a test: signed requests in, answers and messages out."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from surehand.declare import Handler, Service
from surehand.declare.receiving import Receiving
from surehand.queues import Clock
from surehand.testing.events import record
from surehand.webhooks.ingress import answer
from surehand.webhooks.keys import PUBLIC_FORMATS, KeyFormat
from surehand.webhooks.outcome import Outcome
from surehand.webhooks.ports import Message, Ports, Stored
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.response import HttpResponse
from surehand.webhooks.secrets import CURRENT, SecretCache, SecretVersion
from surehand.webhooks.sign import sign
from surehand.webhooks.source import PREFIX, Source


class Outage(ConnectionError):
    """A service of AWS is away, because the test says so."""


@dataclass
class MemoryCloud:
    """Secrets, a bucket and queues in memory. What *away* names ("secrets", "store", "queue") fails."""

    secrets: dict[str, list[SecretVersion]] = field(default_factory=dict)
    bodies: dict[str, bytes] = field(default_factory=dict)
    away: set[str] = field(default_factory=set)

    def ports(self, clock: Clock) -> Ports:
        """Return the ingress's ports over it."""
        return Ports(secrets=SecretCache(self.versions, clock.now), store=self, queue=self)

    def versions(self, name: str) -> list[SecretVersion]:
        """Return the live versions of a secret."""
        self._check("secrets")
        return self.secrets[name]

    def put(self, key: str, body: bytes, *, content_type: str, sha256: str) -> Stored:  # noqa: ARG002
        """See `StorePort.put`."""
        self._check("store")
        self.bodies[key] = body
        return Stored(bucket="bodies", key=key)

    def fetch(self, where: Stored) -> bytes:
        """Return a stored body."""
        self._check("store")
        return self.bodies[where.key]

    def send(self, message: Message) -> None:  # noqa: ARG002
        """See `QueuePort.send`."""
        self._check("queue")

    def _check(self, what: str) -> None:
        if what in self.away:
            raise Outage(what)


@dataclass
class Gate:
    """One ingress. *sent* are the messages that it has put into queues and that no event has carried yet.

    `outcomes` says what became of each request, in order.
    """

    sources: Mapping[str, Source]
    ports: Ports
    clock: Clock
    sent: list[Message] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)

    def post(self, handler: Handler[Any], body: object, *, secret: str | None = None, **more: Any) -> HttpResponse:
        """Sign a body as the handler's sender would, post it, and return the answer.

        *body* is bytes or text as they are sent, or anything else to be written as JSON. *secret* is what the sender
        signs with; by default the one that `secret_for_tests` gives. Options are those of `request`.
        """
        unsigned = request(handler, body, **more)
        receiving = self.sources[handler.name]
        key = secret if secret is not None else secret_for_tests(receiving.scheme.key_format, handler.name)
        _, _, tenant = unsigned.path.removeprefix(PREFIX).partition("/")
        url = receiving.public_url(tenant or None)
        return self.take(sign(receiving.scheme, unsigned, key, now=self.clock.now(), url=url))

    def take(self, request: HttpRequest) -> HttpResponse:
        """Answer one request as it is."""
        ports = replace(self.ports, queue=self)
        response, outcome = answer(request, self.sources, ports, now=self.clock.now())
        self.outcomes.append(outcome)
        return response

    def send(self, message: Message) -> None:
        """See `QueuePort.send`."""
        self.ports.queue.send(message)
        self.sent.append(message)

    def event(self, handler: Handler[Any]) -> dict[str, Any]:
        """Return an SQS event with what the ingress has sent to a handler since the last one."""
        mine = [message for message in self.sent if message.queue == self.sources[handler.name].queue]
        self.sent = [message for message in self.sent if message not in mine]
        now = self.clock.now()
        return {
            "Records": [
                record(handler, one.body, sent_at=now, attributes=one.attributes, group=one.group) for one in mine
            ]
        }


def sources_of(service: Service, *, stage: str, queues: Mapping[str, str] | None = None) -> dict[str, Source]:
    """Return the webhook sources of a service by name. *queues* are URLs by name; without one the name is its URL."""
    return {
        name: replace(receiving.source(name, service=service.name, stage=stage), queue=(queues or {}).get(name, name))
        for name, receiving in _receiving(service.handlers)
    }


def request(
    handler: Handler[Any],
    body: object,
    *,
    headers: Mapping[str, str] | None = None,
    tenant: str | None = None,
    method: str = "POST",
    query: str = "",
) -> HttpRequest:
    """Return an unsigned request to a handler's path. See `Gate.post` for *body*."""
    raw = body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else json.dumps(body).encode()
    path = PREFIX + handler.name + (f"/{tenant}" if tenant else "")
    plain = HttpRequest(method=method, path=path, raw_query=query, body=raw, request_id="test")
    return plain.with_headers({"content-type": "application/json", **(headers or {})})


def secret_for_tests(key_format: KeyFormat, name: str) -> str:
    """Return the stored text of a source's secret in tests: of the right format, and another one for each source.

    Raises:
        ValueError: The format holds a public key; store one of your own and sign with its private key.
    """
    if key_format in PUBLIC_FORMATS:
        raise ValueError(f"'{name}' verifies with a public key: store one, and give post(secret=…) its private key")
    digest = hashlib.sha256(name.encode())
    if key_format == "utf8":
        return f"test-secret-of-{name}"
    if key_format == "hex":
        return digest.hexdigest()
    return ("whsec_" if key_format == "whsec" else "") + base64.b64encode(digest.digest()).decode()


def store_secrets(service: Service, *, stage: str) -> dict[str, list[SecretVersion]]:
    """Return the test secrets of a service's webhooks, by the names that they are stored under."""
    stored: dict[str, list[SecretVersion]] = {}
    for name, receiving in _receiving(service.handlers):
        source = receiving.source(name, service=service.name, stage=stage)
        if source.scheme.key_format in PUBLIC_FORMATS:
            continue
        version = SecretVersion(CURRENT, secret_for_tests(source.scheme.key_format, name))
        tenants = source.tenants if isinstance(source.tenants, frozenset) else {None}
        stored |= {source.secret_of(tenant): [version] for tenant in tenants}
    return stored


def _receiving(handlers: Iterable[Handler[Any]]) -> Iterator[tuple[str, Receiving]]:
    return ((one.name, one.options.webhook) for one in handlers if one.options.webhook is not None)
