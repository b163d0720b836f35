"""An envelope read back in the worker, its body verified against its digest."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

from surehand.webhooks.envelope import VERSION, Envelope
from surehand.webhooks.identity import Identity
from surehand.webhooks.ports import Stored

Fetch = Callable[[Stored], bytes]
T = TypeVar("T")


class EnvelopeError(Exception):
    """A message body that is no envelope, is of another version, or whose body is not the one that was verified.

    *code* is the failure code: `input.envelope`, `input.envelope_version` or `input.envelope_digest`. The text never
    holds a value of the message.
    """

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        super().__init__(text)


def decode(text: str, *, fetch: Fetch | None = None) -> Envelope:
    """Read a message body.

    *fetch* returns the bytes of a claim check; whatever it raises leaves this function unchanged, because it may pass.
    It must refuse buckets that are not its own.

    Raises:
        EnvelopeError: A permanent failure of this message.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise _broken("the message body is no JSON") from None
    if not isinstance(content, dict):
        raise _broken("the message body is no object")
    if content.get("v") != VERSION:
        raise EnvelopeError("input.envelope_version", f"only version {VERSION} of the envelope can be read")
    event, http, verify = (_get(content, name, dict) for name in ("event", "http", "verify"))
    return Envelope(
        source=_get(content, "source", str),
        tenant=_optional(content, "tenant", str),
        received_at=_moment(_get(content, "received_at", str)),
        request_id=_get(content, "request_id", str),
        identity=_identity(content, event),
        attempt=_optional(event, "attempt", int),
        scheme=_get(verify, "scheme", str),
        key_id=_get(verify, "key_id", str),
        signed_at=_maybe_moment(verify, "signed_at"),
        method=_get(http, "method", str),
        path=_get(http, "path", str),
        content_type=_get(http, "content_type", str),
        headers=MappingProxyType(_get(http, "headers", dict)),
        drained=content.get("drained") is True,
        body=_body(_get(content, "body", dict), fetch),
    )


def _identity(content: Mapping[str, Any], event: Mapping[str, Any]) -> Identity:
    return Identity(
        key=_get(content, "idempotency_key", str),
        id=_optional(event, "id", str),
        id_from=_optional(event, "id_from", str),
        signed=_get(event, "id_signed", bool),
        guard=_optional(event, "guard", str),
        type=_optional(event, "type", str),
        occurred_at=_maybe_moment(event, "occurred_at"),
    )


def _body(field: Mapping[str, Any], fetch: Fetch | None) -> bytes:
    size, digest, encoding = _get(field, "size", int), _get(field, "sha256", str), field.get("encoding")
    if size < 0:
        raise _broken("the body's size is negative")
    if encoding == "s3":
        if fetch is None:
            raise _broken("the body is stored, and there is nothing to fetch it with")
        version = _optional(field, "version", str)
        body = fetch(Stored(bucket=_get(field, "bucket", str), key=_get(field, "key", str), version=version))
    else:
        body = _inline(encoding, _get(field, "data", str), size)
    if len(body) != size or hashlib.sha256(body).hexdigest() != digest:
        raise EnvelopeError("input.envelope_digest", "the body is not the one that was verified")
    return body


def _inline(encoding: Any, data: str, size: int) -> bytes:
    try:
        if encoding == "utf8":
            return data.encode("utf-8")
        raw = base64.b64decode(data, validate=True)
        if encoding == "base64":
            return raw
        if encoding == "gzip+base64":
            # Never more than was announced, whatever the message unfolds to.
            return zlib.decompressobj(wbits=31).decompress(raw, size + 1)
    except (ValueError, zlib.error):
        raise _broken(f"the body is not of its encoding, {encoding}") from None
    raise _broken("the body's encoding is unknown")


def _get(content: Mapping[str, Any], name: str, kind: type[T]) -> T:
    value = content.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _broken(f"'{name}' is absent or of another type")
    return value


def _optional(content: Mapping[str, Any], name: str, kind: type[T]) -> T | None:
    return None if content.get(name) is None else _get(content, name, kind)


def _maybe_moment(content: Mapping[str, Any], name: str) -> datetime | None:
    text = _optional(content, name, str)
    return None if text is None else _moment(text)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise _broken("a moment is no ISO time with a zone")
    return moment


def _broken(text: str) -> EnvelopeError:
    return EnvelopeError("input.envelope", text)
