"""Handshakes: the exact answer of each specification, and no echo of anything that the sender never sends."""

from __future__ import annotations

import hmac
import json
from typing import Any

import pytest

from surehand.webhooks.handshake import signed_handshake, unsigned_handshake
from surehand.webhooks.keys import SecretUnusable, read_key
from surehand.webhooks.place import Reading
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.secrets import Secrets
from surehand.webhooks.table import SCHEMES
from tests.unit.webhooks.vectors import HANDSHAKES, request_of

KEY = read_key("secret", "utf8")
SECRETS = Secrets(keys=(KEY,), verify_token="TOKEN")
SCHEME_OF = {
    "slack-url-verification": "slack",
    "discord-ping-interactions": "discord",
    "meta-hub-challenge": "meta",
    "okta-verification": "okta",
    "cloudevents-options": "cloudevents",
}
#: Answered by the ingress itself (HEAD), or left out of the table (SNS).
ELSEWHERE = {"head-probe", "sns-subscription"}


def answer(scheme: str, request: HttpRequest, secrets: Secrets = SECRETS):
    reading = Reading(request)
    response = unsigned_handshake(SCHEMES[scheme], reading, lambda: secrets)
    return response or signed_handshake(SCHEMES[scheme], reading, secrets.keys[0])


def get(query: str, **headers: str) -> HttpRequest:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpRequest(method="GET", raw_query=query, headers=named)


def post(body: Any, query: str = "") -> HttpRequest:
    return HttpRequest(method="POST", raw_query=query, body=json.dumps(body).encode())


@pytest.mark.parametrize("vector", [v for v in HANDSHAKES if v["id"] not in ELSEWHERE], ids=lambda v: str(v["id"]))
def test_a_handshake_of_the_vectors_has_its_exact_answer(vector):
    response = answer(SCHEME_OF[vector["id"]], request_of(vector))

    expected = vector["response"]
    assert response is not None
    assert response.status == expected["status"]
    if "body_utf8" in expected:
        assert response.body == expected["body_utf8"]
    if "body_json" in expected:
        assert json.loads(response.body) == expected["body_json"]
    if "content_type" in expected:
        assert response.headers["content-type"].startswith(expected["content_type"])
    for name, value in expected.get("headers", {}).items():
        assert response.headers[name.lower()] == value


def test_every_handshake_of_the_vectors_is_covered():
    assert {vector["id"] for vector in HANDSHAKES} == set(SCHEME_OF) | ELSEWHERE


def test_zoom_is_told_the_hmac_of_its_plain_token():
    response = answer(
        "zoom", post({"event": "endpoint.url_validation", "payload": {"plainToken": "qgg8vlvZRS6UYooatFL8Aw"}})
    )

    encrypted = hmac.digest(b"secret", b"qgg8vlvZRS6UYooatFL8Aw", "sha256").hex()
    assert json.loads(response.body) == {"plainToken": "qgg8vlvZRS6UYooatFL8Aw", "encryptedToken": encrypted}


def test_dropbox_gets_its_challenge_as_text_that_is_never_sniffed():
    response = answer("dropbox", get("challenge=abc123"))

    assert (response.status, response.body) == (200, "abc123")
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.to_event()["headers"]["x-content-type-options"] == "nosniff"


def test_graph_gets_its_token_decoded():
    response = answer("graph", post({}, "validationToken=Validation%3A+Testing+client+1%2Fa"))

    assert (response.status, response.body) == (200, "Validation: Testing client 1/a")


def test_x_is_told_the_hmac_of_its_crc_token():
    """The value is OpenSSL's: `printf abc | openssl dgst -sha256 -hmac secret -binary | base64`."""
    response = answer("x-twitter", get("crc_token=abc"))

    assert json.loads(response.body) == {"response_token": "sha256=mUba1OAOkT/Ivo5dP34RCkqegy+D+wnDRShdeGONig4="}


@pytest.mark.parametrize("token", ["%7B%22for_user_id%22%3A1%7D", "1.0", "a+b", "v0:1:x"])
def test_the_crc_check_signs_nothing_that_could_be_an_event(token):
    """It is signed with the key of the events: a body here would be a signature for anybody's event."""
    with pytest.raises(Rejected) as caught:
        answer("x-twitter", get(f"crc_token={token}"))

    assert caught.value.reason is Reason.MALFORMED


def test_discord_s_event_ping_is_answered_204():
    assert answer("discord", post({"version": 1, "type": 0})).status == 204


def test_a_discord_event_is_not_taken_for_the_ping_of_an_interaction():
    assert answer("discord", post({"version": 1, "type": 1, "event": {"type": "ENTITLEMENT_CREATE"}})) is None


def test_meta_with_the_wrong_verify_token_is_forbidden():
    with pytest.raises(Rejected) as caught:
        answer("meta", get("hub.mode=subscribe&hub.verify_token=WRONG&hub.challenge=1"))

    assert caught.value.status == 403


def test_meta_without_a_stored_verify_token_is_a_configuration_error():
    with pytest.raises(SecretUnusable, match="verify_token"):
        answer("meta", get("hub.mode=subscribe&hub.verify_token=&hub.challenge=1"), Secrets(keys=(KEY,)))


@pytest.mark.parametrize(
    ("scheme", "request_"),
    [
        ("dropbox", get("challenge=%3Cscript%3Ealert(1)%3C/script%3E")),
        ("dropbox", get("challenge=")),
        ("dropbox", get("challenge=" + "a" * 1025)),
        ("meta", get("hub.mode=subscribe&hub.verify_token=TOKEN&hub.challenge=%3Cb%3E")),
        ("okta", get("", x_okta_verification_challenge='"><')),
        ("graph", post({}, "validationToken=%3Cscript%3E")),
        ("graph", post({}, "validationToken=a%0D%0Aset-cookie:x")),
        ("slack", post({"type": "url_verification", "challenge": "<svg onload=x>"})),
        ("slack", post({"type": "url_verification"})),
        ("zoom", post({"event": "endpoint.url_validation", "payload": {"plainToken": "v0:1:x"}})),
        ("cloudevents", HttpRequest(method="OPTIONS", headers={"webhook-request-origin": "a\r\nx: y"})),
        (
            "cloudevents",
            HttpRequest(method="OPTIONS", headers={"webhook-request-origin": "a", "webhook-request-rate": "*/<"}),
        ),
    ],
)
def test_nothing_is_echoed_that_the_sender_never_sends(scheme, request_):
    with pytest.raises(Rejected) as caught:
        answer(scheme, request_)

    assert caught.value.reason is Reason.MALFORMED


def test_the_callback_of_a_cloudevents_handshake_is_never_called():
    headers = {"webhook-request-origin": "a.example", "webhook-request-callback": "https://169.254.169.254/"}

    response = answer("cloudevents", HttpRequest(method="OPTIONS", headers=headers))

    assert dict(response.headers) == {"webhook-allowed-origin": "a.example", "allow": "POST"}


@pytest.mark.parametrize("scheme", [name for name, row in SCHEMES.items() if row.handshakes])
def test_an_ordinary_event_is_no_handshake(scheme):
    assert answer(scheme, post({"type": "event_callback", "event": {"type": "x"}})) is None
