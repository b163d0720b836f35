"""Between a webhook's payload and the envelope that its message carries."""

from __future__ import annotations

import json
from datetime import datetime

from surehand.declare.envelopes import Unwrapped
from surehand.declare.handler import Handler
from surehand.declare.payload import NotValid
from surehand.declare.receiving import Receiving, request_of
from surehand.delivery import Delivery
from surehand.webhooks.envelope import Envelope, encode, form_fields, inline
from surehand.webhooks.identity import identify
from surehand.webhooks.place import Reading
from surehand.webhooks.unwrap import EnvelopeError, Fetch, decode


def verified(handler: Handler[object], delivery: Delivery, fetch: Fetch | None) -> Unwrapped:
    """Return the event that the ingress has verified, with the key that its scheme gives it.

    The body stands for itself where the payload is bytes; a form becomes a JSON object of its fields.

    Raises:
        NotValid: It is no envelope of this source, of another version, or its body is not the one that was verified.
        BodyAway: The stored body cannot be fetched at the moment.
    """
    try:
        envelope = decode(delivery.body, fetch=fetch)
    except EnvelopeError as error:
        raise NotValid(error.code, str(error)) from None
    if envelope.source != handler.name:
        raise NotValid("input.envelope", "the envelope is of another source than this handler's")
    identity = envelope.identity
    return Unwrapped(
        _body(handler, envelope),
        _attributes(envelope),
        key=identity.key,
        tenant=envelope.tenant,
        # Where the handler declares a key of its own, another id under the same key may be another event.
        unsigned_id=identity.id if identity.guard is not None and handler.options.key is None else None,
    )


def by_hand(handler: Handler[object], receiving: Receiving, body: bytes) -> str:
    """Return the message of a payload that was not received but is sent by `Handler.send`, a test or an operator."""
    request = request_of(handler.name, body)
    envelope = Envelope(
        source=handler.name,
        tenant=None,
        received_at=None,
        request_id="",
        identity=identify(receiving.scheme, Reading(request), source=handler.name),
        scheme=receiving.scheme.name,
        key_id="by hand",
        path=request.path,
        content_type=request.content_type,
        body=body,
    )
    return encode(envelope, inline(body))


def _body(handler: Handler[object], envelope: Envelope) -> str | bytes:
    if handler.payload.annotation is bytes or not envelope.is_form:
        return envelope.body
    try:
        return json.dumps(form_fields(envelope.body), separators=(",", ":"))
    except ValueError:
        raise NotValid("input.malformed", "the body is no form in UTF-8") from None


def _attributes(envelope: Envelope) -> dict[str, str]:
    identity = envelope.identity
    found = {
        "webhook.source": envelope.source,
        "webhook.id": identity.id,
        "webhook.type": identity.type,
        "webhook.occurred_at": _iso(identity.occurred_at),
        "webhook.received_at": _iso(envelope.received_at),
        "webhook.attempt": None if envelope.attempt is None else str(envelope.attempt),
        "webhook.content_type": envelope.content_type or None,
        "webhook.drained": "true" if envelope.drained else None,
        **{f"webhook.header.{name}": value for name, value in envelope.headers.items()},
    }
    return {name: value for name, value in found.items() if value is not None}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
