"""The envelope: a verified request as one SQS message body, in ASCII JSON, byte-exact.

    {"v": 1, "source": "stripe", "tenant": null, "received_at": "2026-11-29T12:54:00.123Z", "request_id": "…",
     "event": {"id": "evt_1", "id_from": "body:id", "id_signed": true, "guard": null, "type": "invoice.paid",
               "occurred_at": "…", "attempt": null},
     "idempotency_key": "stripe#evt_1",
     "verify": {"scheme": "stripe", "key_id": "AWSCURRENT:3f9a1c22", "signed_at": "…"},
     "http": {"method": "POST", "path": "/hooks/stripe", "content_type": "application/json", "headers": {}},
     "body": {"encoding": "utf8", "data": "…", "sha256": "…", "size": 1234}}

Encodings are `utf8`, `base64`, `gzip+base64` and `s3` (then bucket, key and version stand in place of data). Never in
it: the signature, the secret, cookies, `authorization`, the query string.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl

from surehand.webhooks.identity import Identity
from surehand.webhooks.ports import Stored

#: The version that is written. Another one is a failure of the message, never a drop.
VERSION = 1
#: SQS takes ten attributes; an attribute's value here is short and printable.
LONGEST_ATTRIBUTE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One verified webhook event. Moments are aware datetimes; *body* is the bytes that were verified.

    *received_at* is None for an event that was sent by hand. *attempt* is the sender's own count of retries, if it
    tells. *drained* marks what came in while the source drained.
    """

    source: str
    tenant: str | None
    received_at: datetime | None
    request_id: str
    identity: Identity
    attempt: int | None = None
    scheme: str
    key_id: str
    signed_at: datetime | None = None
    method: str = "POST"
    path: str = ""
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    drained: bool = False
    body: bytes = field(repr=False)

    @property
    def sha256(self) -> str:
        """The digest of the body, in hex."""
        return hashlib.sha256(self.body).hexdigest()

    @property
    def is_form(self) -> bool:
        """Whether the body is a form; `form_fields` reads it."""
        return self.content_type.partition(";")[0].strip().lower() == "application/x-www-form-urlencoded"


def form_fields(body: bytes) -> dict[str, str | list[str]]:
    """Return a form's fields: a text for a name that occurs once, a list for one that occurs more often.

    Raises:
        ValueError: It is no form in UTF-8.
    """
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=1000):
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def attributes(envelope: Envelope) -> dict[str, str]:
    """Return the message attributes. What SQS would refuse is left out: the envelope has it."""
    wanted = {
        "schema": str(VERSION),
        "source": envelope.source,
        "event_id": envelope.identity.id,
        "event_type": envelope.identity.type,
    }
    return {
        name: value
        for name, value in wanted.items()
        if value and len(value) <= LONGEST_ATTRIBUTE and value.isascii() and value.isprintable()
    }


def encode(envelope: Envelope, body: Mapping[str, Any]) -> str:
    """Return the message body. *body* is the part that says where the bytes are; digest and size are added."""
    identity = envelope.identity
    content = {
        "v": VERSION,
        "source": envelope.source,
        "tenant": envelope.tenant,
        "received_at": _iso(envelope.received_at),
        "request_id": envelope.request_id,
        "event": {
            "id": identity.id,
            "id_from": identity.id_from,
            "id_signed": identity.signed,
            "guard": identity.guard,
            "type": identity.type,
            "occurred_at": _iso(identity.occurred_at),
            "attempt": envelope.attempt,
        },
        "idempotency_key": identity.key,
        "verify": {"scheme": envelope.scheme, "key_id": envelope.key_id, "signed_at": _iso(envelope.signed_at)},
        "http": {
            "method": envelope.method,
            "path": envelope.path,
            "content_type": envelope.content_type,
            "headers": dict(envelope.headers),
        },
        **({"drained": True} if envelope.drained else {}),
        "body": {**body, "sha256": envelope.sha256, "size": len(envelope.body)},
    }
    return json.dumps(content, separators=(",", ":"))


def inline(body: bytes) -> dict[str, Any]:
    """Return the body as text if it is UTF-8, else as base64."""
    try:
        return {"encoding": "utf8", "data": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"encoding": "base64", "data": base64.b64encode(body).decode("ascii")}


def stored(where: Stored) -> dict[str, Any]:
    """Return the body as a claim check."""
    return {"encoding": "s3", "bucket": where.bucket, "key": where.key, "version": where.version}


def _iso(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
