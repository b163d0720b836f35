"""The event shapes of HTTP API, function URL and REST API, their bodies byte-exact."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from surehand.webhooks.keys import read_key
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.table import SCHEMES
from surehand.webhooks.verify import verify

EVENTS = Path(__file__).parents[3] / "events" / "webhooks"
BODIES = EVENTS / "bodies"
SIGNED_AT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
STRIPE = ("stripe", "whsec_surehand_local_example", BODIES / "stripe-invoice-paid.json")
GITHUB = ("github", "It's a Secret to Everybody", BODIES / "github-issues-opened.json")
SLACK = ("slack", "8f742231b10e8888abcd99yyyzzz85a5", BODIES / "slack-app-mention.json")
TWILIO = ("twilio", "12345", BODIES / "twilio-incoming-sms.txt")
#: Event file → scheme, secret, the body that was sent.
EXPECTED: dict[str, tuple[str, str, Path | bytes]] = {
    "http-api-stripe.json": STRIPE,
    "http-api-stage-stripe.json": STRIPE,
    "function-url-stripe-base64.json": STRIPE,
    "function-url-github.json": GITHUB,
    "http-api-twilio-form.json": TWILIO,
    "http-api-twilio-form-base64.json": TWILIO,
    "rest-slack.json": SLACK,
    "rest-slack-base64.json": SLACK,
    "http-api-binary-base64.json": ("standard-webhooks", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", bytes(range(256))),
}
HANDSHAKES = {"function-url-meta-verification.json", "http-api-slack-url-verification.json"}


def read(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / name).read_text("utf-8"))
    return event


@pytest.mark.parametrize("name", EXPECTED)
def test_a_body_arrives_byte_exact_and_verifies(name):
    scheme, secret, body = EXPECTED[name]
    request = HttpRequest.from_event(read(name))

    assert request.body == (body if isinstance(body, bytes) else body.read_bytes())
    assert request.path.startswith("/hooks/")
    keys = [read_key(secret, SCHEMES[scheme].key_format)]
    url = f"https://hooks.example.com{request.path}"
    assert verify(SCHEMES[scheme], request, keys, now=SIGNED_AT, url=url).key_index == 0


def test_every_event_file_is_used():
    assert {path.name for path in EVENTS.glob("*.json")} == set(EXPECTED) | HANDSHAKES
    assert set(BODIES.iterdir()) == {body for _, _, body in EXPECTED.values() if isinstance(body, Path)}


def test_a_named_stage_is_no_part_of_the_path():
    assert HttpRequest.from_event(read("http-api-stage-stripe.json")).path == "/hooks/stripe"


def test_a_get_request_has_its_raw_query_and_no_body():
    request = HttpRequest.from_event(read("function-url-meta-verification.json"))

    assert (request.method, request.body) == ("GET", b"")
    assert request.raw_query == "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=meatyhamhock"


def test_header_names_are_read_in_any_case():
    event = read("http-api-stripe.json")
    event["headers"] = {name.upper(): value for name, value in event["headers"].items()}

    assert HttpRequest.from_event(event).header("stripe-signature") is not None


def test_repeated_headers_of_a_rest_api_are_joined_by_a_comma():
    event = read("rest-slack.json")
    event["multiValueHeaders"]["X-Twice"] = ["a", "b"]

    assert HttpRequest.from_event(event).header("x-twice") == "a,b"


def test_the_query_string_of_a_rest_api_is_made_from_its_parameters():
    event = read("rest-slack.json")
    event["multiValueQueryStringParameters"] = {"a": ["1", "2"], "b c": ["ü"]}

    assert HttpRequest.from_event(event).raw_query == "a=1&a=2&b+c=%C3%BC"


def test_the_platform_s_request_id_is_kept():
    assert HttpRequest.from_event(read("http-api-stripe.json")).request_id == "JKJaXmPLvHcESHA="


@pytest.mark.parametrize(
    "change",
    [
        {"body": "!!!", "isBase64Encoded": True},
        {"body": "YWJj\n", "isBase64Encoded": True},
        {"body": "\ud800"},
        {"body": 5},
        {"isBase64Encoded": "yes"},
        {"requestContext": None},
        {"requestContext": {}},
        {"rawPath": None},
        {"headers": ["a"]},
        {"headers": {"a": 1}},
    ],
)
def test_an_event_that_the_platform_never_sends_is_malformed(change):
    with pytest.raises(Rejected) as caught:
        HttpRequest.from_event({**read("http-api-stripe.json"), **change})

    assert caught.value.reason is Reason.MALFORMED


@pytest.mark.parametrize("event", [None, [], "x", 1, {}, {"Records": []}])
def test_what_is_no_http_event_is_malformed(event):
    with pytest.raises(Rejected) as caught:
        HttpRequest.from_event(event)

    assert caught.value.reason is Reason.MALFORMED


@pytest.mark.parametrize("encoded", [False, True])
def test_a_body_of_the_cap_is_read_and_one_byte_more_is_too_large(encoded):
    def event(size: int) -> dict[str, Any]:
        body = b"a" * size
        text = base64.b64encode(body).decode() if encoded else body.decode()
        return {**read("http-api-stripe.json"), "body": text, "isBase64Encoded": encoded}

    assert len(HttpRequest.from_event(event(100), largest=100).body) == 100
    with pytest.raises(Rejected) as caught:
        HttpRequest.from_event(event(101), largest=100)
    assert caught.value.reason is Reason.TOO_LARGE
