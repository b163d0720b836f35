"""Adyen standard notifications: one signature in each item of the body, over eight of its fields.

Source: https://docs.adyen.com/development-resources/webhooks/verify-hmac-signatures and adyen-python-api-library
`Adyen/util.py`. Every item is verified; the library looks at the first only. What is not among the eight fields
(`eventDate`, `reason`, the rest of `additionalData`) is not signed: the row says `body_signed="partial"`.
"""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from surehand.webhooks.keys import Key
from surehand.webhooks.place import Reading
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.verifier import Verified

_BEFORE = ("pspReference", "originalReference", "merchantAccountCode")
_AFTER = ("eventCode", "success")


class AdyenVerifier:
    """Verifies every `NotificationRequestItem` of a standard notification. One key must have signed them all."""

    needs_url = False

    def verify(self, request: HttpRequest, keys: Sequence[Key], *, now: datetime, url: str | None) -> Verified:  # noqa: ARG002 - Adyen signs neither
        """See `Verifier`. A body without items is `malformed`, an item without a signature `missing_signature`."""
        items = [(_content(item), _signature(item)) for item in _items(Reading(request).json)]
        for index, key in enumerate(keys):
            if all(hmac.compare_digest(_mac(key, content), signature) for content, signature in items):
                return Verified(key_index=index, key_id=key.id)
        raise Rejected(Reason.BAD_SIGNATURE, f"none of {len(keys)} keys signed every item")

    def sign(self, request: HttpRequest, key: Key, *, url: str | None) -> HttpRequest:  # noqa: ARG002 - Adyen signs no URL
        """See `Signer`. The signature stands in the body, so the body is written anew."""
        for item in _items(Reading(request).json):
            _content(item)
        body = json.loads(request.body)
        for entry in body["notificationItems"]:
            item = entry["NotificationRequestItem"]
            mac = base64.b64encode(_mac(key, _content(item))).decode("ascii")
            item.setdefault("additionalData", {})["hmacSignature"] = mac
        return replace(request, body=json.dumps(body, separators=(",", ":")).encode("utf-8"))


def _items(body: Any) -> list[dict[str, Any]]:
    entries = body.get("notificationItems") if isinstance(body, dict) else None
    if not isinstance(entries, list) or not entries:
        raise Rejected(Reason.MALFORMED, "no notificationItems")
    items = [entry.get("NotificationRequestItem") if isinstance(entry, dict) else None for entry in entries]
    if not all(isinstance(item, dict) for item in items):
        raise Rejected(Reason.MALFORMED, "an entry without NotificationRequestItem")
    return [item for item in items if isinstance(item, dict)]


def _content(item: dict[str, Any]) -> bytes:
    """Return the eight fields joined by colons, as Adyen joins them: nothing is escaped.

    So only the merchant's own reference may hold a colon; a second field with one could be read in another way.
    """
    amount = item.get("amount")
    amount = amount if isinstance(amount, dict) else {}
    fixed = [_field(item, name) for name in _BEFORE]
    rest = [_field(amount, "value"), _field(amount, "currency"), *(_field(item, name) for name in _AFTER)]
    if any(":" in value for value in (*fixed, *rest)):
        raise Rejected(Reason.MALFORMED, "a signed field contains a colon")
    text = ":".join((*fixed, _field(item, "merchantReference"), *rest))
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise Rejected(Reason.MALFORMED, "a signed field is not text") from None


def _field(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Rejected(Reason.MALFORMED, f"{name} is neither text nor a number")
    return str(value)


def _signature(item: dict[str, Any]) -> bytes:
    data = item.get("additionalData")
    text = data.get("hmacSignature") if isinstance(data, dict) else None
    if not isinstance(text, str) or not text:
        raise Rejected(Reason.MISSING_SIGNATURE, "an item without additionalData.hmacSignature")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise Rejected(Reason.MALFORMED_SIGNATURE, "additionalData.hmacSignature is no base64") from None


def _mac(key: Key, content: bytes) -> bytes:
    return hmac.digest(key.material, content, "sha256")
