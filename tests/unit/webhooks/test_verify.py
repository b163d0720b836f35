"""The engine: every row accepts its own sender, several keys at once, within its tolerance to the second."""

from __future__ import annotations

import base64
import hmac
from dataclasses import replace
from datetime import timedelta

import pytest

from surehand.errors import DeclarationError
from surehand.webhooks.keys import read_key
from surehand.webhooks.rejection import Reason, Rejected
from surehand.webhooks.scheme import Scheme
from surehand.webhooks.sign import sign
from surehand.webhooks.table import SCHEMES
from surehand.webhooks.verify import verify
from tests.unit.webhooks.samples import NOW, OTHER, SECRETS, URL, sample, unsigned

TOLERANCES = {name: scheme.tolerance for name, scheme in SCHEMES.items() if scheme.tolerance is not None}


def refused(scheme, request, keys, *, now=NOW, url=None) -> Reason:
    with pytest.raises(Rejected) as caught:
        verify(scheme, request, keys, now=now, url=url)
    return caught.value.reason


def accepts(scheme, request, keys, *, now=NOW, url=None) -> bool:
    return verify(scheme, request, keys, now=now, url=url).key_index == 0


@pytest.mark.parametrize("name", SCHEMES)
def test_every_row_accepts_what_its_sender_signs(name):
    signed = sample(name)

    verified = verify(signed.scheme, signed.request, signed.keys, now=NOW, url=signed.url)

    assert verified.key_id == signed.keys[0].id
    assert verified.signed_at == (NOW if signed.scheme.timestamp else None)


@pytest.mark.parametrize("name", SCHEMES)
def test_every_row_refuses_another_key(name):
    signed = sample(name)
    keys = [read_key(OTHER[signed.scheme.key_format], signed.scheme.key_format)]

    assert refused(signed.scheme, signed.request, keys, url=signed.url) is Reason.BAD_SIGNATURE


@pytest.mark.parametrize("name", SCHEMES)
def test_every_row_refuses_a_request_without_a_signature(name):
    signed = sample(name)

    assert refused(signed.scheme, unsigned(name), signed.keys, url=signed.url) is Reason.MISSING_SIGNATURE


@pytest.mark.parametrize("name", SCHEMES)
def test_the_second_of_two_keys_is_told_by_its_index_and_fingerprint(name):
    signed = sample(name)
    keys = [read_key(OTHER[signed.scheme.key_format], signed.scheme.key_format, label="AWSCURRENT"), *signed.keys]

    verified = verify(signed.scheme, signed.request, keys, now=NOW, url=signed.url)

    assert (verified.key_index, verified.key_id) == (1, signed.keys[0].id)


@pytest.mark.parametrize("name", SCHEMES)
def test_no_key_accepts_nothing(name):
    signed = sample(name)

    assert refused(signed.scheme, signed.request, [], url=signed.url) is Reason.BAD_SIGNATURE


@pytest.mark.parametrize("name", TOLERANCES)
@pytest.mark.parametrize("second", [-1, 0])
def test_a_request_as_old_as_the_tolerance_is_fresh(name, second):
    signed = sample(name)
    now = NOW + TOLERANCES[name] + timedelta(seconds=second)

    assert verify(signed.scheme, signed.request, signed.keys, now=now, url=signed.url).signed_at == NOW


@pytest.mark.parametrize("name", TOLERANCES)
def test_a_request_a_second_older_than_the_tolerance_is_stale(name):
    signed = sample(name)
    now = NOW + TOLERANCES[name] + timedelta(seconds=1)

    assert refused(signed.scheme, signed.request, signed.keys, now=now, url=signed.url) is Reason.STALE


@pytest.mark.parametrize("name", TOLERANCES)
@pytest.mark.parametrize("second", [-1, 0])
def test_a_request_ahead_of_the_clock_within_the_tolerance_is_fresh(name, second):
    signed = sample(name)
    ahead = min(TOLERANCES[name], timedelta(minutes=10))
    now = NOW - ahead - timedelta(seconds=second)

    assert accepts(signed.scheme, signed.request, signed.keys, now=now, url=signed.url)


@pytest.mark.parametrize("name", TOLERANCES)
def test_a_request_a_second_further_ahead_is_from_the_future(name):
    signed = sample(name)
    now = NOW - min(TOLERANCES[name], timedelta(minutes=10)) - timedelta(seconds=1)

    assert refused(signed.scheme, signed.request, signed.keys, now=now, url=signed.url) is Reason.FROM_THE_FUTURE


@pytest.mark.parametrize("name", TOLERANCES)
def test_a_stale_forgery_is_told_as_a_forgery(name):
    signed = sample(name)
    keys = [read_key(OTHER[signed.scheme.key_format], signed.scheme.key_format)]

    assert refused(signed.scheme, signed.request, keys, now=NOW + timedelta(days=9), url=signed.url) is (
        Reason.BAD_SIGNATURE
    )


def test_the_last_retry_of_linear_which_keeps_its_first_time_is_accepted():
    signed = sample("linear")
    late = NOW + (SCHEMES["linear"].retry_window or timedelta(0))

    assert accepts(signed.scheme, signed.request, signed.keys, now=late)


@pytest.mark.parametrize(
    "timestamp", ["", "abc", "-1", "+1764417600", "1764417600.5", "1e9", "Infinity", "١٧٦٤", "9" * 40]
)
def test_a_timestamp_that_is_no_unix_time_is_malformed(timestamp):
    signed = sample("slack")
    request = signed.request.with_headers({"x-slack-request-timestamp": timestamp})

    assert refused(signed.scheme, request, signed.keys) is Reason.MALFORMED_SIGNATURE


def test_an_id_that_contains_the_separator_is_malformed():
    """`a.1` signed at `2` and `a` signed at `1.2` would be the same signed content."""
    signed = sample("standard-webhooks")
    request = signed.request.with_headers({"webhook-id": "a.1"})

    assert refused(signed.scheme, request, signed.keys) is Reason.MALFORMED_SIGNATURE


def test_one_of_several_signatures_of_a_rotating_sender_is_enough():
    signed = sample("standard-webhooks")
    header = signed.request.headers["webhook-signature"]
    request = signed.request.with_headers({"webhook-signature": f"v1a,AAAA v1,{'A' * 43}= {header}"})

    assert accepts(signed.scheme, request, signed.keys, now=NOW)


def test_either_of_box_s_two_headers_is_enough():
    signed = sample("box")
    header = signed.request.headers["box-signature-primary"]
    secondary = {"box-signature-secondary": header, "box-signature-primary": "A" * 43 + "="}

    assert accepts(signed.scheme, signed.request.with_headers(secondary), signed.keys, now=NOW)


def test_the_fake_v0_signature_of_stripe_s_test_events_is_ignored():
    signed = sample("stripe")
    header = signed.request.headers["stripe-signature"].replace("v1=", "v0=")

    assert refused(signed.scheme, signed.request.with_headers({"stripe-signature": header}), signed.keys) is (
        Reason.MALFORMED_SIGNATURE
    )


def test_svix_accepts_the_standard_header_names_too():
    scheme = SCHEMES["svix"]
    secret, stored = SECRETS["whsec"]
    request = sign(SCHEMES["standard-webhooks"], unsigned("svix"), secret, now=NOW)

    assert verify(scheme, request, [read_key(stored, "whsec")], now=NOW).event_id == "evt_local_1"


def test_a_shorter_signature_is_never_enough():
    """RUSTSEC-2024-0010: a prefix comparison accepted the empty signature."""
    signed = sample("github")
    header = signed.request.headers["x-hub-signature-256"]

    for length in range(0, 64, 2):
        request = signed.request.with_headers({"x-hub-signature-256": header[: len("sha256=") + length]})
        assert refused(signed.scheme, request, signed.keys) in (Reason.BAD_SIGNATURE, Reason.MALFORMED_SIGNATURE)


def test_every_item_of_a_graph_notification_must_carry_the_token():
    signed = sample("graph")
    body = signed.request.body
    forged = replace(signed.request, body=body.replace(b'"clientState":"a-literal-secret"', b'"clientState":"x"', 1))

    assert body != forged.body
    assert refused(signed.scheme, forged, signed.keys) is Reason.BAD_SIGNATURE


def test_an_item_of_a_graph_notification_without_a_token_is_refused():
    signed = sample("graph")
    forged = replace(signed.request, body=signed.request.body.replace(b',"clientState":"a-literal-secret"', b"", 1))

    assert refused(signed.scheme, forged, signed.keys) is Reason.BAD_SIGNATURE


def test_every_item_of_an_adyen_notification_is_verified():
    """The vendor's library looks at the first one only."""
    signed = sample("adyen")
    second = signed.request.body.rindex(b'"value":1130')
    forged = replace(
        signed.request,
        body=signed.request.body[:second] + b'"value":9999' + signed.request.body[second + len(b'"value":1130') :],
    )

    assert refused(signed.scheme, forged, signed.keys) is Reason.BAD_SIGNATURE


def test_only_the_merchant_s_reference_of_an_adyen_item_may_contain_a_colon():
    """Nothing is escaped there, so a second field with a colon could be cut in two ways."""
    signed = sample("adyen")
    forged = replace(
        signed.request,
        body=signed.request.body.replace(b'"merchantAccountCode":"Shop"', b'"merchantAccountCode":"Shop:order"'),
    )

    assert refused(signed.scheme, forged, signed.keys) is Reason.MALFORMED


def test_the_bearer_token_may_stand_in_the_query_string():
    signed = sample("cloudevents")
    headers = {name: value for name, value in signed.request.headers.items() if name != "authorization"}
    request = replace(signed.request, headers=headers, raw_query="access_token=a-literal-secret")

    assert accepts(signed.scheme, request, signed.keys, now=NOW)


def test_a_scheme_that_signs_the_url_cannot_be_verified_without_one():
    signed = sample("square")

    with pytest.raises(DeclarationError, match="url"):
        verify(signed.scheme, signed.request, signed.keys, now=NOW)


def test_the_host_header_has_no_say_in_the_signed_url():
    signed = sample("hubspot-v3")
    request = signed.request.with_headers({"host": "evil.example", "x-forwarded-host": "evil.example"})

    assert accepts(signed.scheme, request, signed.keys, now=NOW, url=URL)
    assert refused(signed.scheme, request, signed.keys, url="https://evil.example/hooks/source") is Reason.BAD_SIGNATURE


def test_a_body_cannot_be_moved_into_the_query_string_of_hubspot():
    signed = sample("hubspot-v3")
    moved = replace(signed.request, raw_query=signed.request.body.decode(), body=b"")

    assert refused(signed.scheme, moved, signed.keys, url=URL) is Reason.MALFORMED_SIGNATURE


def test_twilio_is_verified_with_and_without_the_port():
    signed = sample("twilio")

    assert accepts(signed.scheme, signed.request, signed.keys, now=NOW, url=URL.replace(".com/", ".com:443/"))


def test_a_twilio_body_that_is_no_form_is_bound_by_its_hash_in_the_url():
    scheme = SCHEMES["twilio"]
    json_request = replace(unsigned("stripe"), body=b'{"a":1}')
    request = sign(scheme, json_request, "token", now=NOW, url=URL)
    keys = [read_key("token", "utf8")]

    assert accepts(scheme, request, keys, now=NOW, url=URL)
    assert refused(scheme, replace(request, body=b'{"a":2}'), keys, url=URL) is Reason.BAD_SIGNATURE
    assert refused(scheme, replace(request, raw_query=""), keys, url=URL) is Reason.MISSING_SIGNATURE


def test_a_house_scheme_takes_five_lines():
    acme = Scheme(
        name="acme",
        signature="header:x-acme-sig",
        timestamp="header:x-acme-time",
        signed="{timestamp}.{body}",
    )
    request = sign(acme, unsigned("stripe"), "secret", now=NOW)

    assert verify(acme, request, [read_key("secret", "utf8")], now=NOW).signed_at == NOW
    assert refused(acme, replace(request, body=b"{}"), [read_key("secret", "utf8")]) is Reason.BAD_SIGNATURE


def test_a_verifier_of_one_s_own_takes_the_place_of_the_row():
    class Nobody:
        needs_url = False

        def verify(self, request, keys, *, now, url):
            raise Rejected(Reason.BAD_SIGNATURE)

    assert refused(Scheme(name="bank", verifier=Nobody()), unsigned("stripe"), []) is Reason.BAD_SIGNATURE


def test_an_iso_time_without_a_zone_is_malformed():
    signed = sample("box")
    request = signed.request.with_headers({"box-delivery-timestamp": "2026-11-29T12:00:00"})

    assert refused(signed.scheme, request, signed.keys) is Reason.MALFORMED_SIGNATURE


def test_the_escapes_that_hubspot_decodes_are_decoded_and_no_others():
    """The signed text is written out here by hand, after HubSpot's own list."""
    request = replace(unsigned("hubspot-v3"), raw_query="a=%3a%2F%3F%40%21%24%27%28%29%2A%2C%3B&b=%20%3D%7B")
    timestamp = str(int(NOW.timestamp() * 1000))
    signed = b"POST" + URL.encode() + b"?a=:/?@!$'()*,;&b=%20%3D%7B" + request.body + timestamp.encode()
    signature = base64.b64encode(hmac.digest(b"secret", signed, "sha256")).decode()
    headers = {"x-hubspot-signature-v3": signature, "x-hubspot-request-timestamp": timestamp}

    assert accepts(SCHEMES["hubspot-v3"], request.with_headers(headers), [read_key("secret", "utf8")], url=URL)


def test_twilio_s_shared_keys_sign_with_the_algorithm_that_their_header_names():
    body = b"A=1"
    signature = base64.b64encode(hmac.digest(b"secret", URL.encode() + b"A1", "sha256")).decode()
    headers = {"x-twilio-signature": signature, "x-twilio-webhooks-signature-settings": "key=k,algorithm=HMAC_SHA256"}
    request = replace(unsigned("twilio"), body=body).with_headers(headers)
    keys = [read_key("secret", "utf8")]

    assert accepts(SCHEMES["twilio"], request, keys, url=URL)
    unknown = request.with_headers({"x-twilio-webhooks-signature-settings": "algorithm=NONE"})
    assert refused(SCHEMES["twilio"], unknown, keys, url=URL) is Reason.MALFORMED_SIGNATURE


def test_a_twilio_form_that_is_no_utf_8_is_malformed():
    """Read leniently, %FF and %FE would be the same character, and so have the same signature."""
    signed = sample("twilio")

    assert refused(signed.scheme, replace(signed.request, body=b"A=%FF"), signed.keys, url=URL) is Reason.MALFORMED
