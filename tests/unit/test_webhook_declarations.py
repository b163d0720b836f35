"""What `@webhook` takes, refuses and gives to its handler."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from surehand import DeclarationError, Job, Scheme, queue, webhook
from surehand.declare.receiving import Receiving
from surehand.webhooks.table import SCHEMES


class Event(BaseModel):
    """A payload."""

    id: str
    type: str


class Loose(TypedDict):
    """Another one."""

    id: str


def receiving(**options: Any) -> Receiving:
    """Declare a handler with these options and return what it says of its sender."""

    def take(event: Event) -> None:
        """Take it."""

    found = webhook("billing", **({"scheme": "stripe"} | options))(take).options.webhook
    assert found is not None
    return found


def test_the_secret_has_a_name_that_follows_from_service_stage_and_handler():
    assert receiving().source("billing", service="shop", stage="prod").secret == "shop/prod/webhooks/billing"


def test_the_placeholders_of_secret_and_url_are_filled_in_and_the_tenant_is_left_to_the_request():
    declared = receiving(
        scheme="square",
        secret="{stage}/{name}/{tenant}",
        tenants=["a", "b"],
        url="https://hooks.{stage}.example.com/hooks/billing",
    )

    source = declared.source("billing", service="shop", stage="prod")

    assert source.secret_of("a") == "prod/billing/a"
    assert source.public_url("b") == "https://hooks.prod.example.com/hooks/billing/b"


def test_a_scheme_is_a_row_of_the_table_or_one_of_the_user_s_own():
    house = Scheme(name="house", signature="header:x-house-signature")

    assert receiving().scheme is SCHEMES["stripe"]
    assert receiving(scheme=house).scheme is house


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scheme": "strip"}, "Did you mean 'stripe'"),
        ({"scheme": "nobody"}, "The table has adyen"),
        ({"scheme": "square"}, "url: scheme 'square' signs the public URL"),
        ({"secret": "a/{tenant}"}, "the path has none"),
        ({"tenants": ["a"]}, "tenants share one secret"),
        ({"tenants": ["a"], "tenant": "id", "tenant_in": "body:id"}, "drop tenant="),
        ({"tenants": ["a b"], "tenant_in": "body:id"}, "1 to 64 characters"),
        ({"tenants": "any", "secret": "a/{tenant}"}, "a stranger would choose"),
        ({"tenants": "any", "tenant_in": "header:x-shop"}, "is not signed"),
        ({"types": "invoice.paid"}, r"types='invoice.paid' is one text.*Write types=\['invoice.paid'\]"),
        ({"drop_types": "invoice.paid"}, "drop_types='invoice.paid' is one text"),
        ({"tenants": "acme", "tenant_in": "body:id"}, "tenants='acme' is one text"),
        ({"types": [1]}, "holds 1, but it takes texts"),
        ({"largest": 5 * 1024 * 1024}, "from 1 to"),
        ({"secrt": "x"}, "Did you mean 'secret'"),
        ({"key": "missing"}, "no attribute 'missing'"),
        ({"group": "id"}, "no option 'group'"),
    ],
)
def test_what_cannot_work_is_refused_at_import_with_the_handler_s_name(options: dict[str, Any], said: str):
    with pytest.raises(DeclarationError, match=said) as caught:
        receiving(**options)
    assert "billing" in str(caught.value)


def test_a_name_of_another_handler_cannot_be_taken_for_a_source():
    with pytest.raises(DeclarationError, match="lower-case"):
        webhook("Not A Name", scheme="stripe")


@webhook("typed", scheme="stripe")
def typed(event: Event, job: Job) -> str:
    """Takes a model."""
    return event.type


@webhook("plain", scheme="stripe", key="id")
def plain(event: Loose) -> None:
    """Takes a TypedDict, with a key of its own."""


@webhook("raw", scheme="github")
def raw(body: bytes) -> int:
    """Takes the body as it was sent."""
    return len(body)


def test_a_payload_without_its_envelope_has_the_key_that_the_scheme_gives_to_its_body():
    event = Event(id="evt_1", type="invoice.paid")

    assert typed.identify(event, typed.payload.dump(event)).operation == '["typed",null,["typed#evt_1"]]'
    assert typed.run(event) == "invoice.paid"


def test_a_declared_key_takes_the_place_of_the_scheme_s():
    assert plain.identify({"id": "evt_1"}, b"{}").operation == '["plain",null,["evt_1"]]'


def test_bytes_are_a_payload_as_they_were_sent():
    assert raw.payload.validate(b"\xff{") == b"\xff{"
    assert raw.run(b"\x00\x01") == 2


def test_only_a_webhook_may_take_bytes():
    with pytest.raises(DeclarationError, match="cannot be annotated as bytes"):

        @queue("bytes-by-queue", key=lambda body: body)
        def take(body: bytes) -> None:
            """Take it."""


def test_a_webhook_that_names_no_tenant_has_the_path_s():
    identity = typed.identify(Event(id="1", type="t"), b"{}", key="typed/acme#1", tenant="acme")

    assert json.loads(identity.operation) == ["typed", "acme", ["typed/acme#1"]]
    assert identity.tenant == "acme"
