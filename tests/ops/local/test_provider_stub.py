"""The provider that plays its part in local runs: one effect for each key, and every kind of bad day."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from handlers.provider import Busy, Declined, Provider, Unavailable, UnexpectedAnswer
from local.provider_stub import ProviderStub, provider_stub


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with provider_stub(late_seconds=0.2) as running:
        yield running


def charge(
    stub: ProviderStub, reference: str = "o-1", *, key: str = "key", card: str = "tok_visa", amount: int = 5
) -> object:
    body = {"reference": reference, "amount": amount, "card": card}
    return Provider(stub.url).post("/charges", body, idempotency_key=key)["id"]


def move(stub: ProviderStub, reference: str, sku: str) -> None:
    body = {"reference": reference, "sku": sku, "quantity": 1}
    Provider(stub.url).post("/movements", body, idempotency_key=f"key of {reference}")


def call(stub: ProviderStub, method: str, path: str, body: str | None = None) -> tuple[int, dict[str, object]]:
    connection = HTTPConnection(urlsplit(stub.url).netloc, timeout=10)
    connection.request(method, path, body)
    response = connection.getresponse()
    try:
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_a_key_has_one_effect_and_one_answer(stub: ProviderStub) -> None:
    assert charge(stub) == charge(stub)
    assert len(stub.book.effects("charge")) == 1


def test_a_key_with_another_request_is_refused(stub: ProviderStub) -> None:
    charge(stub, amount=5)

    with pytest.raises(UnexpectedAnswer, match="409"):
        charge(stub, amount=6)


def test_two_effects_for_one_reference_are_a_duplicate(stub: ProviderStub) -> None:
    charge(stub, "o-1", key="one")
    charge(stub, "o-1", key="two")

    assert stub.book.duplicated() == 1


def test_a_request_repeated_after_its_answer_is_a_duplicate(stub: ProviderStub) -> None:
    charge(stub)
    charge(stub)

    assert stub.book.duplicated() == 1


def test_a_request_repeated_because_its_answer_was_late_is_none(stub: ProviderStub) -> None:
    charge(stub, card="late-once")
    charge(stub, card="late-once")

    assert stub.book.duplicated() == 0


def test_a_declined_card_has_no_effect(stub: ProviderStub) -> None:
    with pytest.raises(Declined):
        charge(stub, card="tok_declined")

    assert stub.book.effects() == []


def test_busy_twice_is_busy_twice_for_each_key(stub: ProviderStub) -> None:
    for key in ("one", "two"):
        for _ in range(2):
            with pytest.raises(Busy) as busy:
                charge(stub, key, key=key, card="busy-twice")
            assert busy.value.retry_after == timedelta(seconds=1)
        charge(stub, key, key=key, card="busy-twice")

    assert len(stub.book.effects()) == 2


def test_a_provider_that_is_down_has_no_effect_until_it_is_up_again(stub: ProviderStub) -> None:
    assert call(stub, "PUT", "/mode/down")[0] == 200
    with pytest.raises(Unavailable):
        charge(stub)
    call(stub, "PUT", "/mode/up")

    charge(stub)

    assert [effect.requests for effect in stub.book.effects()] == [1]


def test_an_unknown_mode_is_refused(stub: ProviderStub) -> None:
    assert call(stub, "PUT", "/mode/asleep")[0] == 404
    assert stub.mode == "up"


def test_the_effects_can_be_read_in_their_order(stub: ProviderStub) -> None:
    charge(stub, "o-2", key="a")
    charge(stub, "o-1", key="b")
    move(stub, "m-1", "TEA")

    status, body = call(stub, "GET", "/charges")

    assert status == 200
    assert body == {
        "charges": [
            {"reference": "o-2", "amount": 5, "card": "tok_visa", "idempotency_key": "a", "requests": 1},
            {"reference": "o-1", "amount": 5, "card": "tok_visa", "idempotency_key": "b", "requests": 1},
        ]
    }


@pytest.mark.parametrize("body", ["", "[]", "{", "{}", '{"reference": 7}'])
def test_a_request_without_reference_or_key_is_refused(stub: ProviderStub, body: str) -> None:
    assert call(stub, "POST", "/charges", body)[0] == 400
    assert stub.book.effects() == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_unknown_paths_are_not_found(stub: ProviderStub, method: str) -> None:
    assert call(stub, method, "/refunds", "{}")[0] == 404


def test_stopping_does_not_wait_for_late_answers() -> None:
    with provider_stub(late_seconds=600) as stub:
        connection = HTTPConnection(urlsplit(stub.url).netloc, timeout=10)
        body = json.dumps({"reference": "late-once"})
        connection.request("POST", "/charges", body, {"Idempotency-Key": "k"})
        while not stub.book.effects():
            pass

    connection.close()
