"""The stand-in for DynamoDB refuses what DynamoDB refuses, or the figures would be of something else."""

from __future__ import annotations

import pytest

from bench.wire.conditions import NotUnderstood, condition, update
from bench.wire.partiql import Insert, Update, statement
from bench.wire.sizes import size_of, write_units
from bench.wire.tables import Tables

KEY = {"id": {"S": "1"}, "part": {"S": "operation"}}
PEERS = (
    "attribute_not_exists(#id) OR #expiry < :now OR "
    "(#status = :inprogress AND attribute_exists(#in_progress_expiry) AND #in_progress_expiry < :now_in_millis)"
)


@pytest.mark.parametrize(
    ("item", "holds"),
    [
        ({}, True),
        ({"id": {"S": "1"}, "expiration": {"N": "99"}, "status": {"S": "COMPLETED"}}, True),
        ({"id": {"S": "1"}, "expiration": {"N": "101"}, "status": {"S": "COMPLETED"}}, False),
        ({"id": {"S": "1"}, "expiration": {"N": "101"}, "status": {"S": "INPROGRESS"}}, False),
        (
            {
                "id": {"S": "1"},
                "expiration": {"N": "101"},
                "status": {"S": "INPROGRESS"},
                "lease": {"N": "99999"},
            },
            True,
        ),
    ],
)
def test_the_peers_condition_means_what_it_means_on_dynamodb(item: dict, holds: bool) -> None:
    names = {"#id": "id", "#expiry": "expiration", "#status": "status", "#in_progress_expiry": "lease"}
    values = {":now": {"N": "100"}, ":now_in_millis": {"N": "100000"}, ":inprogress": {"S": "INPROGRESS"}}
    assert condition(PEERS)(item, names, values) is holds


@pytest.mark.parametrize("text", ["size(#a) > :b", "#a BETWEEN :b AND :c", "#a = :b $"])
def test_a_condition_that_it_does_not_know_is_never_taken_for_met(text: str) -> None:
    with pytest.raises((NotUnderstood, KeyError, IndexError)):
        condition(text)({}, {}, {})


def test_an_update_that_it_does_not_know_is_never_ignored() -> None:
    with pytest.raises(NotUnderstood):
        update("SET #a = #a + :one")


def test_the_ledgers_statements_are_read_whole() -> None:
    assert statement("INSERT INTO \"t\" VALUE {'id': ?, 'part': ?}") == Insert("t", ("id", "part"))
    text = 'UPDATE "t" SET "a" = ? SET "b" = ? REMOVE "c" WHERE "id" = ? AND "part" = ? AND "fence" <= ?'
    assert statement(text) == Update("t", ("a", "b"), ("c",), (("id", "="), ("part", "="), ("fence", "<=")))


@pytest.mark.parametrize(
    "text",
    [
        'DELETE FROM "t" WHERE "id" = ?',
        'UPDATE "t" SET "a" = "a" + ? WHERE "id" = ?',
        "INSERT INTO \"t\" VALUE {'a': 1}",
    ],
)
def test_a_statement_that_it_does_not_know_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        statement(text)


def test_a_second_insert_is_a_duplicate_and_a_stale_update_shows_what_stands_there() -> None:
    tables = Tables()
    insert = {"Statement": "INSERT INTO \"t\" VALUE {'id': ?, 'part': ?, 'fence': ?}"}
    parameters = [*KEY.values(), {"N": "1"}]
    assert execute(tables, {**insert, "Parameters": parameters}) == {}
    assert execute(tables, {**insert, "Parameters": parameters})["Code"] == "DuplicateItem"
    stale = {
        "Statement": 'UPDATE "t" SET "fence" = ? WHERE "id" = ? AND "part" = ? AND "fence" = ?',
        "Parameters": [{"N": "9"}, *KEY.values(), {"N": "7"}],
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    error = execute(tables, stale)
    assert (error["Code"], error["Item"]["fence"]) == ("ConditionalCheckFailed", {"N": "1"})


def test_a_refused_write_is_charged_by_the_item_that_stands_there() -> None:
    tables = Tables(account=True)
    large = {"id": {"S": "1"}, "part": {"S": "x"}, "pad": {"S": "x" * 2000}}
    tables.answer("PutItem", {"TableName": "t", "Item": large})
    assert tables.used.write_units == 2
    refused = {
        "TableName": "t",
        "Item": large,
        "ConditionExpression": "attribute_not_exists(#id)",
        "ExpressionAttributeNames": {"#id": "id"},
    }
    assert tables.answer("PutItem", refused)[0] == 400
    assert tables.used.write_units == 4


def test_sizes_are_those_of_the_developer_guide() -> None:
    assert size_of({"id": {"S": "ab"}, "n": {"N": "1234"}, "b": {"BOOL": True}}) == 4 + 4 + 2
    assert size_of({"l": {"L": [{"S": "x"}, {"S": "y"}]}}) == 1 + 3 + 2 * 2
    assert [write_units(size) for size in (0, 1, 1024, 1025)] == [1, 1, 1, 2]


def execute(tables: Tables, request: dict) -> dict:
    status, body = tables.answer("BatchExecuteStatement", {"Statements": [request]})
    assert status == 200
    return body["Responses"][0].get("Error", {})
