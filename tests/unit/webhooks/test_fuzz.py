"""Hostile input: only the one rejection leaves the engine, and no bit of a signed body changes unnoticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surehand.webhooks.handshake import signed_handshake, unsigned_handshake
from surehand.webhooks.identity import identify
from surehand.webhooks.place import Reading
from surehand.webhooks.rejection import Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.secrets import Secrets
from surehand.webhooks.table import SCHEMES
from surehand.webhooks.verify import verify
from tests.unit.webhooks.samples import NOW, URL, sample

SAMPLES = {name: sample(name) for name in SCHEMES}
FULL = [name for name, scheme in SCHEMES.items() if scheme.body_signed == "full"]
NAMES = sorted({name for signed in SAMPLES.values() for name in signed.request.headers})

names = st.sampled_from(sorted(SCHEMES))
texts = st.text(max_size=60) | st.sampled_from(
    [
        "",
        ",",
        ";",
        "=",
        "v1,",
        "t=",
        "v1=,v1=",
        "t=1,v1=é",
        "sha256=",
        "sha256=zz",
        "Bearer ",
        "\ud800",
        "1" * 5000,
        "%",
        "+",
    ]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
bodies = st.binary(max_size=80) | st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
).map(lambda value: json.dumps(value).encode("utf-8", "replace"))


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, HttpRequest, datetime]:
    """A signed request of which header, body, query or time are replaced, cut or doubled."""
    name = draw(names)
    request = SAMPLES[name].request
    for _ in range(draw(st.integers(1, 3))):
        what = draw(st.sampled_from(["header", "drop", "double", "body", "cut", "query", "method"]))
        header = draw(st.sampled_from(NAMES))
        if what == "header":
            request = request.with_headers({header: draw(texts)})
        elif what == "drop":
            request = replace(request, headers={key: value for key, value in request.headers.items() if key != header})
        elif what == "double" and header in request.headers:
            request = request.with_headers({header: f"{request.headers[header]},{request.headers[header]}"})
        elif what == "body":
            request = replace(request, body=draw(bodies))
        elif what == "cut":
            request = replace(request, body=request.body[: draw(st.integers(0, len(request.body)))])
        elif what == "query":
            request = replace(request, raw_query=draw(texts))
        else:
            request = replace(request, method=draw(st.sampled_from(["GET", "PUT", "é"])))
    return name, request, NOW + timedelta(seconds=draw(st.integers(-(10**6), 10**6)))


def status_of(call: Callable[[], object]) -> int | None:
    """The status of the rejection that a call raises; None if it raises nothing. Anything else fails the test."""
    try:
        call()
    except Rejected as rejected:
        return rejected.status
    return None


@given(mutated())
@settings(max_examples=1500, deadline=None)
def test_whatever_is_sent_verifying_raises_nothing_but_the_rejection(case):
    name, request, now = case
    signed = SAMPLES[name]

    status = status_of(lambda: verify(signed.scheme, request, signed.keys, now=now, url=signed.url))

    assert status in (None, 400, 401)


@given(mutated())
@settings(max_examples=800, deadline=None)
def test_whatever_is_sent_identifying_raises_nothing(case):
    name, request, _ = case
    identity = identify(SCHEMES[name], Reading(request), source="source")

    assert identity.key.startswith("source#")
    assert identity.key.encode("utf-8")


@given(mutated())
@settings(max_examples=800, deadline=None)
def test_whatever_is_sent_a_handshake_raises_nothing_but_the_rejection(case):
    name, request, _ = case
    signed = SAMPLES[name]
    secrets = Secrets(keys=tuple(signed.keys), verify_token="token")

    unsigned = status_of(lambda: unsigned_handshake(signed.scheme, Reading(request), lambda: secrets))
    after_signature = status_of(lambda: signed_handshake(signed.scheme, Reading(request), signed.keys[0]))

    assert unsigned in (None, 400, 403)
    assert after_signature in (None, 400)


@pytest.mark.parametrize("name", FULL)
def test_any_bit_flipped_in_a_body_that_is_signed_in_full_is_refused(name):
    signed = SAMPLES[name]
    body = signed.request.body
    for position in range(len(body) * 8):
        flipped = bytearray(body)
        flipped[position // 8] ^= 1 << position % 8
        with pytest.raises(Rejected):
            verify(signed.scheme, replace(signed.request, body=bytes(flipped)), signed.keys, now=NOW, url=signed.url)


@given(name=st.sampled_from(FULL), body=st.binary(max_size=200))
@settings(max_examples=400, deadline=None)
def test_another_body_under_a_signature_of_the_full_kind_is_refused(name, body):
    signed = SAMPLES[name]
    if body != signed.request.body:
        with pytest.raises(Rejected):
            verify(signed.scheme, replace(signed.request, body=body), signed.keys, now=NOW, url=URL)


FIELDS = """
    version rawPath rawQueryString headers body isBase64Encoded requestContext http method path httpMethod stage
    requestId
    multiValueHeaders multiValueQueryStringParameters queryStringParameters
"""
events = st.recursive(
    scalars | st.sampled_from(["2.0", "1.0", "POST", "/hooks/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS.split()), inner, max_size=8),
    max_leaves=12,
)


@given(events)
@settings(max_examples=1500, deadline=None)
def test_whatever_event_arrives_reading_it_raises_nothing_but_the_rejection(event):
    assert status_of(lambda: HttpRequest.from_event(event)) in (None, 400, 413)
