"""Fakes of the three ports, and sources over them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from surehand.webhooks.ingress import answer
from surehand.webhooks.outcome import Outcome
from surehand.webhooks.ports import Message, Ports, Stored
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.response import HttpResponse
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.secrets import SecretCache, SecretVersion
from surehand.webhooks.source import Source
from surehand.webhooks.table import SCHEMES
from tests.unit.webhooks.samples import NOW, SECRETS, URL


@dataclass
class Vault:
    """Secrets by name, each a list of versions; counts fetches, and can be made to fail."""

    stored: dict[str, list[SecretVersion]] = field(default_factory=dict)
    down: bool = False
    fetched: list[str] = field(default_factory=list)

    def fetch(self, name: str) -> list[SecretVersion]:
        self.fetched.append(name)
        if self.down:
            raise TimeoutError("secrets manager")
        return self.stored[name]

    def put(self, name: str, current: str, previous: str | None = None) -> None:
        versions = [SecretVersion("AWSCURRENT", current)]
        self.stored[name] = versions + ([SecretVersion("AWSPREVIOUS", previous)] if previous is not None else [])


@dataclass
class Bucket:
    """Objects by key; can be made to fail."""

    objects: dict[str, bytes] = field(default_factory=dict)
    down: bool = False

    def put(self, key: str, body: bytes, *, content_type: str, sha256: str) -> Stored:
        if self.down:
            raise ConnectionError("s3")
        # S3 takes these two as headers; the client refuses what is none.
        assert content_type.isascii()
        assert content_type.isprintable()
        assert hashlib.sha256(body).hexdigest() == sha256
        self.objects[key] = body
        return Stored(bucket="bodies", key=key)

    def get(self, where: Stored) -> bytes:
        return self.objects[where.key]


@dataclass
class Queue:
    """What was sent, and can be made to fail."""

    sent: list[Message] = field(default_factory=list)
    down: bool = False

    def send(self, message: Message) -> None:
        if self.down:
            raise TimeoutError("sqs")
        self.sent.append(message)


class World:
    """One ingress with its fakes; `now` may be moved."""

    def __init__(self, *sources: Source) -> None:
        self.now = NOW
        self.vault, self.bucket, self.queue = Vault(), Bucket(), Queue()
        self.sources: Mapping[str, Source] = {one.name: one for one in sources}
        self.ports = Ports(secrets=SecretCache(self.vault.fetch, self.clock), store=self.bucket, queue=self.queue)
        for one in sources:
            self.vault.put(one.secret, SECRETS[one.scheme.key_format][1])

    def clock(self) -> datetime:
        return self.now

    def later(self, **length: float) -> None:
        self.now += timedelta(**length)

    def post(self, request: HttpRequest) -> tuple[HttpResponse, Outcome]:
        return answer(request, self.sources, self.ports, now=self.now)


def source(scheme: str | Scheme, name: str = "source", **changed: Any) -> Source:
    row = SCHEMES[scheme] if isinstance(scheme, str) else scheme
    url = f"https://hooks.example.com/hooks/{name}" if row.needs_url else None
    assert url in (None, URL) or name != "source"
    given = {"secret": "shop/test/webhooks/source", "queue": "https://sqs.example/queue", "url": url, **changed}
    return Source(name=name, scheme=row, **given)
