"""One suite for every store of cursors: saved only by who holds the operation, and never half."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from surehand.aws.cursors import DynamoDBCursors
from surehand.aws.dynamodb import DynamoDBLedger
from surehand.ledger import (
    Candidate,
    Claimed,
    Cursor,
    Cursors,
    Lease,
    Ledger,
    NotHeld,
    Operation,
    RefusedWrites,
    Save,
    Wanted,
    Written,
    claim,
    settle,
)
from surehand.ledger.operating import Act, cancel
from surehand.ledger.operation import Write
from surehand.states import State
from surehand.testing import MemoryLedger
from surehand.testing.cursors import MemoryCursors
from tests.contracts.stores import store

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
RETENTION = timedelta(days=30)
MINUTE = timedelta(minutes=1)
WITH_TABLES = ["moto", "ministack-single", pytest.param("oracle-single", marks=pytest.mark.oracle)]
STORES = ["memory", *WITH_TABLES]


@dataclass
class Shelf:
    """A ledger and the cursors beside it. *client* is that of a store which has tables."""

    ledger: Ledger
    cursors: Cursors
    client: Any = None

    def hold(self, *, at: datetime = NOW, message: str = "m1", owner: str = "first") -> Operation:
        """Claim the operation for a minute."""
        wanted = Wanted(
            id='["scan",null,["1"]]',
            handler="scan",
            tenant=None,
            candidates=(Candidate(message, at - MINUTE),),
            fingerprints=("f",),
            seen_before=True,
        )
        lease = Lease(owner=owner, until=at + MINUTE, retention=RETENTION)
        (claimed,) = claim(self.ledger, [wanted], lease=lease, now=at)
        assert isinstance(claimed, Claimed)
        return claimed.operation

    def save(self, claimed: Operation, value: str, *, at: datetime = NOW, shard: str = "", writes: list[Any] = []):  # noqa: B006
        cursor = Cursor(
            operation=claimed.id, shard=shard, value=value, fence=claimed.fence, saved_at=at, expires_at=at + RETENTION
        )
        return self.cursors.save(Save(claimed=claimed, cursor=cursor, writes=writes), now=at)

    def value(self, *, shard: str = "", at: datetime = NOW) -> str | None:
        cursor = self.cursors.read('["scan",null,["1"]]', shard, now=at)
        return None if cursor is None else cursor.value


@pytest.fixture(params=STORES)
def shelf(request: pytest.FixtureRequest) -> Iterator[Shelf]:
    name = request.param
    emulator = request.getfixturevalue("emulator") if name.startswith("ministack") else None
    with store(name, emulator) as ledger:
        if isinstance(ledger, MemoryLedger):
            yield Shelf(ledger, MemoryCursors(ledger))
        else:
            assert isinstance(ledger, DynamoDBLedger)
            client, table = ledger._client, ledger._table
            yield Shelf(ledger, DynamoDBCursors(client, table), client)


@pytest.fixture
def pages(shelf: Shelf) -> str:
    """A table of the caller's own, empty; only its name on a store without tables."""
    name = f"pages-{uuid.uuid4().hex}"
    if shelf.client is not None:
        shelf.client.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "page", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "page", "AttributeType": "S"}],
        )
    return name


def counting(table: str, page: str, **more: str) -> dict[str, Any]:
    """Return a write that counts: made twice, it would show."""
    update = {
        "TableName": table,
        "Key": {"page": {"S": page}},
        "UpdateExpression": "ADD seen :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    return {"Update": {**update, **more}}


def test_an_operation_begins_without_a_cursor(shelf: Shelf) -> None:
    shelf.hold()
    assert shelf.value() is None


@pytest.mark.parametrize("value", ["1", '"page-7"', '{"after":["ü",null,1.5]}', '"' + "x" * 32_000 + '"'])
def test_what_was_saved_is_read_as_it_was(shelf: Shelf, value: str) -> None:
    held = shelf.hold()
    assert shelf.save(held, value) == Written()
    assert shelf.value() == value


def test_the_last_save_counts(shelf: Shelf) -> None:
    held = shelf.hold()
    for value in ("1", "2", "3"):
        assert shelf.save(held, value) == Written()
    assert shelf.value() == "3"


def test_shards_have_cursors_of_their_own(shelf: Shelf) -> None:
    held = shelf.hold()
    shelf.save(held, "1", shard="a")
    shelf.save(held, "2", shard="b")
    assert [shelf.value(shard=shard) for shard in ("a", "b", "", "c")] == ["1", "2", None, None]


def test_saving_leaves_the_operation_as_it_is(shelf: Shelf) -> None:
    held = shelf.hold()
    shelf.save(held, "1")
    assert shelf.ledger.read([held.id]) == {held.id: held}


def test_a_cursor_is_saved_while_the_run_is_marked_as_processing(shelf: Shelf) -> None:
    held = shelf.hold()
    running = replace(held, state=State.PROCESSING)
    shelf.ledger.write([Write(operation=running, previous=held)], now=NOW)
    assert shelf.save(held, "1") == Written()


def test_a_worker_whose_operation_was_claimed_by_another_saves_nothing(shelf: Shelf) -> None:
    first = shelf.hold()
    shelf.save(first, "1")
    second = shelf.hold(at=NOW + 2 * MINUTE, owner="second")
    refused = shelf.save(first, "0", at=NOW + 2 * MINUTE)
    assert isinstance(refused, NotHeld)
    assert refused.existing is not None
    assert (refused.existing.owner, refused.existing.fence) == ("second", second.fence)
    assert shelf.value() == "1"


def test_an_earlier_claim_of_the_same_worker_saves_nothing(shelf: Shelf) -> None:
    first = shelf.hold()
    shelf.hold(at=NOW + 2 * MINUTE, owner=first.owner)
    assert isinstance(shelf.save(first, "1", at=NOW + 2 * MINUTE), NotHeld)


def test_a_worker_whose_lease_has_ended_saves_nothing(shelf: Shelf) -> None:
    held = shelf.hold()
    assert isinstance(shelf.save(held, "1", at=NOW + MINUTE), NotHeld)
    assert shelf.value() is None


@pytest.mark.parametrize("state", [State.PENDING, State.SUCCEEDED, State.RETRYABLE_FAILED, State.PERMANENTLY_FAILED])
def test_a_worker_that_has_settled_saves_nothing(shelf: Shelf, state: State) -> None:
    held = shelf.hold()
    shelf.ledger.write([settle(held, state, now=NOW, retention=RETENTION)], now=NOW)
    assert isinstance(shelf.save(held, "1"), NotHeld)
    assert shelf.value() is None


def test_a_worker_whose_operation_shall_be_canceled_saves_nothing_and_learns_of_it(shelf: Shelf) -> None:
    held = shelf.hold()
    act = Act(actor="ann", reason="wrong night", now=NOW, retention=RETENTION)
    write = cancel(held, act, operation_id=held.id, handler="scan", tenant=None)
    assert isinstance(write, Write)
    shelf.ledger.write([write], now=NOW)
    refused = shelf.save(held, "1")
    assert isinstance(refused, NotHeld)
    assert refused.existing is not None
    assert refused.existing.cancel_requested
    assert refused.existing.owner == held.owner


def test_nothing_is_saved_for_an_operation_that_the_ledger_does_not_know(shelf: Shelf) -> None:
    held = replace(shelf.hold(), id='["scan",null,["2"]]')
    assert shelf.save(held, "1") == NotHeld(None)


def test_the_next_claim_finds_what_the_last_one_saved(shelf: Shelf) -> None:
    shelf.save(shelf.hold(), "1")
    shelf.hold(at=NOW + 2 * MINUTE, owner="second")
    assert shelf.value(at=NOW + 2 * MINUTE) == "1"


def test_a_cursor_past_its_expiry_counts_as_none(shelf: Shelf) -> None:
    shelf.save(shelf.hold(), "1")
    assert shelf.value(at=NOW + RETENTION - MINUTE) == "1"
    assert shelf.value(at=NOW + RETENTION) is None


def test_the_caller_s_own_writes_are_made_with_the_cursor(shelf: Shelf, pages: str) -> None:
    held = shelf.hold()
    writes = [counting(pages, "a"), counting(pages, "b")]
    assert shelf.save(held, "1", writes=writes) == Written()
    if isinstance(shelf.cursors, MemoryCursors):
        assert shelf.cursors.writes == writes
    else:
        seen = shelf.client.scan(TableName=pages)["Items"]
        assert sorted(item["page"]["S"] + item["seen"]["N"] for item in seen) == ["a1", "b1"]


def test_a_late_worker_s_own_writes_are_not_made_either(shelf: Shelf, pages: str) -> None:
    first = shelf.hold()
    shelf.hold(at=NOW + 2 * MINUTE, owner="second")
    assert isinstance(shelf.save(first, "1", at=NOW + 2 * MINUTE, writes=[counting(pages, "a")]), NotHeld)
    if isinstance(shelf.cursors, MemoryCursors):
        assert shelf.cursors.writes == []
    else:
        assert shelf.client.scan(TableName=pages)["Items"] == []


@pytest.mark.parametrize("shelf", WITH_TABLES, indirect=True)
def test_a_refused_write_of_the_caller_saves_nothing_and_is_named(shelf: Shelf, pages: str) -> None:
    held = shelf.hold()
    refused = counting(pages, "b", ConditionExpression="attribute_exists(page)")
    answer = shelf.save(held, "1", writes=[counting(pages, "a"), refused])
    assert answer == RefusedWrites(["None", "ConditionalCheckFailed"])
    assert shelf.value() is None
    assert shelf.client.scan(TableName=pages)["Items"] == []


@pytest.mark.parametrize("shelf", WITH_TABLES, indirect=True)
def test_a_write_to_a_table_that_is_not_there_is_the_caller_s_fault(shelf: Shelf) -> None:
    answer = shelf.save(shelf.hold(), "1", writes=[counting("nowhere", "a")])
    assert isinstance(answer, RefusedWrites)
    assert shelf.value() is None


def test_a_cursor_that_moves_clears_the_suspicion_of_a_crashed_run(shelf: Shelf) -> None:
    shelf.hold()
    suspect = shelf.hold(at=NOW + 2 * MINUTE, owner="second")
    assert suspect.marks == 1
    cursor = Cursor(
        operation=suspect.id, shard="", value="1", fence=suspect.fence, saved_at=NOW, expires_at=NOW + RETENTION
    )
    save = Save(claimed=suspect, cursor=cursor, cleared=True)
    assert shelf.cursors.save(save, now=NOW + 2 * MINUTE) == Written()
    assert shelf.ledger.read([suspect.id])[suspect.id] == replace(suspect, marks=0)


def test_a_cursor_that_stays_where_it_was_clears_no_suspicion(shelf: Shelf) -> None:
    shelf.hold()
    suspect = shelf.hold(at=NOW + 2 * MINUTE, owner="second")
    assert shelf.save(suspect, "1", at=NOW + 2 * MINUTE) == Written()
    assert shelf.ledger.read([suspect.id]) == {suspect.id: suspect}


def test_a_late_worker_clears_no_suspicion(shelf: Shelf) -> None:
    first = shelf.hold()
    second = shelf.hold(at=NOW + 2 * MINUTE, owner="second")
    cursor = Cursor(
        operation=first.id, shard="", value="1", fence=first.fence, saved_at=NOW, expires_at=NOW + RETENTION
    )
    late = Save(claimed=first, cursor=cursor, cleared=True)
    assert isinstance(shelf.cursors.save(late, now=NOW + 2 * MINUTE), NotHeld)
    assert shelf.ledger.read([first.id])[first.id] == second
