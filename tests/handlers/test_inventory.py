"""Movements of stock, from the SQS FIFO event to the response and the warehouse's books."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from handlers.inventory import move_stock
from handlers.service import SHOP
from local.provider_stub import ProviderStub
from surehand.testing import FakeClock, World, again, world
from tests.handlers.recorded import message_ids, put_back, recorded

TEA_BUSY, TEA_LAST = 2, 4


@pytest.fixture
def memory() -> Iterator[World]:
    with world(SHOP, on="memory") as made:
        yield made


def booked(stub: ProviderStub) -> list[str]:
    return [effect.reference for effect in stub.book.effects("movement")]


def test_a_busy_warehouse_holds_up_the_later_movements_of_its_article_only(memory: World, stub: ProviderStub) -> None:
    event = recorded("fifo-groups", now=memory.clock.now())

    response = move_stock(event, None)

    ids = message_ids(event)
    assert put_back(response) == [ids[TEA_BUSY], ids[TEA_LAST]]
    assert booked(stub) == ["mov-1", "mov-2", "mov-4", "mov-6"]


def test_held_up_movements_follow_in_their_order(memory: World, stub: ProviderStub) -> None:
    event: dict[str, Any] = recorded("fifo-groups", now=memory.clock.now())
    assert isinstance(memory.clock, FakeClock)
    for _ in range(3):
        left = put_back(move_stock(event, None))
        event = {"Records": [again(record) for record in event["Records"] if record["messageId"] in left]}
        memory.clock.advance(timedelta(hours=1))

    assert event == {"Records": []}
    assert booked(stub) == ["mov-1", "mov-2", "mov-4", "mov-6", "mov-3-busy-twice", "mov-5"]


def test_the_same_holds_on_aws(stub: ProviderStub) -> None:
    with world(SHOP, on="moto"):
        event = recorded("fifo-groups")

        response = move_stock(event, None)

    ids = message_ids(event)
    assert put_back(response) == [ids[TEA_BUSY], ids[TEA_LAST]]
    assert booked(stub) == ["mov-1", "mov-2", "mov-4", "mov-6"]
