"""One plausible event for every row of the table, signed as its sender signs it."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from surehand.webhooks.keys import Key, read_key
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.sign import sign
from surehand.webhooks.table import SCHEMES

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)
URL = "https://hooks.example.com/hooks/source"
FORM = "application/x-www-form-urlencoded"

_ED = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
_ED_PUBLIC = _ED.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
_EC = generate_private_key(SECP256R1())
_EC_PRIVATE = base64.b64encode(_EC.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())).decode()
_EC_PUBLIC = base64.b64encode(_EC.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()

#: Signing text and verifying text, by key format.
SECRETS: dict[str, tuple[str, str]] = {
    "utf8": ("a-literal-secret", "a-literal-secret"),
    "hex": ("44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",) * 2,
    "whsec": ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",) * 2,
    "whpk": (
        "whsk_" + base64.b64encode(bytes(range(32))).decode(),
        "whpk_" + base64.b64encode(_ED_PUBLIC).decode(),
    ),
    "ed25519-hex": (bytes(range(32)).hex(), _ED_PUBLIC.hex()),
    "spki": (_EC_PRIVATE, _EC_PUBLIC),
}
#: Another key of each format.
OTHER: dict[str, str] = {
    "utf8": "another-secret",
    "hex": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
    "whsec": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
    "whpk": "whpk_" + base64.b64encode(Ed25519PrivateKey.generate().public_key().public_bytes_raw()).decode(),
    "ed25519-hex": Ed25519PrivateKey.generate().public_key().public_bytes_raw().hex(),
    "spki": base64.b64encode(
        generate_private_key(SECP256R1()).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ).decode(),
}

_ADYEN: dict[str, Any] = {
    "live": "false",
    "notificationItems": [
        {
            "NotificationRequestItem": {
                "pspReference": f"79140733813422{number}",
                "merchantReference": "order:1",
                "merchantAccountCode": "Shop",
                "amount": {"currency": "EUR", "value": 1130},
                "eventCode": "AUTHORISATION",
                "success": "true",
                "eventDate": "2026-11-29T12:00:00+01:00",
            }
        }
        for number in range(2)
    ],
}

BODIES: dict[str, Any] = {
    "standard-webhooks": {"type": "invoice.paid", "timestamp": "2026-11-29T11:59:00Z", "data": {}},
    "standard-webhooks-v1a": {"type": "invoice.paid", "timestamp": "2026-11-29T11:59:00Z", "data": {}},
    "svix": {"type": "invoice.paid", "data": {}},
    "stripe": {"id": "evt_1", "object": "event", "type": "invoice.paid", "created": 1764417540, "data": {}},
    "shopify": {"id": 820982911946154508, "email": "jon@example.com"},
    "square": {"merchant_id": "M", "type": "payment.updated", "event_id": "ev-1", "created_at": "2026-11-29T11:59:00Z"},
    "paddle": {"event_id": "evt_1", "event_type": "customer.created", "occurred_at": "2026-11-29T11:59:00.5Z"},
    "adyen": _ADYEN,
    "adyen-platform": {"type": "merchant.created", "environment": "test", "data": {}},
    "slack": {"type": "event_callback", "event_id": "Ev1", "event_time": 1764417540, "event": {"type": "app_mention"}},
    "twilio": b"MessageSid=SM1&MessageStatus=delivered&From=%2B14158675309&To=%2B18005551212",
    "sendgrid": [
        {"event": "delivered", "sg_event_id": "a", "timestamp": 1764417540},
        {"event": "open", "sg_event_id": "b", "timestamp": 1764417541},
    ],
    "discord": {
        "version": 1,
        "type": 1,
        "event": {"type": "APPLICATION_AUTHORIZED", "timestamp": "2026-11-29T11:59:00Z"},
    },
    "meta": {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": []}]},
    "zoom": {"event": "meeting.started", "event_ts": 1764417540000, "payload": {"object": {"uuid": "u"}}},
    "intercom": {"type": "notification_event", "id": "notif_1", "topic": "user.created", "created_at": 1764417540},
    "x-twitter": {"for_user_id": "1", "tweet_create_events": []},
    "github": {"action": "opened", "number": 1, "repository": {"id": 1}},
    "gitlab": {"object_kind": "push", "project_id": 1},
    "linear": {"action": "create", "type": "Issue", "createdAt": "2026-11-29T11:59:00.000Z", "webhookTimestamp": 0},
    "box": {
        "type": "webhook_event",
        "id": "box-1",
        "trigger": "FILE.UPLOADED",
        "created_at": "2026-11-29T04:59:00-07:00",
    },
    "dropbox": {"list_folder": {"accounts": ["dbid:1"]}, "delta": {"users": [1]}},
    "hubspot-v3": [
        {"eventId": 1, "subscriptionId": 2, "occurredAt": 1764417540000, "subscriptionType": "contact.creation"}
    ],
    "okta": {
        "eventId": "okta-1",
        "eventTime": "2026-11-29T11:59:00Z",
        "data": {"events": [{"eventType": "user.created"}]},
    },
    "graph": {"value": [{"subscriptionId": "s", "changeType": "updated", "resource": "r"} for _ in range(2)]},
    "cloudevents": {"specversion": "1.0", "id": "1", "source": "https://a.example/x", "type": "a.b"},
}

HEADERS: dict[str, dict[str, str]] = {
    "shopify": {
        "x-shopify-topic": "orders/create",
        "x-shopify-event-id": "shop-1",
        "x-shopify-shop-domain": "a.example",
    },
    "github": {"x-github-event": "issues", "x-github-delivery": "gh-1"},
    "gitlab": {"x-gitlab-event": "Push Hook", "x-gitlab-event-uuid": "gl-1"},
    "twilio": {"content-type": FORM},
}


@dataclass(frozen=True)
class Sample:
    """A signed request of a scheme, and the keys that it was signed with."""

    scheme: Scheme
    request: HttpRequest
    secret: str
    stored: str

    @property
    def keys(self) -> list[Key]:
        return [read_key(self.stored, self.scheme.key_format, label="AWSCURRENT")]

    @property
    def url(self) -> str | None:
        return URL if self.scheme.needs_url else None


def unsigned(name: str, path: str = "/hooks/source") -> HttpRequest:
    body = BODIES[name]
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpRequest(
        method="POST",
        path=path,
        headers={"content-type": "application/json", **HEADERS.get(name, {})},
        body=raw,
        request_id="request-1",
    )


def sample(name: str, *, now: datetime = NOW, path: str = "/hooks/source") -> Sample:
    scheme = SCHEMES[name]
    secret, stored = SECRETS[scheme.key_format]
    url = URL if scheme.needs_url else None
    return Sample(scheme, sign(scheme, unsigned(name, path), secret, now=now, url=url), secret, stored)
