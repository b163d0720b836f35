"""`surehand dlq` on a FIFO queue: what stands in the way can be parked, and order holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from surehand.testing import World
from tests.ops.burial import Consumer, Pumped, mend
from tests.ops.conftest import Surehand
from tests.ops.depot import STATE, Parcel, route

WHY = ("--despite", "mapping", "--execute", "--reason", "INC-17", "--rate", "500/s", "--json")


@pytest.fixture
def lanes(depot: World, monkeypatch: pytest.MonkeyPatch) -> Consumer:
    """Two lanes of four letters; every other one failed with another code."""
    import boto3

    made = Consumer(boto3.client("sqs"), boto3.client("dynamodb"), route)
    monkeypatch.setattr("surehand_cli.dlq.scan._POLL_SECONDS", 0)
    pumped = Pumped(made)
    monkeypatch.setattr("surehand_cli.account.place.SystemWaiting", lambda: pumped)
    codes = ("data.address", "code.KeyError")
    made.bury([Parcel(number=str(n), route=f"r{n % 2}", trouble=codes[n // 2 % 2]) for n in range(8)])
    STATE.act = mend
    return made


def numbers(consumer: Consumer, name: str) -> list[str]:
    url = consumer.sqs.get_queue_url(QueueName=name)["QueueUrl"]
    messages: list[dict[str, Any]] = consumer.sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0
    ).get("Messages", [])
    return sorted(json.loads(one["Body"])["number"] for one in messages)


def test_a_letter_in_the_way_stops_its_group_and_is_said_to(lanes: Consumer, surehand: Surehand) -> None:
    said = surehand("dlq", "redrive", "lanes", "--code", "code.KeyError", *WHY)
    assert said.status == 4
    assert said.lines[-1]["counts"] == {"not moved": 4}
    assert numbers(lanes, "depot-test-lanes-dlq.fifo") == list("01234567")


def test_letters_in_the_way_are_parked_on_request_and_the_meant_ones_run_in_order(
    lanes: Consumer, surehand: Surehand
) -> None:
    lanes.sqs.create_queue(QueueName="depot-test-lanes-dlq-parked.fifo", Attributes={"FifoQueue": "true"})
    said = surehand("dlq", "redrive", "lanes", "--code", "code.KeyError", "--park-skipped", *WHY)
    assert said.status == 0, said.err
    assert said.lines[-1]["counts"] == {"succeeded": 4, "moved": 4}
    assert [number for number in STATE.order if number in "26"] == ["2", "6"]
    assert [number for number in STATE.order if number in "37"] == ["3", "7"]
    assert numbers(lanes, "depot-test-lanes-dlq-parked.fifo") == ["0", "1", "4", "5"]
    assert numbers(lanes, "depot-test-lanes-dlq.fifo") == []
