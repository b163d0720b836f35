"""What the ingress needs of the world: secrets, a store for large bodies, queues. Small protocols, passed as arguments.

Whatever an implementation raises is our own failure: the sender is told to come again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from surehand.webhooks.secrets import Loaded


class SecretsPort(Protocol):
    """Live versions of secrets; `SecretCache` over a fetching function is one."""

    def load(self, name: str, *, max_age: timedelta) -> Loaded:
        """Return the versions as they were at most *max_age* ago, or, if they cannot be had, raise."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Where a large body is stored. *version* is None in a bucket without versioning."""

    bucket: str
    key: str
    version: str | None = None


class StorePort(Protocol):
    """A bucket for bodies that do not fit into a message."""

    def put(self, key: str, body: bytes, *, content_type: str, sha256: str) -> Stored:
        """Store *body* durably under *key*, overwriting; *sha256* is its digest in hex. Return where it is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message for a queue. *group* is the tenant, for fair queues; *attributes* are string attributes."""

    queue: str
    body: str
    attributes: Mapping[str, str]
    group: str | None = None


class QueuePort(Protocol):
    """Queues by URL."""

    def send(self, message: Message) -> None:
        """Return when the queue has durably taken the message, or raise."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What the ingress talks to."""

    secrets: SecretsPort
    store: StorePort
    queue: QueuePort
