"""The rows of the table, and the rows that cannot be."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

import pytest

from surehand.errors import DeclarationError
from surehand.webhooks.scheme import Answer, Scheme
from surehand.webhooks.source import index, timeouts
from surehand.webhooks.table import SCHEMES
from tests.unit.webhooks.world import source

HOUSE: dict[str, Any] = {"name": "acme", "signature": "header:x-acme-sig"}

IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"name": "Acme Corp"}, "name"),
    ({"signature": ""}, "signature"),
    ({"signature": "x-acme-sig"}, "names no place"),
    ({"signature": "header:X-Acme-Sig"}, "names no place"),
    ({"signature": "body:sig"}, "signature"),
    ({"signature": "header:a+header:b"}, "signature"),
    ({"signed": "{timestamp}.{body}"}, "timestamp"),
    ({"signed": "{nonce}{body}"}, "signed"),
    ({"signed": "{body"}, "signed"),
    ({"signed": "", "body_signed": "none"}, "signed"),
    ({"signed": "{id}.{body}"}, "id"),
    ({"signed": "{url}"}, "body_signed"),
    ({"body_signed": "none"}, "body_signed"),
    ({"timestamp": "header:x-acme-time"}, "timestamp"),
    ({"timestamp": "label:t", "signed": "{timestamp}{body}"}, "timestamp"),
    ({"timestamp": "query:t", "signed": "{timestamp}{body}"}, "timestamp"),
    ({"timestamp": "body:t", "tolerance": timedelta(0)}, "tolerance"),
    ({"label": "v1"}, "label"),
    ({"label": "v1", "separator": ",", "pair": ""}, "pair"),
    ({"algorithm": "token"}, "body_signed"),
    ({"algorithm": "ed25519"}, "key_format"),
    ({"algorithm": "ecdsa-p256", "key_format": "whpk"}, "key_format"),
    ({"key_format": "spki"}, "key_format"),
    ({"id": "header:x-acme-id"}, "id_signed"),
    ({"id": "query:id"}, "id_signed"),
    ({"id": "body:"}, "names no place"),
    ({"type": "body:a..b"}, "names no place"),
    ({"success": Answer(302)}, "success"),
    ({"retry_status": 404}, "retry_status"),
    ({"deadline": timedelta(0)}, "deadline"),
    ({"methods": ()}, "methods"),
    ({"methods": ("post",)}, "methods"),
    ({"attempt": "body:n"}, "attempt"),
    ({"headers": ("authorization",)}, "headers"),
    ({"headers": ("cookie",)}, "headers"),
    ({"headers": ("x-acme-sig",)}, "headers"),
    ({"headers": ("X-Type",)}, "headers"),
]


@pytest.mark.parametrize(
    ("change", "field"), IMPOSSIBLE, ids=[f"{field}-{n}" for n, (_, field) in enumerate(IMPOSSIBLE)]
)
def test_a_row_that_contradicts_itself_is_refused_and_the_field_is_named(change, field):
    with pytest.raises(DeclarationError, match=field):
        Scheme(**{**HOUSE, **change})


def test_a_row_without_a_timestamp_has_no_tolerance():
    assert Scheme(**HOUSE).tolerance is None


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=lambda row: row.name)
def test_every_row_says_where_its_facts_come_from(scheme):
    assert any(grade in scheme.source for grade in ("[library", "[docs", "library]", "[secondary]"))


def test_the_rows_of_the_first_version_are_there():
    assert set(SCHEMES) >= {
        *("standard-webhooks", "svix", "stripe", "github", "slack", "shopify", "twilio", "square", "paddle", "linear"),
        *("meta", "zoom", "hubspot-v3", "intercom", "adyen", "box", "sendgrid", "discord", "standard-webhooks-v1a"),
        *("okta", "graph", "gitlab", "cloudevents"),
    }


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=lambda row: row.name)
def test_a_tolerance_outlasts_the_retries_of_a_sender_that_keeps_its_first_time(scheme):
    """Where the time stands in the body, a byte-identical retry has the old one."""
    if str(scheme.timestamp).startswith("body:"):
        assert scheme.tolerance is None or scheme.tolerance > (scheme.retry_window or timedelta(0))


@pytest.mark.parametrize("scheme", [row for row in SCHEMES.values() if row.needs_crypto], ids=lambda row: row.name)
def test_a_source_that_needs_cryptography_names_the_extra_if_it_is_absent(scheme, monkeypatch):
    monkeypatch.delitem(sys.modules, "surehand.webhooks.asymmetric", raising=False)
    monkeypatch.delattr("surehand.webhooks.asymmetric", raising=False)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)

    with pytest.raises(DeclarationError, match=r"surehand\[crypto\]"):
        source(scheme)


@pytest.mark.parametrize(
    ("scheme", "change", "field"),
    [
        ("stripe", {"name": "Stripe"}, "name"),
        ("square", {"url": None}, "url"),
        ("square", {"url": "https://a.example/hooks/source?x=1"}, "url"),
        ("stripe", {"largest": 5 * 1024 * 1024}, "largest"),
        ("stripe", {"secret": ""}, "secret"),
        ("stripe", {"tenants": frozenset({"a/b"}), "secret": "s/{tenant}"}, "tenants"),
        ("stripe", {"tenants": frozenset({"a"})}, "tenant_in"),
        ("stripe", {"tenants": "any"}, "tenant_in"),
        ("stripe", {"tenants": "any", "secret": "s/{tenant}"}, "secret"),
        ("stripe", {"secret": "s/{tenant}"}, "secret"),
        ("okta", {"tenants": "any", "tenant_in": "body:org"}, "tenant_in"),
        ("shopify", {"tenants": "any", "tenant_in": "header:x-shopify-shop-domain"}, "tenant_in"),
    ],
)
def test_a_source_that_contradicts_itself_is_refused_and_the_field_is_named(scheme, change, field):
    with pytest.raises(DeclarationError, match=field):
        source(scheme, **change)


@pytest.mark.parametrize("option", ["headers", "handshakes", "methods", "content_types"])
def test_one_text_is_no_collection_of_texts(option):
    options: dict[str, Any] = {option: "x-a"}
    with pytest.raises(DeclarationError, match=rf"scheme 'house': {option}: .* write {option}=\('x-a',\)"):
        Scheme(name="house", signature="header:x-house-signature", **options)


def test_two_sources_of_one_name_are_refused():
    with pytest.raises(DeclarationError, match="twice"):
        index([source("stripe"), source("github")])


@pytest.mark.parametrize(("schemes", "half"), [(("slack", "stripe"), 1.5), (("stripe",), 3.0), ((), 3.0)])
def test_both_attempts_to_send_end_within_half_of_the_shortest_deadline(schemes, half):
    limits = timeouts([source(scheme) for scheme in schemes])

    assert (limits.connect + limits.read) * limits.attempts <= timedelta(seconds=half)
    assert limits.connect <= timedelta(seconds=0.5)
    assert limits.read <= timedelta(seconds=1)
