"""The envelope: every body comes back byte-exact, and nothing else does."""

from __future__ import annotations

import base64
import gzip
import json
import os
import tracemalloc
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surehand.webhooks.claim import LARGEST_MESSAGE, Claim, Inline, plan_body
from surehand.webhooks.envelope import Envelope, attributes, encode, form_fields, inline
from surehand.webhooks.identity import Identity
from surehand.webhooks.ports import Stored
from surehand.webhooks.unwrap import BodyAway, EnvelopeError, decode
from tests.unit.webhooks.samples import FORM, NOW


def envelope(body: bytes, **changed: Any) -> Envelope:
    identity = Identity(
        key="s#evt_1",
        id="evt_1",
        id_from="body:id",
        signed=True,
        type="invoice.paid",
        occurred_at=datetime(2026, 11, 29, 11, 59, 0, 500_000, tzinfo=UTC),
    )
    given: dict[str, Any] = {
        "source": "s",
        "tenant": None,
        "received_at": NOW,
        "request_id": "r",
        "identity": identity,
        "attempt": 2,
        "scheme": "stripe",
        "key_id": "AWSCURRENT:3f9a1c22",
        "signed_at": NOW,
        "path": "/hooks/s",
        "content_type": "application/json",
        "headers": {"x-type": "a"},
    }
    return Envelope(body=body, **{**given, **changed})


def text_of(body: bytes) -> str:
    plan = plan_body(envelope(body), now=NOW)
    assert isinstance(plan, Inline)
    return plan.text


def broken(change: dict[str, Any], *, body: dict[str, Any] | None = None) -> EnvelopeError:
    content = json.loads(text_of(b'{"a":1}'))
    content.update(change)
    content["body"].update(body or {})
    with pytest.raises(EnvelopeError) as caught:
        decode(json.dumps(content))
    return caught.value


@given(st.binary(max_size=500) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@settings(max_examples=500, deadline=None)
def test_every_body_comes_back_byte_exact_through_an_ascii_text(body):
    text = text_of(body)

    assert text.isascii()
    assert decode(text).body == body


def test_every_field_comes_back():
    original = envelope(b'{"a":1}', tenant="t", drained=True)

    assert decode(encode(original, inline(original.body))) == original


@pytest.mark.parametrize(("body", "encoding"), [(b"{}", "utf8"), ("ü\x00\n".encode(), "utf8"), (b"\xff\x00", "base64")])
def test_text_stays_readable_and_other_bytes_become_base64(body, encoding):
    plan = plan_body(envelope(body), now=NOW)

    assert isinstance(plan, Inline)
    assert plan.encoding == encoding


def test_a_large_body_that_compresses_stays_in_the_message():
    body = json.dumps([{"id": n, "state": "open"} for n in range(30_000)]).encode()
    plan = plan_body(envelope(body), now=NOW)

    assert isinstance(plan, Inline)
    assert plan.encoding == "gzip+base64"
    assert len(plan.text) <= LARGEST_MESSAGE < len(body)
    assert decode(plan.text).body == body


def test_a_large_body_that_does_not_compress_is_claimed_by_a_key_of_source_day_and_digest():
    body = os.urandom(300_000)
    plan = plan_body(envelope(body), now=NOW)

    assert isinstance(plan, Claim)
    assert plan.key == f"s/2026/11/29/{envelope(body).sha256}"
    where = Stored(bucket="b", key=plan.key, version="v1")
    found = decode(plan.message(where), fetch=lambda asked: body if asked == where else b"")
    assert found.body == body


def test_no_message_is_longer_than_planned():
    for size in range(150_000, 160_000, 1_000):
        plan = plan_body(envelope(os.urandom(size)), now=NOW)
        assert isinstance(plan, Claim) or len(plan.text) <= LARGEST_MESSAGE


def test_a_claimed_body_that_is_not_the_verified_one_is_refused():
    plan = plan_body(envelope(os.urandom(300_000)), now=NOW)
    assert isinstance(plan, Claim)
    message = plan.message(Stored(bucket="b", key=plan.key))

    with pytest.raises(EnvelopeError) as caught:
        decode(message, fetch=lambda _: os.urandom(300_000))
    assert caught.value.code == "input.digest"


def test_a_store_that_is_away_is_no_failure_of_the_message():
    plan = plan_body(envelope(os.urandom(300_000)), now=NOW)
    assert isinstance(plan, Claim)

    def fetch(_: Stored) -> bytes:
        raise ConnectionError

    with pytest.raises(BodyAway) as caught:
        decode(plan.message(Stored(bucket="b", key=plan.key)), fetch=fetch)
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert (caught.value.key, caught.value.tenant) == ("s#evt_1", None)


def test_another_version_is_a_failure_and_never_a_drop():
    assert broken({"v": 2}).code == "input.version"


@pytest.mark.parametrize(
    ("change", "body"),
    [
        ({"source": 1}, {}),
        ({"tenant": 1}, {}),
        ({"event": None}, {}),
        ({"received_at": "yesterday"}, {}),
        ({"received_at": "2026-11-29T12:00:00"}, {}),
        ({}, {"encoding": "rot13"}),
        ({}, {"encoding": "base64", "data": "!"}),
        ({}, {"encoding": "gzip+base64", "data": "AAAA"}),
        ({}, {"encoding": "s3"}),
        ({}, {"data": None}),
        ({}, {"data": "\ud800"}),
        ({}, {"size": True}),
        ({}, {"size": -1}),
    ],
)
def test_what_is_no_envelope_is_refused(change, body):
    assert broken(change, body=body).code == "input.envelope"


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"v":1}', "[" * 100_000])
def test_what_is_no_envelope_at_all_is_refused(text):
    with pytest.raises(EnvelopeError):
        decode(text)


@pytest.mark.parametrize("body", [{"data": '{"a":2}'}, {"size": 8}, {"sha256": "0" * 64}])
def test_a_body_that_was_changed_on_the_way_is_refused(body):
    assert broken({}, body=body).code == "input.digest"


def test_a_message_unfolds_to_no_more_than_it_announces():
    bomb = base64.b64encode(gzip.compress(b"\0" * 20_000_000)).decode()
    tracemalloc.start()
    error = broken({}, body={"encoding": "gzip+base64", "data": bomb, "size": 10})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert error.code == "input.digest"
    assert peak < 5_000_000


def test_an_error_names_no_value():
    error = broken({"received_at": "4111 1111 1111 1111"})

    assert "4111" not in str(error)


def test_attributes_are_what_sqs_takes():
    assert attributes(envelope(b"")) == {
        "schema": "1",
        "source": "s",
        "event_id": "evt_1",
        "event_type": "invoice.paid",
    }


@pytest.mark.parametrize("value", ["", "a\x00b", "ü", "\ud800", "x" * 257])
def test_an_attribute_that_sqs_would_refuse_is_left_out(value):
    identity = Identity(key="k", id=value, type=value)

    assert set(attributes(envelope(b"", identity=identity))) == {"schema", "source"}


def test_a_form_is_read_into_fields():
    original = envelope(b"a=1&b=&c=x&c=%C3%BC", content_type=f"{FORM}; charset=UTF-8")

    assert original.is_form
    assert form_fields(original.body) == {"a": "1", "b": "", "c": ["x", "ü"]}
