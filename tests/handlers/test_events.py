"""The sample events: each is used, real in shape, and read by the engine."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from handlers.orders import OrderPlaced
from handlers.service import SHOP
from surehand import Service, queue
from surehand.testing import world
from tests.handlers.recorded import EVENTS, message_ids, put_back, recorded

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in EVENTS.glob("*.json"))

received: list[OrderPlaced] = []


@queue("orders-by-sns", key="order_id", envelope="sns")
def take_order(order: OrderPlaced) -> None:
    received.append(order)


@pytest.mark.parametrize("name", NAMES)
def test_every_event_is_used_by_a_test(name: str) -> None:
    users = [path for path in (ROOT / "tests").rglob("test_*.py") if f'"{name}"' in path.read_text(encoding="utf-8")]
    assert users


@pytest.mark.parametrize("name", NAMES)
def test_every_record_carries_what_sqs_gives_it(name: str) -> None:
    for record in recorded(name)["Records"]:
        assert record["md5OfBody"] == hashlib.md5(record["body"].encode()).hexdigest()
        assert {"ApproximateReceiveCount", "SentTimestamp", "SenderId"} <= record["attributes"].keys()
        assert record["eventSource"] == "aws:sqs"


def test_message_ids_are_unique_over_all_events() -> None:
    ids = [message for name in NAMES for message in message_ids(recorded(name))]
    assert len(set(ids)) == len(ids)


def test_the_groups_of_the_fifo_event_are_the_declared_ones() -> None:
    handler = SHOP["stock-moves"]
    for record in recorded("fifo-groups")["Records"]:
        payload: Any = handler.payload.validate(record["body"])
        assert handler.identify(payload, record["body"]).group == record["attributes"]["MessageGroupId"]


def test_an_order_in_an_sns_notification_is_unwrapped_and_another_text_rejected() -> None:
    received.clear()
    event = recorded("sns-wrapped")

    with world(Service("by-sns", (take_order,)), on="moto"):
        response = take_order(event, None)

    assert [order.order_id for order in received] == ["ord-4001"]
    assert put_back(response) == message_ids(event)[1:]
