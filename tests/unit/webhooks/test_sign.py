"""Signing for local use, and the explanation of a refusal."""

from __future__ import annotations

import base64
import json
import shlex
from dataclasses import replace
from datetime import timedelta

import pytest

from surehand.errors import DeclarationError
from surehand.webhooks.explain import explain
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.sign import curl, sign
from surehand.webhooks.table import SCHEMES
from tests.unit.webhooks.samples import NOW, OTHER, URL, sample, unsigned

STRIPE = sample("stripe")


def test_the_stripe_header_is_what_stripe_sends():
    assert STRIPE.request.headers["stripe-signature"].startswith(f"t={int(NOW.timestamp())},v1=")


def test_an_id_that_is_in_the_header_already_is_kept_and_a_given_one_wins():
    request = unsigned("standard-webhooks").with_headers({"webhook-id": "msg_1"})
    secret = sample("standard-webhooks").secret

    assert sign(SCHEMES["standard-webhooks"], request, secret, now=NOW).headers["webhook-id"] == "msg_1"
    given = sign(SCHEMES["standard-webhooks"], request, secret, now=NOW, event_id="msg_2")
    assert given.headers["webhook-id"] == "msg_2"


def test_a_topic_that_is_part_of_the_id_is_no_place_for_an_id():
    signed = sign(SCHEMES["shopify"], unsigned("shopify"), sample("shopify").secret, now=NOW, event_id="ev_2")

    assert (signed.headers["x-shopify-topic"], signed.headers["x-shopify-event-id"]) == ("orders/create", "ev_2")


def test_linear_s_time_in_the_body_is_set():
    body = json.loads(sample("linear").request.body)

    assert body["webhookTimestamp"] == int(NOW.timestamp() * 1000)


def test_a_scheme_that_signs_the_url_needs_it():
    with pytest.raises(DeclarationError, match="URL"):
        sign(SCHEMES["square"], unsigned("square"), "secret", now=NOW)


def test_a_verifier_that_cannot_sign_says_so():
    class Reads:
        needs_url = False

        def verify(self, request, keys, *, now, url):
            raise Rejected(Reason.BAD_SIGNATURE)

    with pytest.raises(DeclarationError, match="sign"):
        sign(Scheme(name="bank", verifier=Reads()), unsigned("stripe"), "secret", now=NOW)


def test_the_curl_command_survives_a_shell():
    request = replace(STRIPE.request, body=b"it's $HOME `x`", raw_query="a=1&b=2")
    words = shlex.split(curl(request, "http://127.0.0.1:4566/hooks/stripe"))

    assert words[:4] == ["curl", "--request", "POST", "http://127.0.0.1:4566/hooks/stripe?a=1&b=2"]
    assert words[-2:] == ["--data-binary", "it's $HOME `x`"]
    assert f"stripe-signature: {request.headers['stripe-signature']}" in words
    assert curl(request, "http://a", body_file="event.json").endswith("--data-binary @event.json")


def test_a_curl_command_cannot_hold_a_binary_body():
    with pytest.raises(ValueError, match="utf-8"):
        curl(replace(STRIPE.request, body=b"\xff"), "http://a")


# --- Explanations ----------------------------------------------------------------------------------------------------


def why(request: HttpRequest, secret: str = STRIPE.stored, scheme: str = "stripe", *, now=NOW, url=None) -> str:
    explanation = explain(SCHEMES[scheme], request, [secret], now=now, url=url)
    text = f"{explanation.reason}: {explanation.detail}; {'; '.join(explanation.hints)}"

    assert not explanation.accepted
    assert secret not in text
    assert "v1=" not in text
    return text


def test_an_accepted_request_is_told_with_the_key_s_fingerprint():
    explanation = explain(STRIPE.scheme, STRIPE.request, [OTHER["utf8"], STRIPE.stored], now=NOW)

    assert explanation.accepted
    assert explanation.fingerprints[1] in explanation.detail


def test_a_stale_request_is_explained_by_its_age():
    assert "made 1:00:00 before the given time" in why(STRIPE.request, now=NOW + timedelta(hours=1))


def test_a_missing_signature_is_explained_by_the_scheme_that_is_there():
    assert "which scheme 'github' uses" in why(sample("github").request)


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (STRIPE.request.body + b"\n", "without the line end"),
        (json.dumps(json.loads(STRIPE.request.body), indent=2).encode(), "parsed and written again"),
    ],
)
def test_a_changed_body_is_explained(body, hint):
    assert hint in why(replace(STRIPE.request, body=body))


def test_a_changed_body_of_a_request_that_is_old_by_now_is_explained():
    request = replace(STRIPE.request, body=STRIPE.request.body + b"\n")

    assert "without the line end" in why(request, now=NOW + timedelta(days=1))


def test_a_body_that_is_still_base64_is_explained():
    assert "still base64" in why(replace(STRIPE.request, body=base64.b64encode(STRIPE.request.body)))


def test_a_key_that_was_read_in_the_wrong_format_is_explained():
    signed = sample("standard-webhooks")
    literal = replace(signed.scheme, name="acme", key_format="utf8")
    explanation = explain(literal, signed.request, [signed.stored], now=NOW)

    assert "the key is meant as whsec, not as utf8" in explanation.hints


def test_another_url_is_explained():
    assert "slash at its end" in why(
        sign(SCHEMES["square"], unsigned("square"), STRIPE.secret, now=NOW, url=f"{URL}/"), scheme="square", url=URL
    )


def test_what_nothing_explains_says_what_to_compare():
    assert "compare the key's fingerprint" in why(STRIPE.request, OTHER["utf8"])
