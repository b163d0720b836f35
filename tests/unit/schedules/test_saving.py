"""Saving a cursor on DynamoDB when the network or another writer gets in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from surehand.aws.cursors import DynamoDBCursors
from surehand.aws.items import encode, key_of
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
LOST = ReadTimeoutError(endpoint_url="here")
OWN = [{"Put": {"TableName": "pages", "Item": {}}}, {"Delete": {"TableName": "pages", "Key": {}}}]


def canceled(*codes: str | None) -> ClientError:
    """A canceled transaction; None is a reason without a code."""
    reasons: list[Mapping[str, Any]] = [{} if code is None else {"Code": code} for code in codes]
    response: Any = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons}
    return ClientError(response, "TransactWriteItems")


def failed(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "?"}}, "TransactWriteItems")


class Table:
    """A client that answers as it is told to, and remembers what it was asked. *item* is what it reads."""

    def __init__(self, *answers: Exception | None, item: Mapping[str, Any] | None = None) -> None:
        self.answers = list(answers)
        self.item = item
        self.asked: list[dict[str, Any]] = []
        self.read: list[dict[str, Any]] = []

    def transact_write_items(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        if (answer := self.answers.pop(0)) is not None:
            raise answer
        return {}

    def get_item(self, **request: Any) -> dict[str, Any]:
        self.read.append(request)
        return {} if self.item is None else {"Item": self.item}


class Away(Table):
    """A client that cannot read."""

    def get_item(self, **request: Any) -> dict[str, Any]:
        raise LOST


def save(table: Table, writes: Any = (), *, cleared: bool = False) -> object:
    asked = Save(claimed=HELD, cursor=CURSOR, writes=writes, cleared=cleared)
    return DynamoDBCursors(table, "ledger").save(asked, now=NOW)


def read(table: Table, now: datetime = NOW) -> Cursor | None:
    return DynamoDBCursors(table, "ledger").read(HELD.id, "a", now=now)


@pytest.mark.parametrize("passing", [LOST, canceled("TransactionConflict", "None"), failed("ThrottlingException")])
def test_what_passes_is_tried_again_as_the_same_transaction(passing: Exception) -> None:
    table = Table(passing, passing, None)
    assert save(table) == Written()
    assert len({request["ClientRequestToken"] for request in table.asked}) == 1
    assert len(table.asked) == 3


def test_what_does_not_pass_is_unavailable_after_three_tries() -> None:
    table = Table(LOST, LOST, LOST)
    assert save(table) == Unavailable("ReadTimeoutError")


CHECK = {
    "TableName": "ledger",
    "Key": {"id": {"S": HELD.id}, "part": {"S": "operation"}},
    "ConditionExpression": "#fence = :fence AND #owner = :owner AND #cancel = :no AND #until > :now "
    "AND #state IN (:state0, :state1)",
    "ExpressionAttributeNames": {
        "#fence": "fence",
        "#owner": "owner",
        "#cancel": "cancel_requested",
        "#until": "lease_until",
        "#state": "state",
    },
    "ExpressionAttributeValues": {
        ":fence": {"N": "3"},
        ":owner": {"S": "me"},
        ":no": {"BOOL": False},
        ":now": {"N": "1767268800000"},
        ":state0": {"S": "leased"},
        ":state1": {"S": "processing"},
    },
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}
ITEM = {
    "id": {"S": HELD.id},
    "part": {"S": "cursor/"},
    "handler": {"S": "scan"},
    "value": {"S": "7"},
    "fence": {"N": "3"},
    "saved_at": {"N": "1767268800000"},
    "expires_at": {"N": "1769860800"},
}
PUT = {"Put": {"TableName": "ledger", "Item": ITEM}}


def test_a_save_is_a_look_at_the_operation_the_cursor_and_the_caller_s_writes() -> None:
    table = Table(None)
    save(table, OWN)
    assert table.asked[0]["TransactItems"] == [{"ConditionCheck": CHECK}, PUT, *OWN]


def test_a_save_that_clears_a_suspicion_changes_the_operation_s_marks_under_the_same_condition() -> None:
    table = Table(None)
    save(table, cleared=True)
    update = {
        **CHECK,
        "UpdateExpression": "SET #marks = :none",
        "ExpressionAttributeNames": {**CHECK["ExpressionAttributeNames"], "#marks": "marks"},  # type: ignore[dict-item]
        "ExpressionAttributeValues": {**CHECK["ExpressionAttributeValues"], ":none": {"N": "0"}},  # type: ignore[dict-item]
    }
    assert table.asked[0]["TransactItems"] == [{"Update": update}, PUT]


def test_a_cursor_is_read_consistently_and_as_it_was_saved_to_the_millisecond() -> None:
    table = Table(item={**ITEM, "saved_at": {"N": "1767268800250"}})
    assert read(table) == replace(CURSOR, shard="a", saved_at=NOW + timedelta(milliseconds=250))
    key = {"id": {"S": HELD.id}, "part": {"S": "cursor/a"}}
    assert table.read == [{"TableName": "ledger", "Key": key, "ConsistentRead": True}]


def test_a_cursor_is_gone_from_its_expiry_on_though_its_item_still_stands() -> None:
    assert read(Table(item=ITEM), now=CURSOR.expires_at - timedelta.resolution) is not None
    assert read(Table(item=ITEM), now=CURSOR.expires_at) is None


def test_two_saves_are_two_transactions() -> None:
    table = Table(None, None)
    save(table)
    save(table)
    assert len({request["ClientRequestToken"] for request in table.asked}) == 2


def test_a_condition_that_is_not_met_is_read_where_the_answer_does_not_show_the_item() -> None:
    other = replace(HELD, owner="other", fence=4)
    item = {**key_of(HELD.id), **encode(other)}
    table = Table(canceled("ConditionalCheckFailed", "None"), item=item)
    assert save(table) == NotHeld(other)
    assert len(table.read) == 1
    assert save(Table(canceled("ConditionalCheckFailed", "None"))) == NotHeld(None)


def test_who_holds_the_operation_instead_is_taken_from_the_answer_where_that_shows_it() -> None:
    other = replace(HELD, owner="other", fence=4)
    error = canceled("ConditionalCheckFailed", "None")
    error.response["CancellationReasons"][0]["Item"] = {**key_of(HELD.id), **encode(other)}  # type: ignore[typeddict-item]
    table = Table(error)
    assert save(table) == NotHeld(other)
    assert table.read == []


def test_where_nobody_can_see_who_holds_the_operation_the_save_is_tried_again() -> None:
    table = Away(canceled("ConditionalCheckFailed", "None"), LOST, None)
    assert save(table) == Written()
    away = [canceled("ConditionalCheckFailed", "None") for _ in range(3)]
    assert save(Away(*away)) == Unavailable("ReadTimeoutError")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (canceled("TransactionConflict", "None"), "TransactionConflict"),
        (canceled("None", "ThrottlingError"), "ThrottlingError"),
        (canceled(None, "ItemCollectionSizeLimitExceeded"), "ItemCollectionSizeLimitExceeded"),
        (canceled("None", "None"), "TransactionCanceledException"),
        (canceled(), "TransactionCanceledException"),
        (failed("InternalServerError"), "InternalServerError"),
    ],
)
def test_what_a_save_failed_for_without_anybody_s_fault_is_named(error: Exception, reason: str) -> None:
    assert save(Table(error, error, error)) == Unavailable(reason)


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        (canceled("None", "None", "None", "ConditionalCheckFailed"), ["None", "ConditionalCheckFailed"]),
        (canceled("None", "None", "ValidationError", "None"), ["ValidationError", "None"]),
        (failed("ValidationException"), ["ValidationException"] * 2),
        (failed("AccessDeniedException"), ["AccessDeniedException"] * 2),
        (failed("ResourceNotFoundException"), ["ResourceNotFoundException"] * 2),
    ],
)
def test_a_wrong_write_of_the_caller_is_named_and_not_tried_again(error: Exception, codes: list[str]) -> None:
    table = Table(error)
    assert save(table, OWN) == RefusedWrites(codes)
    assert len(table.asked) == 1


@pytest.mark.parametrize("passing", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])
def test_what_passes_on_the_caller_s_item_is_tried_again(passing: str) -> None:
    table = Table(canceled("None", "None", passing, None), None)
    assert save(table, OWN) == Written()


def test_without_writes_of_the_caller_a_denied_transaction_is_the_ledger_s_trouble() -> None:
    assert save(Table(*[failed("AccessDeniedException")] * 3)) == Unavailable("AccessDeniedException")


def test_a_cursor_that_cannot_be_read_is_no_missing_cursor() -> None:
    with pytest.raises(LedgerUnavailable, match="ReadTimeoutError"):
        read(Away())
