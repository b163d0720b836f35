"""The vendors whose libraries are asked."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from types import SimpleNamespace
from urllib.parse import parse_qs

import Adyen.util
import stripe
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hubspot.utils.signature import Signature
from paddle_billing.Notifications import Secret, Verifier  # type: ignore[import-untyped]
from paddle_billing.Notifications.PaddleSignature import PaddleSignature  # type: ignore[import-untyped]
from sendgrid.helpers.eventwebhook import EventWebhook
from slack_sdk.signature import SignatureVerifier
from standardwebhooks.webhooks import Webhook
from twilio.request_validator import RequestValidator  # type: ignore[import-untyped]

from surehand.webhooks.request import HttpRequest
from tests.contracts.webhooks.mutations import BODIES
from tests.contracts.webhooks.vendor import URL, Vendor

FORM = "application/x-www-form-urlencoded"


def post(body: bytes, headers: dict[str, str]) -> HttpRequest:
    return HttpRequest(method="POST", headers=headers, body=body)


def seconds(now: datetime) -> str:
    return str(int(now.timestamp()))


# --- Standard Webhooks ---

WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def standard_sign(body: bytes, now: datetime) -> HttpRequest:
    signature = Webhook(WHSEC).sign("msg_1", now.astimezone(UTC), body.decode())
    return post(body, {"webhook-id": "msg_1", "webhook-timestamp": seconds(now), "webhook-signature": signature})


def standard_judges(request: HttpRequest) -> bool:
    Webhook(WHSEC).verify(request.body, dict(request.headers), json_parse=False)
    return True


STANDARD = Vendor(
    name="standard-webhooks",
    secret=WHSEC,
    sign=standard_sign,
    judges=standard_judges,
    signature="webhook-signature",
    timestamp="webhook-timestamp",
    bodies=BODIES,
)

# --- Stripe ---

STRIPE_SECRET = "whsec_test_secret"


def stripe_sign(body: bytes, now: datetime) -> HttpRequest:
    header = stripe.WebhookSignature.generate_signature_header(body.decode(), STRIPE_SECRET, int(now.timestamp()))
    return post(body, {"stripe-signature": header})


def stripe_judges(request: HttpRequest) -> bool:
    header = request.header("stripe-signature")
    return bool(stripe.WebhookSignature.verify_header(request.body, header, STRIPE_SECRET, 300))


STRIPE = Vendor(
    name="stripe",
    secret=STRIPE_SECRET,
    sign=stripe_sign,
    judges=stripe_judges,
    signature="stripe-signature",
    bodies=BODIES,
)

# --- Slack ---

SLACK_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"


def slack_sign(body: bytes, now: datetime) -> HttpRequest:
    signature = SignatureVerifier(SLACK_SECRET).generate_signature(timestamp=seconds(now), body=body)
    return post(body, {"x-slack-request-timestamp": seconds(now), "x-slack-signature": signature or ""})


def slack_judges(request: HttpRequest) -> bool:
    return SignatureVerifier(SLACK_SECRET).is_valid_request(request.body, dict(request.headers))


SLACK = Vendor(
    name="slack",
    secret=SLACK_SECRET,
    sign=slack_sign,
    judges=slack_judges,
    signature="x-slack-signature",
    timestamp="x-slack-request-timestamp",
    bodies=BODIES,
)

# --- Twilio ---


class Fields(dict[str, list[str]]):
    """A MultiDict, as Flask has one: every value of every field, blank ones too."""

    def getall(self, name: str) -> list[str]:
        return self[name]


def twilio_params(body: bytes) -> Fields:
    return Fields(parse_qs(body.decode(), keep_blank_values=True))


def twilio_sign(body: bytes, now: datetime) -> HttpRequest:
    signature = RequestValidator("12345").compute_signature(URL, twilio_params(body))
    return post(body, {"x-twilio-signature": signature, "content-type": FORM})


def twilio_judges(request: HttpRequest) -> bool:
    signature = request.header("x-twilio-signature")
    return bool(RequestValidator("12345").validate(URL, twilio_params(request.body), signature))


TWILIO = Vendor(
    name="twilio",
    secret="12345",
    sign=twilio_sign,
    judges=twilio_judges,
    signature="x-twilio-signature",
    bodies=(b"CallSid=CA1&Digits=1&Digits=1&Digits=0&Empty=&From=%2B1+2", b"", b"Body=caf%C3%A9"),
)

# --- SendGrid: its library only verifies, so the signature is made with the same primitives ---

EC_KEY = generate_private_key(SECP256R1())
EC_PUBLIC = base64.b64encode(EC_KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()
SENDGRID_SIGNATURE = "x-twilio-email-event-webhook-signature"
SENDGRID_TIMESTAMP = "x-twilio-email-event-webhook-timestamp"


def sendgrid_sign(body: bytes, now: datetime) -> HttpRequest:
    """ECDSA signatures differ in length; take one whose base64 is padded, so that mutations do the same each time."""
    raw = b""
    while len(raw) % 3 == 0:
        raw = EC_KEY.sign(seconds(now).encode() + body, ECDSA(SHA256()))
    signature = base64.b64encode(raw).decode()
    return post(body, {SENDGRID_SIGNATURE: signature, SENDGRID_TIMESTAMP: seconds(now)})


def sendgrid_judges(request: HttpRequest) -> bool:
    headers = request.headers
    return bool(
        EventWebhook(EC_PUBLIC).verify_signature(
            request.body.decode(), headers[SENDGRID_SIGNATURE], headers[SENDGRID_TIMESTAMP]
        )
    )


SENDGRID = Vendor(
    name="sendgrid",
    secret=EC_PUBLIC,
    sign=sendgrid_sign,
    judges=sendgrid_judges,
    signature=SENDGRID_SIGNATURE,
    timestamp=SENDGRID_TIMESTAMP,
    bodies=BODIES,
)

# --- Adyen, platform webhooks; the items of payments have their own tests ---

ADYEN_KEY = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"


def adyen_sign(body: bytes, now: datetime) -> HttpRequest:
    return post(body, {"hmacsignature": Adyen.util.generate_payload_sig(body, ADYEN_KEY).decode()})


def adyen_judges(request: HttpRequest) -> bool:
    return bool(Adyen.util.is_valid_hmac_payload(request.headers["hmacsignature"], ADYEN_KEY, request.body))


ADYEN_PLATFORM = Vendor(
    name="adyen-platform",
    secret=ADYEN_KEY,
    sign=adyen_sign,
    judges=adyen_judges,
    signature="hmacsignature",
    bodies=(*BODIES, b"\xff\x00"),
)


def adyen_item(**changed: object) -> dict[str, object]:
    """One signed NotificationRequestItem."""
    item: dict[str, object] = {
        "pspReference": "7914073381342284",
        "originalReference": "",
        "merchantAccountCode": "Shop",
        "merchantReference": "order-1",
        "amount": {"currency": "EUR", "value": 1130},
        "eventCode": "AUTHORISATION",
        "success": "true",
        "eventDate": "2026-11-29T12:00:00+01:00",
        **changed,
    }
    signature = Adyen.util.generate_notification_sig(item, ADYEN_KEY).decode()
    return {**item, "additionalData": {"hmacSignature": signature}}


def adyen_body(*items: dict[str, object]) -> bytes:
    return json.dumps(
        {"live": "false", "notificationItems": [{"NotificationRequestItem": one} for one in items]}
    ).encode()


# --- Paddle ---

PADDLE_SECRET = "pdl_ntfset_01hs0t3tw21j988db1pam5xg8m_GrOWLNef"


def paddle_sign(body: bytes, now: datetime) -> HttpRequest:
    signature = PaddleSignature.calculate_hmac(PADDLE_SECRET, f"{seconds(now)}:".encode() + body).hexdigest()
    return post(body, {"paddle-signature": f"ts={seconds(now)};h1={signature}"})


def paddle_judges(request: HttpRequest) -> bool:
    given = SimpleNamespace(body=request.body, headers={"Paddle-Signature": request.header("paddle-signature")})
    return bool(Verifier(300).verify(given, Secret(PADDLE_SECRET)))


PADDLE = Vendor(
    name="paddle",
    secret=PADDLE_SECRET,
    sign=paddle_sign,
    judges=paddle_judges,
    signature="paddle-signature",
    bodies=BODIES,
)

# --- HubSpot ---

HUBSPOT_SECRET = "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy"
HUBSPOT_TIMESTAMP = "x-hubspot-request-timestamp"


def hubspot_sign(body: bytes, now: datetime) -> HttpRequest:
    timestamp = str(int(now.timestamp() * 1000))
    signature = Signature.get_signature(HUBSPOT_SECRET, body.decode(), "v3", URL, "POST", timestamp)
    return post(body, {"x-hubspot-signature-v3": signature, HUBSPOT_TIMESTAMP: timestamp})


def hubspot_judges(request: HttpRequest) -> bool:
    return Signature.is_valid(
        request.headers["x-hubspot-signature-v3"],
        HUBSPOT_SECRET,
        request.body.decode(),
        URL,
        request.method,
        "v3",
        request.header(HUBSPOT_TIMESTAMP),
    )


HUBSPOT = Vendor(
    name="hubspot-v3",
    secret=HUBSPOT_SECRET,
    sign=hubspot_sign,
    judges=hubspot_judges,
    signature="x-hubspot-signature-v3",
    timestamp=HUBSPOT_TIMESTAMP,
    bodies=BODIES,
)

VENDORS = {
    vendor.name: vendor for vendor in (STANDARD, STRIPE, SLACK, TWILIO, SENDGRID, ADYEN_PLATFORM, PADDLE, HUBSPOT)
}
