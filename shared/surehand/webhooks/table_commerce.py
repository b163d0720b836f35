"""Rows of the scheme table: payments and shops. See `table.py` for what the grades mean."""

from __future__ import annotations

from datetime import timedelta

from surehand.webhooks.adyen import AdyenVerifier
from surehand.webhooks.scheme import Answer, Scheme

#: Stripe signs with the whole text of the secret, its `whsec_` included, unlike Standard Webhooks.
STRIPE = Scheme(
    name="stripe",
    signature="header:stripe-signature",
    signed="{timestamp}.{body}",
    separator=",",
    label="v1",
    timestamp="label:t",
    id="body:id",
    type="body:type",
    occurred_at="body:created",
    deadline=timedelta(seconds=10),
    retry_window=timedelta(days=3),
    source="stripe-python 16.1.0 stripe/_webhook.py [library]; retries up to 3 days [secondary]; "
    "deadline not stated by Stripe, 10 s is ours",
)

#: The topic and the ids are headers that nobody signs; one secret serves all shops. What one action of a merchant sets
#: off has one event id, also under several topics, and the bodies of two topics may be equal: so both go by the topic.
SHOPIFY = Scheme(
    name="shopify",
    signature="header:x-shopify-hmac-sha256",
    encoding="base64",
    id="header:x-shopify-topic+header:x-shopify-event-id",
    id_signed=False,
    type="header:x-shopify-topic",
    occurred_at="header:x-shopify-triggered-at",
    headers=(
        "x-shopify-topic",
        "x-shopify-shop-domain",
        "x-shopify-api-version",
        "x-shopify-event-id",
        "x-shopify-webhook-id",
    ),
    deadline=timedelta(seconds=5),
    retry_window=timedelta(hours=4),
    source="shopify.dev 'verify deliveries', 'ignore duplicates', changelog 2024-09-10 [docs]: 8 retries in 4 h, "
    "connection in 1 s, answer in 5 s",
)

#: The notification URL is signed exactly as it is configured at Square.
SQUARE = Scheme(
    name="square",
    signature="header:x-square-hmacsha256-signature",
    signed="{fixed_url}{body}",
    encoding="base64",
    id="body:event_id",
    type="body:type",
    occurred_at="body:created_at",
    deadline=timedelta(seconds=10),
    retry_window=timedelta(hours=24),
    source="square-python-sdk webhooks helper [library]; developer.squareup.com [docs]; the 10 s are of an older page",
)

#: Paddle's own library allows 5 s by default, which a retry or a cold start outlives.
PADDLE = Scheme(
    name="paddle",
    signature="header:paddle-signature",
    signed="{timestamp}:{body}",
    separator=";",
    label="h1",
    timestamp="label:ts",
    id="body:event_id",
    type="body:event_type",
    occurred_at="body:occurred_at",
    deadline=timedelta(seconds=5),
    retry_window=timedelta(days=3),
    source="paddle-python-sdk 1.16.1 Notifications/ [library]; developer.paddle.com [docs]: only 200 is success, "
    "60 retries in 3 days",
)

#: Payments: signed item by item. The success body is the one of Adyen's older endpoint contract and is still accepted.
ADYEN = Scheme(
    name="adyen",
    verifier=AdyenVerifier(),
    key_format="hex",
    body_signed="partial",
    id="body:notificationItems[].NotificationRequestItem.eventCode"
    "+body:notificationItems[].NotificationRequestItem.pspReference",
    type="body:notificationItems[].NotificationRequestItem.eventCode",
    occurred_at="body:notificationItems[].NotificationRequestItem.eventDate",
    success=Answer(200, "[accepted]", "text/plain"),
    deadline=timedelta(seconds=10),
    source="adyen-python-api-library 16.0.0 Adyen/util.py [library]; docs.adyen.com [docs]; deadline [secondary]",
)

#: Platform, banking and management webhooks: one header over the body.
ADYEN_PLATFORM = Scheme(
    name="adyen-platform",
    signature="header:hmacsignature",
    encoding="base64",
    key_format="hex",
    type="body:type",
    occurred_at="body:timestamp",
    deadline=timedelta(seconds=10),
    source="adyen-python-api-library 16.0.0 Adyen/util.py [library]; "
    "ids vary by product, so the key is the body's digest",
)

ROWS = (STRIPE, SHOPIFY, SQUARE, PADDLE, ADYEN, ADYEN_PLATFORM)
