"""Who an event is: the same under a retry, another under another body, and not what a replayer makes of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from surehand.webhooks.identity import Identity, identify
from surehand.webhooks.place import Reading
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.table import SCHEMES
from tests.unit.webhooks.samples import NOW, sample


def of(name: str, request: HttpRequest | None = None, **namespace: Any) -> Identity:
    return identify(SCHEMES[name], Reading(request or sample(name).request), source="s", **namespace)


def body(value: Any) -> HttpRequest:
    return HttpRequest(method="POST", body=json.dumps(value).encode())


#: scheme → id, type of its sample.
EXPECTED: dict[str, tuple[str | None, str | None]] = {
    "standard-webhooks": ("evt_local_1", "invoice.paid"),
    "standard-webhooks-v1a": ("evt_local_1", "invoice.paid"),
    "svix": ("evt_local_1", "invoice.paid"),
    "stripe": ("evt_1", "invoice.paid"),
    "shopify": ("orders/create:shop-1", "orders/create"),
    "square": ("ev-1", "payment.updated"),
    "paddle": ("evt_1", "customer.created"),
    "adyen-platform": (None, "merchant.created"),
    "slack": ("Ev1", "app_mention"),
    "twilio": ("SM1:delivered", "delivered"),
    "discord": (None, "APPLICATION_AUTHORIZED"),
    "meta": (None, "whatsapp_business_account"),
    "zoom": (None, "meeting.started"),
    "intercom": ("notif_1", "user.created"),
    "x-twitter": (None, None),
    "github": ("gh-1", "issues"),
    "gitlab": ("gl-1", "Push Hook"),
    "linear": (None, "Issue.create"),
    "box": ("box-1", "FILE.UPLOADED"),
    "dropbox": (None, None),
    "hubspot-v3": ("2:1:1764417540000", "contact.creation"),
    "okta": ("okta-1", "user.created"),
    "graph": (None, "updated"),
    "cloudevents": ("https%3A//a.example/x:1", "a.b"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_id_and_type_of_a_row_s_event_are_found(name):
    identity = of(name)

    assert (identity.id, identity.type) == EXPECTED[name]


@pytest.mark.parametrize(
    "name",
    sorted(set(EXPECTED) - {"x-twitter", "shopify", "github", "gitlab", "meta", "adyen-platform", "dropbox", "graph"}),
)
def test_the_time_of_a_row_s_event_is_found(name):
    occurred_at = of(name).occurred_at

    if name in ("svix", "twilio", "cloudevents"):
        assert occurred_at is None
    else:
        assert occurred_at is not None
        assert datetime(2025, 11, 29, tzinfo=UTC) <= occurred_at <= datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize("name", ["sendgrid", "adyen"])
def test_a_batch_is_one_event_made_of_its_items(name):
    identity = of(name)

    assert identity.id is not None
    assert identity.id.startswith("items:")


def test_a_signed_id_is_the_key_in_the_namespace_of_source_and_tenant():
    assert of("stripe").key == "s#evt_1"
    assert of("stripe", tenant="t").key == "s/t#evt_1"
    assert of("stripe").guard is None


def test_a_captured_request_with_a_new_unsigned_id_is_the_same_operation():
    first = sample("github").request
    replayed = first.with_headers({"x-github-delivery": "another"})

    assert of("github", first).key == of("github", replayed).key
    assert (of("github", replayed).id, of("github", replayed).signed) == ("another", False)


def test_a_captured_request_without_its_unsigned_id_is_the_same_operation():
    first = sample("github").request
    stripped = replace(first, headers={name: v for name, v in first.headers.items() if name != "x-github-delivery"})

    assert of("github", stripped).key == of("github", first).key
    assert of("github", stripped).id is None


def test_an_invented_name_of_a_github_event_is_the_same_operation():
    first = sample("github").request

    assert of("github", first.with_headers({"x-github-event": "invented"})).key == of("github", first).key


def test_a_new_body_under_a_known_unsigned_id_is_another_operation():
    first = sample("github").request

    assert of("github", first).key != of("github", replace(first, body=b'{"number":2}')).key


def test_an_equal_body_of_another_type_is_another_operation():
    """Shopify sends the same bytes for orders/create and orders/updated."""
    first = sample("shopify").request

    assert of("shopify", first).key != of("shopify", first.with_headers({"x-shopify-topic": "orders/updated"})).key


def test_an_id_of_a_scheme_that_signs_nothing_is_trusted_as_all_of_it_is():
    assert (of("okta").key, of("okta").signed, of("okta").guard) == ("s#okta-1", False, None)


def test_without_an_id_a_retry_with_a_new_signature_is_the_same_operation():
    retried = sample("zoom", now=NOW + timedelta(minutes=5)).request

    assert retried.headers != sample("zoom").request.headers
    assert of("zoom", retried).key == of("zoom").key


@pytest.mark.parametrize("name", ["dropbox", "graph"])
def test_where_bodies_repeat_each_delivery_is_its_own_operation(name):
    first = sample(name).request

    assert of(name, first).key != of(name, replace(first, request_id="request-2")).key


@pytest.mark.parametrize("value", [None, "", 0.5, True, [], {}, {"id": 1}, "\ud800"])
def test_what_cannot_be_an_id_is_none(value):
    identity = of("stripe", body({"id": value}))

    assert identity.id is None
    assert identity.key.startswith("s#sha256:")


def test_a_number_may_be_an_id_and_keeps_every_digit():
    assert of("stripe", HttpRequest(method="POST", body=b'{"id":9007199254740993}')).id == "9007199254740993"


def test_a_body_that_is_no_json_is_known_by_its_digest():
    assert of("stripe", HttpRequest(method="POST", body=b"\xff")).key.startswith("s#sha256:")


def test_a_very_long_id_is_known_by_its_digest():
    identity = of("stripe", body({"id": "x" * 257}))

    assert identity.id is not None
    assert identity.id.startswith("sha256:")


def test_two_composites_never_look_alike():
    one = body({"source": "a:b", "id": "c"})
    other = body({"source": "a", "id": "b:c"})

    assert of("cloudevents", one).key != of("cloudevents", other).key


def test_a_batch_with_an_item_without_an_id_is_known_by_its_digest():
    assert of("sendgrid", body([{"sg_event_id": "a"}, {}])).key.startswith("s#sha256:")


def test_a_batch_of_different_types_has_none():
    assert of("sendgrid").type is None
