"""Stripe's events, from its signed request to the shop's books."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from handlers.billing import InvoicePaid, book_payment
from handlers.service import SHOP
from local.provider_stub import ProviderStub
from surehand.testing import World, reliability_suite, world

BODIES = Path(__file__).resolve().parents[2] / "events" / "webhooks" / "bodies"
PAID: dict[str, Any] = json.loads((BODIES / "stripe-invoice-paid.json").read_text(encoding="utf-8"))


@pytest.fixture
def memory() -> Iterator[World]:
    with world(SHOP) as made:
        yield made


def test_a_paid_invoice_is_booked_with_its_amount(memory: World, stub: ProviderStub) -> None:
    assert memory.gate.post(book_payment, (BODIES / "stripe-invoice-paid.json").read_bytes()).status == 200
    book_payment(memory.gate.event(book_payment), None)

    (booked,) = stub.book.effects("booking")
    assert (booked.reference, booked.request["amount"]) == ("in_1SurehandInvoice000001", 4900)


def test_what_stripe_sends_again_is_booked_once(memory: World, stub: ProviderStub) -> None:
    for pending in (2, 1, 0):
        memory.gate.post(book_payment, PAID | {"pending_webhooks": pending})
        book_payment(memory.gate.event(book_payment), None)

    assert len(stub.book.effects("booking")) == 1


def test_a_busy_accounting_does_not_reach_stripe(memory: World, stub: ProviderStub) -> None:
    stub.mode = "busy"
    assert memory.gate.post(book_payment, PAID).status == 200
    response = book_payment(memory.gate.event(book_payment), None)

    assert len(response["batchItemFailures"]) == 1
    assert memory.teller.endings[-1].code == "provider.busy"


def test_an_event_of_another_type_is_a_dead_letter_and_not_lost(memory: World, stub: ProviderStub) -> None:
    memory.gate.post(book_payment, PAID | {"type": "invoice.voided"})
    book_payment(memory.gate.event(book_payment), None)

    assert memory.teller.endings[-1].code == "input.schema"
    assert stub.book.effects() == []


class Books:
    """The accounting in memory: how often each booking was asked for, by idempotency key."""

    def __init__(self) -> None:
        self.booked: Counter[str] = Counter()

    def book(self, invoice_id: str, amount: int, currency: str, *, idempotency_key: str) -> None:
        self.booked[idempotency_key] += 1


BOOKS = Books()


@pytest.fixture(autouse=True)
def books(request: pytest.FixtureRequest) -> Iterator[None]:
    if "stub" in request.fixturenames:
        yield
        return
    with patch("handlers.billing.accounting", lambda: BOOKS):
        yield


test_booking_is_reliable = reliability_suite(
    book_payment, InvoicePaid.model_validate(PAID), effects=lambda: BOOKS.booked, reset=BOOKS.booked.clear
)
