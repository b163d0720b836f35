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

    *code* is the failure code: `input.envelope`, `input.version` or `input.digest`. The text never holds a value of the
    message.
    """

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        super().__init__(text)


class BodyAway(Exception):
    """The stored body cannot be fetched at the moment; its `__cause__` says why. The message must come again.

    *key* and *tenant* are those of the envelope, so that its operation is known even so.
    """

    def __init__(self, key: str, tenant: str | None) -> None:
        self.key = key
        self.tenant = tenant
        super().__init__("the stored body cannot be fetched")


def decode(text: str, *, fetch: Fetch | None = None) -> Envelope:
    """Read a message body.

    *fetch* returns the bytes of a claim check. It must refuse buckets that are not its own, with an EnvelopeError, and
    may raise anything else for what may pass.

    Raises:
        EnvelopeError: A permanent failure of this message.
        BodyAway: *fetch* failed, or the body is stored and there is no *fetch*.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise _broken("the message body is no JSON") from None
    if not isinstance(content, dict):
        raise _broken("the message body is no object")
    if content.get("v") != VERSION:
        raise EnvelopeError("input.version", f"only version {VERSION} of the envelope can be read")
    event, http, verify = (_get(content, name, dict) for name in ("event", "http", "verify"))
    tenant, identity = _optional(content, "tenant", str), _identity(content, event)
    return Envelope(
        source=_get(content, "source", str),
        tenant=tenant,
        received_at=_maybe_moment(content, "received_at"),
        request_id=_get(content, "request_id", str),
        identity=identity,
        attempt=_optional(event, "attempt", int),
        scheme=_get(verify, "scheme", str),
        key_id=_get(verify, "key_id", str),
        signed_at=_maybe_moment(verify, "signed_at"),
        method=_get(http, "method", str),
        path=_get(http, "path", str),
        content_type=_get(http, "content_type", str),
        headers=MappingProxyType(_get(http, "headers", dict)),
        drained=content.get("drained") is True,
        body=_body(_get(content, "body", dict), _claimed(fetch, identity, tenant)),
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


def _claimed(fetch: Fetch | None, identity: Identity, tenant: str | None) -> Fetch:
    """Return *fetch* with its failures under one name."""

    def claim(where: Stored) -> bytes:
        if fetch is None:
            raise BodyAway(identity.key, tenant)
        try:
            return fetch(where)
        except EnvelopeError:
            raise
        except Exception as error:
            raise BodyAway(identity.key, tenant) from error

    return claim


def _body(field: Mapping[str, Any], fetch: Fetch) -> bytes:
    size, digest, encoding = _get(field, "size", int), _get(field, "sha256", str), field.get("encoding")
    if size < 0:
        raise _broken("the body's size is negative")
    if encoding == "s3":
        version = _optional(field, "version", str)
        body = fetch(Stored(bucket=_get(field, "bucket", str), key=_get(field, "key", str), version=version))
    else:
        body = _inline(encoding, _get(field, "data", str), size)
    if len(body) != size or hashlib.sha256(body).hexdigest() != digest:
        raise EnvelopeError("input.digest", "the body is not the one that was verified")
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
