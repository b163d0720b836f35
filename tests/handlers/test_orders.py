"""Orders, from the SQS event to the response, the charge and the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest

from handlers import provider
from handlers.orders import OrderPlaced, charge_order
from handlers.service import SHOP
from local.provider_stub import ProviderStub
from surehand.testing import FakeClock, World, again, world
from tests.handlers.recorded import message_ids, put_back, recorded


@pytest.fixture
def aws() -> Iterator[World]:
    with world(SHOP, on="moto") as made:
        yield made


@pytest.fixture
def memory() -> Iterator[World]:
    with world(SHOP, on="memory") as made:
        yield made


def items() -> dict[str, dict[str, Any]]:
    """Return the table's items by id, as DynamoDB has them."""
    scanned = boto3.resource("dynamodb").Table("shop-test-ledger").scan()["Items"]
    return {str(item["id"]): item for item in scanned}


def operation(order_id: str) -> str:
    return f'["orders",null,["{order_id}"]]'


def redeliver(memory: World, event: dict[str, Any], *, after: timedelta = timedelta(hours=1)) -> dict[str, Any]:
    """Return the same messages as SQS delivers them again, later."""
    assert isinstance(memory.clock, FakeClock)
    memory.clock.advance(after)
    return {"Records": [again(record) for record in event["Records"]]}


def test_every_order_is_charged_and_its_message_deleted(aws: World, stub: ProviderStub) -> None:
    response = charge_order(recorded("standard"), None)

    assert response == {"batchItemFailures": []}
    charged = [(effect.reference, effect.request["amount"]) for effect in stub.book.effects("charge")]
    assert charged == [("ord-1001", 4990), ("ord-1002", 12900), ("ord-1003", 750)]


def test_the_ledger_keeps_the_number_of_the_charge(aws: World, stub: ProviderStub) -> None:
    charge_order(recorded("standard"), None)

    item = items()[operation("ord-1001")]
    assert item["state"] == "succeeded"
    known = aws.operation(charge_order, OrderPlaced(order_id="ord-1001", amount=4990, card="tok_visa"))
    assert known is not None
    assert f"charge-{stub.book.effects()[0].key[:12]}" in str(item["result"])


def test_an_order_that_comes_again_is_not_charged_again(aws: World, stub: ProviderStub) -> None:
    charge_order(recorded("standard"), None)

    response = charge_order(recorded("standard"), None)

    assert put_back(response) == []
    assert [effect.requests for effect in stub.book.effects()] == [1, 1, 1]


def test_a_redelivered_order_is_charged_when_nothing_is_known_of_it(aws: World, stub: ProviderStub) -> None:
    response = charge_order(recorded("redelivered"), None)

    assert put_back(response) == []
    assert [effect.reference for effect in stub.book.effects()] == ["ord-1004", "ord-1005"]


def test_a_known_order_with_another_amount_goes_to_the_dead_letters_uncharged(aws: World, stub: ProviderStub) -> None:
    charge_order(recorded("standard"), None)
    conflict = recorded("other-amount")

    response = charge_order(conflict, None)

    assert put_back(response) == message_ids(conflict)
    assert len(stub.book.effects()) == 3
    (record,) = [item for item in items().values() if item.get("code") == "input.conflict"]
    assert record["state"] == "permanently_failed"


def test_a_declined_card_is_final_and_nothing_to_put_back(aws: World, stub: ProviderStub) -> None:
    event = recorded("provider-answers")
    declined = {"Records": event["Records"][:1]}

    response = charge_order(declined, None)

    assert put_back(response) == []
    assert items()[operation("ord-2001")]["state"] == "canceled"
    assert items()[operation("ord-2001")]["code"] == "data.card_declined"


def test_malformed_messages_are_put_back_for_the_dead_letters_and_harm_no_neighbour(
    aws: World, stub: ProviderStub
) -> None:
    event = recorded("malformed")

    response = charge_order(event, None)

    assert put_back(response) == message_ids(event)[:-1]
    assert [effect.reference for effect in stub.book.effects()] == ["ord-3007"]


def test_each_malformed_message_has_a_record_with_its_reason(aws: World, stub: ProviderStub) -> None:
    event = recorded("malformed")

    charge_order(event, None)

    codes = [items()[f'["orders",null,["!message","{message}"]]']["code"] for message in message_ids(event)[:-1]]
    assert codes == ["input.malformed", "input.schema", "input.schema", "input.malformed", "input.schema", "input.key"]


def test_a_busy_provider_is_asked_again_when_it_said(memory: World, stub: ProviderStub) -> None:
    busy = recorded("provider-answers", now=memory.clock.now())
    event: dict[str, Any] = {"Records": busy["Records"][1:2]}

    assert put_back(charge_order(event, None)) == message_ids(event)
    assert memory.queues.hidden[event["Records"][0]["receiptHandle"]] >= timedelta(seconds=1)  # type: ignore[attr-defined]
    assert put_back(charge_order(redeliver(memory, event), None)) == message_ids(event)
    assert put_back(charge_order(redeliver(memory, event), None)) == []
    assert [effect.requests for effect in stub.book.effects()] == [1]


def test_a_charge_whose_answer_was_lost_is_not_repeated(
    memory: World, stub: ProviderStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "READ_SECONDS", 1)
    late = recorded("provider-answers", now=memory.clock.now())
    event: dict[str, Any] = {"Records": late["Records"][2:]}

    assert put_back(charge_order(event, None)) == message_ids(event)
    assert put_back(charge_order(redeliver(memory, event), None)) == []

    assert [(effect.reference, effect.requests) for effect in stub.book.effects()] == [("ord-2003", 2)]


def test_a_provider_that_stays_down_exhausts_the_attempts_without_a_charge(memory: World, stub: ProviderStub) -> None:
    stub.mode = "down"
    event = recorded("standard", now=memory.clock.now())
    for _ in range(charge_order.options.max_attempts):
        assert put_back(charge_order(event, None)) == message_ids(event)
        event = redeliver(memory, event)
    stub.mode = "up"

    assert put_back(charge_order(event, None)) == message_ids(event)

    assert stub.book.effects() == []
    (order, *_) = memory.ledger.read([operation("ord-1001")]).values()
    assert (order.state, order.code) == ("permanently_failed", "provider.unavailable")
