"""How often the engine calls DynamoDB, counted below botocore, and what it does when DynamoDB is away."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest
from botocore.session import get_session

from surehand import entrypoint
from surehand.aws.clients import LEDGER
from surehand.aws.dynamodb import DynamoDBLedger
from surehand.outcomes import Outcome
from surehand.testing import again, world
from tests.contracts.stores import store
from tests.scenarios.kiosk import KIOSK, ids, numbered, plain, script


@contextmanager
def on_emulator(emulator: str):
    """Bind the world's handlers to the emulator's ledger with group commit, and record each request on the wire."""
    calls: list[str] = []
    with store("ministack-batch", emulator) as ledger, world(KIOSK) as made:

        def record(request, **_) -> None:
            calls.append(request.headers["X-Amz-Target"].decode())

        assert isinstance(ledger, DynamoDBLedger)
        ledger._client.meta.events.register_first("before-send.dynamodb", record)
        ports = replace(entrypoint.ports_of(plain), ledger=ledger, group_commit=True)
        with entrypoint.bound(ports):
            yield made, calls


def test_a_batch_of_ten_costs_one_claim_and_at_most_two_settles(emulator) -> None:
    with on_emulator(emulator) as (made, calls), script() as told:
        assert ids(plain(made.event(plain, *numbered(plain, 10)), None)) == []
        assert len(told.runs) == 10
        assert set(calls) == {"DynamoDB_20120810.BatchExecuteStatement"}
        assert len(calls) <= 3


def test_ten_duplicates_cost_one_refused_claim_and_one_read(emulator) -> None:
    with on_emulator(emulator) as (made, calls), script():
        event = made.event(plain, *numbered(plain, 10))
        plain(event, None)
        calls.clear()
        assert ids(plain(event, None)) == []
        assert sorted(call.rpartition(".")[2] for call in calls) == ["BatchExecuteStatement", "BatchGetItem"]


def test_ten_redelivered_duplicates_cost_one_read_and_no_write(emulator) -> None:
    with on_emulator(emulator) as (made, calls), script():
        event = made.event(plain, *numbered(plain, 10))
        plain(event, None)
        calls.clear()
        plain({"Records": [again(one) for one in event["Records"]]}, None)
        assert [call.rpartition(".")[2] for call in calls] == ["BatchGetItem"]


def test_a_single_message_costs_two_updates(emulator) -> None:
    with on_emulator(emulator) as (made, calls), script():
        plain(made.event(plain, *numbered(plain, 1)), None)
        assert [call.rpartition(".")[2] for call in calls] == ["UpdateItem", "UpdateItem"]


@contextmanager
def listening(*, accept: bool):
    """A port that takes connections and never answers, or one that refuses them."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        if not accept:
            yield url
            return
        server.listen(64)
        held: list[socket.socket] = []

        def take() -> None:
            while True:
                try:
                    held.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=take, daemon=True).start()
        yield url
        server.shutdown(socket.SHUT_RDWR)
        for connection in held:
            connection.close()


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("silent", [True, False], ids=["silent", "refusing"])
@pytest.mark.parametrize("seen", [1, 2], ids=["first", "redelivered"])
def test_an_outage_of_the_ledger_puts_the_whole_batch_back_within_six_seconds_and_runs_nothing(
    batched, silent, seen
) -> None:
    """The issue's own bound; it follows from the client's timeouts, so a busy machine has room below it."""
    with listening(accept=silent) as url, world(KIOSK) as made, script() as told:
        client = get_session().create_client("dynamodb", endpoint_url=url, config=LEDGER)
        ledger = DynamoDBLedger(client, "ledger", batched=batched)
        ports = replace(entrypoint.ports_of(plain), ledger=ledger, group_commit=True)
        event = made.event(plain, *numbered(plain, 10), receive_count=seen)
        began = time.monotonic()
        with entrypoint.bound(ports):
            assert len(ids(plain(event, None))) == 10
        assert time.monotonic() - began < 6
        assert told.runs == []
        assert {ending.outcome for ending in made.teller.endings} == {Outcome.UNCLAIMED}
        assert {ending.code for ending in made.teller.endings} == {"ledger.unavailable"}
