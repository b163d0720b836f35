"""The vendors' own libraries sign, and we accept; on what is mutated we agree, or the difference is listed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import Adyen.util
import pytest
from twilio.request_validator import RequestValidator  # type: ignore[import-untyped]

from surehand.webhooks.request import HttpRequest
from tests.contracts.webhooks.differences import DIFFERENCES
from tests.contracts.webhooks.mutations import AGES, OF_SIGNATURE, OF_TIMESTAMP
from tests.contracts.webhooks.vendor import URL
from tests.contracts.webhooks.vendors import ADYEN_KEY, VENDORS, adyen_body, adyen_item

BODY = b'{"id":"evt_1","type":"a"}'
FORM_BODY = b"MessageSid=SM1&MessageStatus=sent&From=%2B1"
TIMED = sorted(name for name, vendor in VENDORS.items() if vendor.timestamp is not None)


def now() -> datetime:
    return datetime.now(UTC)


def body_of(name: str) -> bytes:
    return FORM_BODY if name == "twilio" else BODY


@pytest.mark.parametrize("name", VENDORS)
def test_what_the_vendor_signs_is_accepted(name):
    vendor = VENDORS[name]
    for body in vendor.bodies:
        signed = vendor.sign(body, now())

        assert vendor.accepts(signed), body
        assert vendor.we_accept(signed, now=now()), body


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize("what", OF_SIGNATURE)
def test_both_judge_a_mutated_request_alike(name, what):
    vendor = VENDORS[name]
    mutated = OF_SIGNATURE[what](vendor.sign(body_of(name), now()), vendor.signature)

    vendor.compare(mutated, what, now=now())


@pytest.mark.parametrize("name", TIMED)
@pytest.mark.parametrize("what", OF_TIMESTAMP)
def test_both_judge_a_mutated_timestamp_alike(name, what):
    vendor = VENDORS[name]
    mutated = OF_TIMESTAMP[what](vendor.sign(body_of(name), now()), str(vendor.timestamp))

    vendor.compare(mutated, what, now=now())


@pytest.mark.parametrize("name", sorted({*TIMED, "stripe", "paddle"}))
@pytest.mark.parametrize("age", AGES)
def test_both_judge_an_old_or_early_request_alike(name, age):
    vendor = VENDORS[name]
    signed = vendor.sign(body_of(name), now() - timedelta(seconds=age))

    vendor.compare(signed, f"signed {age} s ago", now=now())


def test_every_listed_difference_is_one_that_is_tested():
    tested = {*OF_SIGNATURE, *OF_TIMESTAMP, *(f"signed {age} s ago" for age in AGES)}

    assert {vendor for vendor, _ in DIFFERENCES} <= set(VENDORS)
    assert {what for _, what in DIFFERENCES} <= tested


def test_a_body_that_twilio_s_url_does_not_bind_passes_the_library_and_is_refused_here():
    """A web framework finds no form fields in such a body, and hands none to the library."""
    validator = RequestValidator("12345")
    signature = validator.compute_signature(URL, {})
    headers = {"x-twilio-signature": signature, "content-type": "application/json"}

    assert validator.validate(URL, {}, signature)
    assert not VENDORS["twilio"].we_accept(
        HttpRequest(method="POST", headers=headers, body=b'{"any":"body"}'), now=now()
    )


# --- Adyen's payments: a signature in each item ----------------------------------------------------------------------


def adyen_library(*items: dict[str, object]) -> bool:
    return bool(Adyen.util.is_valid_hmac_notification(json.loads(adyen_body(*items)), ADYEN_KEY))


def we_accept(*items: dict[str, object]) -> bool:
    vendor = replace(VENDORS["adyen-platform"], name="adyen")
    return vendor.we_accept(HttpRequest(method="POST", body=adyen_body(*items)), now=now())


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"merchantReference": "a:b\\\\c/d ü"},
        {"amount": {"currency": "JPY", "value": 0}},
        {"originalReference": "8313547924770610"},
        {"success": "false"},
    ],
)
def test_an_item_that_adyen_s_library_signs_is_accepted(changed):
    assert adyen_library(adyen_item(**changed))
    assert we_accept(adyen_item(**changed))


@pytest.mark.parametrize(
    "field", ["pspReference", "originalReference", "merchantAccountCode", "merchantReference", "eventCode", "success"]
)
def test_both_refuse_an_item_of_which_a_signed_field_was_changed(field):
    forged = {**adyen_item(), field: "x"}

    assert (adyen_library(forged), we_accept(forged)) == (False, False)


@pytest.mark.parametrize("field", ["eventDate", "reason"])
def test_both_accept_an_item_of_which_an_unsigned_field_was_changed(field):
    changed = {**adyen_item(), field: "x"}

    assert (adyen_library(changed), we_accept(changed)) == (True, True)


def test_a_forged_second_item_passes_the_library_and_is_refused_here():
    forged = {**adyen_item(pspReference="2"), "amount": {"currency": "EUR", "value": 999_999}}

    assert (adyen_library(adyen_item(), forged), we_accept(adyen_item(), forged)) == (True, False)


def test_a_colon_in_another_field_than_the_merchant_s_reference_passes_the_library_and_is_refused_here():
    """`Shop` + `a:b` and `Shop:a` + `b` are signed alike: nothing is escaped."""
    honest = adyen_item(merchantReference="a:b")
    shifted = {**honest, "merchantAccountCode": "Shop:a", "merchantReference": "b"}

    assert (adyen_library(shifted), we_accept(shifted)) == (True, False)
