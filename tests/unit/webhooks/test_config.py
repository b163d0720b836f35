"""Sources as text: what infra writes, the ingress reads, without importing a handler."""

from __future__ import annotations

import sys
from datetime import timedelta

import pytest

from surehand.errors import ConfigurationError, DeclarationError
from surehand.webhooks.config import dump_sources, load_sources
from surehand.webhooks.scheme import Answer, Scheme
from surehand.webhooks.source import Source
from surehand.webhooks.table import SCHEMES
from surehand.webhooks.twilio import TwilioVerifier
from tests.unit.webhooks.world import source

HOUSE = Scheme(
    name="acme",
    signature=("header:x-acme-sig", "header:x-acme-sig-2"),
    timestamp="header:x-acme-time",
    signed="{timestamp}.{body}",
    tolerance=None,
    success=Answer(202, "ok", "text/plain"),
    retry_after=timedelta(seconds=0.5),
)
OWN = Scheme(name="own", verifier=TwilioVerifier(), body_signed="partial")


def back(one: Source) -> Source:
    return load_sources(dump_sources([one]), lambda _: one.queue)[one.name]


@pytest.mark.parametrize("name", SCHEMES)
def test_a_source_of_every_row_comes_back(name):
    assert back(source(name)) == source(name)


def test_a_house_scheme_and_every_field_of_a_source_come_back():
    one = source(
        HOUSE,
        tenants=frozenset({"b", "a"}),
        secret="s/{tenant}",
        types=frozenset({"push"}),
        drop_types=frozenset({"ping"}),
        state="drain",
        largest=1000,
        url="https://a.example/hooks/source",
    )

    assert back(one) == one


def test_a_known_row_goes_by_its_name_alone():
    assert dump_sources([source("stripe", name="stripe")]) == (
        '[{"name":"stripe","secret":"shop/test/webhooks/source","scheme":"stripe"}]'
    )


def test_a_scheme_with_a_verifier_is_found_where_it_stands(monkeypatch):
    monkeypatch.setitem(sys.modules, "house", type(sys)("house"))
    sys.modules["house"].OWN = OWN  # type: ignore[attr-defined]
    one = source(OWN, url="https://a.example/hooks/source")

    assert load_sources(dump_sources([one], verifiers={"own": "house:OWN"}), str)["source"].scheme is OWN


def test_a_scheme_with_a_verifier_that_stands_nowhere_is_refused():
    with pytest.raises(DeclarationError, match="attribute of a module"):
        dump_sources([source(OWN)])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}x",
        "5",
        "[5]",
        "[{}]",
        '[{"scheme":"unknown"}]',
        '[{"scheme":"no.such.module:X"}]',
        '[{"scheme":"json:loads"}]',
    ],
)
def test_a_text_that_cannot_be_read_is_a_configuration_error(text):
    with pytest.raises(ConfigurationError):
        load_sources(text, str)


def test_no_source_is_no_error():
    assert load_sources("[]", str) == {}
