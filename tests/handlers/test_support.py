"""Slack's mentions, from its challenge to a ticket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from handlers.service import SHOP
from handlers.support import open_ticket
from local.provider_stub import ProviderStub
from surehand.testing import World, world

BODIES = Path(__file__).resolve().parents[2] / "events" / "webhooks" / "bodies"
MENTION = (BODIES / "slack-app-mention.json").read_bytes()


@pytest.fixture
def memory() -> Iterator[World]:
    with world(SHOP) as made:
        yield made


def test_slack_s_challenge_is_answered_without_a_message(memory: World) -> None:
    response = memory.gate.post(open_ticket, {"type": "url_verification", "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9"})

    assert (response.status, response.body) == (200, "3eZbrw1aBm2rZgRNFdxV2595E9")
    assert memory.gate.event(open_ticket) == {"Records": []}


def test_a_challenge_that_nobody_signed_is_not_echoed(memory: World) -> None:
    response = memory.gate.post(open_ticket, {"type": "url_verification", "challenge": "echo-me"}, secret="guessed")

    assert (response.status, response.body) == (401, "")


def test_a_mention_opens_one_ticket_however_often_slack_sends_it(memory: World, stub: ProviderStub) -> None:
    for retry in ("1", "2"):
        memory.gate.post(open_ticket, MENTION, headers={"x-slack-retry-num": retry})
        open_ticket(memory.gate.event(open_ticket), None)

    (ticket,) = stub.book.effects("ticket")
    assert ticket.reference == json.loads(MENTION)["event_id"]


def test_a_busy_desk_is_tried_again_and_slack_has_had_its_answer(memory: World, stub: ProviderStub) -> None:
    stub.mode = "busy"
    assert memory.gate.post(open_ticket, MENTION).status == 200
    assert len(open_ticket(memory.gate.event(open_ticket), None)["batchItemFailures"]) == 1


def test_another_kind_of_event_is_a_dead_letter(memory: World, stub: ProviderStub) -> None:
    event = json.loads(MENTION)
    memory.gate.post(open_ticket, event | {"event": event["event"] | {"type": "message"}})
    open_ticket(memory.gate.event(open_ticket), None)

    assert memory.teller.endings[-1].code == "input.schema"
    assert stub.book.effects() == []
