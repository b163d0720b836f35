"""Saving a cursor on DynamoDB when the network or another writer gets in the way."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from surehand.aws.cursors import DynamoDBCursors
from surehand.errors import LedgerUnavailable
from surehand.ledger import Cursor, NotHeld, Operation, RefusedWrites, Save, Unavailable, Written
from surehand.states import State

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
HELD = Operation(
    id='["scan",null,["1"]]',
    handler="scan",
    tenant=None,
    state=State.LEASED,
    fence=3,
    owner="me",
    claimed_at=NOW,
    started_at=NOW,
    expires_at=NOW + timedelta(days=30),
    lease_until=NOW + timedelta(minutes=1),
)
CURSOR = Cursor(operation=HELD.id, shard="", value="7", fence=3, saved_at=NOW, expires_at=NOW + timedelta(days=30))
OWN = [{"Put": {"TableName": "pages", "Item": {}}}, {"Delete": {"TableName": "pages", "Key": {}}}]


def canceled(*codes: str) -> ClientError:
    reasons: list[Mapping[str, Any]] = [{"Code": code} for code in codes]
    response: Any = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons}
    return ClientError(response, "TransactWriteItems")


def failed(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "?"}}, "TransactWriteItems")


class Table:
    """A client that answers as it is told to, and remembers what it was asked."""

    def __init__(self, *answers: Exception | None) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.reads = 0

    def transact_write_items(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        if (answer := self.answers.pop(0)) is not None:
            raise answer
        return {}

    def get_item(self, **request: Any) -> dict[str, Any]:
        self.reads += 1
        return {}


def save(table: Table, writes: Any = ()) -> object:
    return DynamoDBCursors(table, "ledger").save(Save(claimed=HELD, cursor=CURSOR, writes=writes), now=NOW)


LOST = ReadTimeoutError(endpoint_url="here")


@pytest.mark.parametrize("passing", [LOST, canceled("TransactionConflict", "None"), failed("ThrottlingException")])
def test_what_passes_is_tried_again_as_the_same_transaction(passing: Exception) -> None:
    table = Table(passing, passing, None)
    assert save(table) == Written()
    assert len({request["ClientRequestToken"] for request in table.asked}) == 1
    assert len(table.asked) == 3


def test_what_does_not_pass_is_unavailable_after_three_tries() -> None:
    table = Table(LOST, LOST, LOST)
    assert save(table) == Unavailable("ReadTimeoutError")


def test_two_saves_are_two_transactions() -> None:
    table = Table(None, None)
    save(table)
    save(table)
    assert len({request["ClientRequestToken"] for request in table.asked}) == 2


def test_a_condition_that_is_not_met_is_read_where_the_answer_does_not_show_the_item() -> None:
    table = Table(canceled("ConditionalCheckFailed", "None"))
    assert save(table) == NotHeld(None)
    assert table.reads == 1


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        (canceled("None", "None", "None", "ConditionalCheckFailed"), ["None", "ConditionalCheckFailed"]),
        (canceled("None", "None", "ValidationError", "None"), ["ValidationError", "None"]),
        (failed("ValidationException"), ["ValidationException"] * 2),
        (failed("AccessDeniedException"), ["AccessDeniedException"] * 2),
    ],
)
def test_a_wrong_write_of_the_caller_is_named_and_not_tried_again(error: Exception, codes: list[str]) -> None:
    table = Table(error)
    assert save(table, OWN) == RefusedWrites(codes)
    assert len(table.asked) == 1


def test_a_conflict_on_the_caller_s_item_is_tried_again() -> None:
    table = Table(canceled("None", "None", "TransactionConflict", "None"), None)
    assert save(table, OWN) == Written()


def test_without_writes_of_the_caller_a_denied_transaction_is_the_ledger_s_trouble() -> None:
    assert save(Table(*[failed("AccessDeniedException")] * 3)) == Unavailable("AccessDeniedException")


def test_a_cursor_that_cannot_be_read_is_no_missing_cursor() -> None:
    class Away(Table):
        def get_item(self, **request: Any) -> dict[str, Any]:
            raise LOST

    with pytest.raises(LedgerUnavailable, match="ReadTimeoutError"):
        DynamoDBCursors(Away(), "ledger").read(HELD.id, "", now=NOW)
