"""What goes to DynamoDB for a write and what its answers mean, letter by letter, without a store.

That these expressions mean what they should is shown by `tests/contracts/test_ledger.py` on real engines.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from surehand.aws import dynamodb
from surehand.aws.dynamodb import KEYS, STATEMENTS, DynamoDBLedger
from surehand.aws.items import decode, encode, key_of
from surehand.errors import LedgerUnavailable
from surehand.ledger import Answer, Entry, NotWritten, Operation, Unavailable, Write, Written
from surehand.states import State

NOW = datetime(2026, 1, 5, 12, 0, 0, 250_000, tzinfo=UTC)
NOW_MS, NOW_S = "1767614400250", "1767614400"
HOUR, DAYS = timedelta(hours=1), timedelta(days=30)


class FakeClient:
    """Answers from a list, and keeps what it was asked."""

    def __init__(self, *answers: object) -> None:
        self.meta = SimpleNamespace(events=SimpleNamespace(register=lambda *_, **__: None))
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def _answer(self, **request: Any) -> object:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    update_item = batch_execute_statement = batch_get_item = _answer


def ledger(*answers: object, batched: bool = True) -> tuple[DynamoDBLedger, FakeClient]:
    client = FakeClient(*answers)
    return DynamoDBLedger(client, "ledger", batched=batched), client


FULL = Operation(
    id="o",
    handler="orders",
    tenant="t",
    state=State.PERMANENTLY_FAILED,
    fence=3,
    owner="one",
    claimed_at=NOW,
    started_at=NOW - HOUR,
    expires_at=datetime.fromtimestamp(1_770_206_400, UTC),
    lease_until=NOW + HOUR,
    not_before=NOW + 2 * HOUR,
    attempts=2,
    marks=1,
    message_ids=("m1", "m2"),
    failed_ids=("m1",),
    fingerprints=("b", "f"),
    history=(
        Entry(state=State.LEASED, at=NOW - HOUR, fence=3, attempt=2, message_id="m1"),
        Entry(state=State.PERMANENTLY_FAILED, at=NOW, fence=3, attempt=2, code="data.bad", note="because"),
    ),
    code="data.bad",
    result="7",
    cancel_requested=True,
    version="v1",
)
WIRE = {
    "handler": {"S": "orders"},
    "state": {"S": "permanently_failed"},
    "fence": {"N": "3"},
    "owner": {"S": "one"},
    "claimed_at": {"N": NOW_MS},
    "started_at": {"N": "1767610800250"},
    "attempts": {"N": "2"},
    "marks": {"N": "1"},
    "message_ids": {"L": [{"S": "m1"}, {"S": "m2"}]},
    "history": {
        "L": [
            {"S": '["leased",1767610800250,3,2,null,"m1"]'},
            {"S": f'["permanently_failed",{NOW_MS},3,2,"data.bad",null,"because"]'},
        ]
    },
    "expires_at": {"N": "1770206400"},
    "cancel_requested": {"BOOL": True},
    "tenant": {"S": "t"},
    "code": {"S": "data.bad"},
    "result": {"S": "7"},
    "version": {"S": "v1"},
    "lease_until": {"N": "1767618000250"},
    "not_before": {"N": "1767621600250"},
    "failed_ids": {"L": [{"S": "m1"}]},
    "fingerprints": {"L": [{"S": "b"}, {"S": "f"}]},
    "attention": {"S": "orders"},
    "attention_at": {"N": NOW_MS},
}
BARE = Operation(
    id="o",
    handler="orders",
    tenant=None,
    state=State.LEASED,
    fence=1,
    owner="one",
    claimed_at=NOW,
    started_at=NOW,
    expires_at=datetime.fromtimestamp(1_770_206_400, UTC),
)
BARE_WIRE = {
    "handler": {"S": "orders"},
    "state": {"S": "leased"},
    "fence": {"N": "1"},
    "owner": {"S": "one"},
    "claimed_at": {"N": NOW_MS},
    "started_at": {"N": NOW_MS},
    "attempts": {"N": "0"},
    "marks": {"N": "0"},
    "message_ids": {"L": []},
    "history": {"L": []},
    "expires_at": {"N": "1770206400"},
    "cancel_requested": {"BOOL": False},
}


@pytest.mark.parametrize(("operation", "wire"), [(FULL, WIRE), (BARE, BARE_WIRE)], ids=["full", "bare"])
def test_an_operation_is_stored_and_read_as_it_is(operation, wire) -> None:
    assert encode(operation) == wire
    assert decode({**key_of("o"), **wire}) == operation


def test_an_item_without_what_is_optional_is_read_with_its_defaults() -> None:
    least = {name: value for name, value in BARE_WIRE.items() if name != "cancel_requested"}
    assert decode({**key_of("o"), **least}) == BARE


def test_a_failed_item_without_history_wants_attention_since_its_claim() -> None:
    assert encode(replace(FULL, history=()))["attention_at"] == {"N": NOW_MS}
    assert encode(replace(FULL, history=(), claimed_at=NOW - HOUR))["attention_at"] == {"N": "1767610800250"}


def test_a_first_claim_is_written_only_where_nothing_is() -> None:
    store, client = ledger({})
    assert store.write([Write(operation=BARE, previous=None)], now=NOW) == [Written()]
    assert client.asked == [
        {
            "TableName": "ledger",
            "Key": {"id": {"S": "o"}, "part": {"S": "operation"}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in BARE_WIRE),
            "ConditionExpression": "attribute_not_exists(#id)",
            "ExpressionAttributeNames": {"#id": "id", **{f"#{name}": name for name in BARE_WIRE}},
            "ExpressionAttributeValues": {f":{name}": value for name, value in BARE_WIRE.items()},
        }
    ]


DONE = replace(FULL, state=State.DEAD_LETTERED, fence=4, lease_until=None, attempts=0)
STILL = {
    ":old_fence": {"N": "3"},
    ":old_owner": {"S": "one"},
    ":old_state": {"S": "permanently_failed"},
    ":old_cancel_requested": {"BOOL": True},
    ":old_expires_at": {"N": NOW_S},
}
UNCHANGED = (
    "#fence = :old_fence AND #owner = :old_owner AND #state = :old_state AND #cancel_requested = :old_cancel_requested"
)


def test_a_change_is_written_only_while_the_item_is_what_was_read() -> None:
    store, client = ledger({})
    assert store.write([Write(operation=DONE, previous=FULL)], now=NOW) == [Written()]
    (asked,) = client.asked
    assert asked["UpdateExpression"].partition(" REMOVE ")[2] == "#lease_until"
    sets = asked["UpdateExpression"].partition(" REMOVE ")[0].removeprefix("SET ").split(", ")
    assert sorted(sets) == sorted(
        f"#{name} = :{name}" for name in ("state", "fence", "attempts", "attention", "attention_at")
    )
    assert asked["ConditionExpression"] == f"{UNCHANGED} AND #expires_at > :old_expires_at"
    assert asked["ExpressionAttributeValues"] == STILL | {
        ":state": {"S": "dead_lettered"},
        ":fence": {"N": "4"},
        ":attempts": {"N": "0"},
        ":attention": {"S": "orders"},
        ":attention_at": {"N": NOW_MS},
    }
    used = {word for word in asked["UpdateExpression"].replace(",", " ").split() if word.startswith("#")}
    used |= {word for word in asked["ConditionExpression"].split() if word.startswith("#")}
    assert asked["ExpressionAttributeNames"] == {word: word[1:] for word in used}


def test_a_claim_of_an_expired_item_is_written_only_while_it_is_expired() -> None:
    expired = replace(FULL, expires_at=NOW - HOUR)
    fresh = replace(BARE, fence=4, owner="two")
    store, client = ledger({})
    store.write([Write(operation=fresh, previous=expired)], now=NOW)
    assert client.asked[0]["ConditionExpression"] == f"{UNCHANGED} AND #expires_at <= :old_expires_at"
    removed = client.asked[0]["UpdateExpression"].partition(" REMOVE ")[2].split(", ")
    assert {"#attention", "#attention_at", "#failed_ids", "#code", "#tenant", "#result"} <= set(removed)


def test_several_writes_are_one_call_of_statements() -> None:
    store, client = ledger({"Responses": [{}, {}]})
    writes = [Write(operation=BARE, previous=None), Write(operation=DONE, previous=FULL)]
    assert store.write(writes, now=NOW) == [Written(), Written()]
    ((statements),) = client.asked[0].values()
    names = ", ".join(f"'{name}': ?" for name in ("id", "part", *BARE_WIRE))
    assert statements[0] == {
        "Statement": f'INSERT INTO "ledger" VALUE {{{names}}}',
        "Parameters": [{"S": "o"}, {"S": "operation"}, *BARE_WIRE.values()],
    }
    change = statements[1]
    changed = [part.split('"')[1] for part in change["Statement"].split(" SET ")[1:]]
    assert sorted(changed) == ["attempts", "attention", "attention_at", "fence", "state"]
    assert change["Statement"].startswith('UPDATE "ledger" SET "')
    assert change["Statement"].endswith(
        ' REMOVE "lease_until" WHERE "id" = ? AND "part" = ? AND "fence" = ? AND "owner" = ? AND "state" = ? '
        'AND "cancel_requested" = ? AND "expires_at" > ?'
    )
    assert change["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD"
    values = {"state": {"S": "dead_lettered"}, "fence": {"N": "4"}, "attempts": {"N": "0"},
              "attention": {"S": "orders"}, "attention_at": {"N": NOW_MS}}  # fmt: skip
    assert change["Parameters"] == [
        *(values[name] for name in changed),
        {"S": "o"},
        {"S": "operation"},
        *STILL.values(),
    ]


def refusing(item: dict[str, Any] | None, code: str = "ConditionalCheckFailedException") -> ClientError:
    answer: Any = {"Error": {"Code": code, "Message": "no"}}
    return ClientError(answer if item is None else answer | {"Item": item}, "UpdateItem")


OTHER = {**key_of("o"), **WIRE, "owner": {"S": "two"}}
OURS = {**key_of("o"), **BARE_WIRE}
CLAIM = Write(operation=BARE, previous=None)


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        (refusing(OTHER), NotWritten(replace(FULL, owner="two"))),
        (refusing(OURS), Written()),
        (refusing(None), NotWritten(None)),
        (refusing(None, "ThrottlingException"), Unavailable("ThrottlingException")),
        (ReadTimeoutError(endpoint_url="x"), Unavailable("ReadTimeoutError")),
    ],
)
def test_a_refusal_shows_what_stands_in_the_way_and_an_error_is_no_refusal(answer, means) -> None:
    assert ledger(answer)[0].write([CLAIM], now=NOW) == [means]


@pytest.mark.parametrize(
    ("response", "means"),
    [
        ({}, Written()),
        ({"TableName": "ledger"}, Written()),
        ({"Error": {"Code": "DuplicateItem"}}, NotWritten(None)),
        ({"Error": {"Code": "ConditionalCheckFailed", "Item": OTHER}}, NotWritten(replace(FULL, owner="two"))),
        ({"Error": {"Code": "ConditionalCheckFailed", "Item": OURS}}, Written()),
        ({"Error": {"Code": "ThrottlingError"}}, Unavailable("ThrottlingError")),
        ({"Error": {"Message": "?"}}, Unavailable("StatementError")),
    ],
)
def test_each_statement_has_an_answer_of_its_own(response, means) -> None:
    store, _ = ledger({"Responses": [{}, response]})
    assert store.write([CLAIM, CLAIM], now=NOW) == [Written(), means]


@pytest.mark.parametrize("responses", [{}, {"Responses": [{}]}, {"Responses": [{}] * 3}])
def test_answers_that_do_not_match_the_statements_are_no_answers(responses) -> None:
    assert ledger(responses)[0].write([CLAIM, CLAIM], now=NOW) == [Unavailable("ResponseMismatch")] * 2


def test_a_failed_call_leaves_every_statement_unavailable() -> None:
    store, _ = ledger(refusing(None, "ThrottlingException"))
    assert store.write([CLAIM, CLAIM], now=NOW) == [Unavailable("ThrottlingException")] * 2


def test_writes_beyond_25_are_several_calls_and_answered_in_order() -> None:
    sizes = []

    class Counting(FakeClient):
        def batch_execute_statement(self, **request: Any) -> dict[str, Any]:
            statements = request["Statements"]
            sizes.append(len(statements))
            throttled = [{"Error": {"Code": "ThrottlingError"}}] if len(statements) == 1 else []
            return {"Responses": throttled or [{}] * len(statements)}

    store = DynamoDBLedger(Counting(), "ledger", batched=True)
    answers = store.write([CLAIM] * (2 * STATEMENTS + 1), now=NOW)
    assert sorted(sizes) == [1, STATEMENTS, STATEMENTS]
    assert answers == [*[Written()] * (2 * STATEMENTS), Unavailable("ThrottlingError")]


def test_one_call_takes_no_thread() -> None:
    threads = []

    class Watched(FakeClient):
        def batch_execute_statement(self, **request: Any) -> dict[str, Any]:
            threads.append(threading.current_thread())
            return {"Responses": [{}] * len(request["Statements"])}

    store = DynamoDBLedger(Watched(), "ledger", batched=True)
    assert store.write([CLAIM] * STATEMENTS, now=NOW) == [Written()] * STATEMENTS
    assert threads == [threading.current_thread()]


@pytest.mark.parametrize(("taken", "calls"), [(0, 1), (1, 3)])
def test_a_call_of_which_nothing_is_taken_is_the_last_one(monkeypatch, taken, calls) -> None:
    monkeypatch.setattr(dynamodb, "_THREADS", SimpleNamespace(map=map))  # one after the other
    asked = []

    class Throttled(FakeClient):
        def batch_execute_statement(self, **request: Any) -> dict[str, Any]:
            asked.append(request)
            refused = [{"Error": {"Code": "ThrottlingError"}}] * (len(request["Statements"]) - taken)
            return {"Responses": [*[{}] * taken, *refused]}

    store = DynamoDBLedger(Throttled(), "ledger", batched=True)
    answers = store.write([CLAIM] * (2 * STATEMENTS + 2), now=NOW)
    assert len(asked) == calls
    assert len(answers) == 2 * STATEMENTS + 2
    assert answers.count(Written()) == 3 * taken


def test_two_calls_that_fail_together_leave_the_third_one_answer_a_write(monkeypatch) -> None:
    pending: list[Callable[[], None]] = []
    second: list[Sequence[Answer]] = []

    def submit(execute, chunks) -> Iterator[Sequence[Answer]]:
        answers = map(execute, chunks)
        pending.append(lambda: second.append(next(answers)))
        return chain(second, answers)

    class Throttled(FakeClient):
        def batch_execute_statement(self, **request: Any) -> dict[str, Any]:
            if pending:
                pending.pop()()  # the second call begins and ends while the first is under way
            raise refusing(None, "ThrottlingException")

    monkeypatch.setattr(dynamodb, "_THREADS", SimpleNamespace(map=submit))
    store = DynamoDBLedger(Throttled(), "ledger", batched=True)
    assert store.write([CLAIM] * (2 * STATEMENTS + 2), now=NOW) == [Unavailable("ThrottlingException")] * 52


def test_its_requests_are_sent_as_they_are() -> None:
    registered = []
    client = FakeClient()
    client.meta.events.register = lambda event, *_, **__: registered.append(event)
    DynamoDBLedger(client, "ledger", batched=True)
    assert "provide-client-params.dynamodb.UpdateItem" in registered


def test_without_batches_writes_go_one_by_one_until_one_fails() -> None:
    store, client = ledger({}, refusing(OTHER), refusing(None, "ThrottlingException"), batched=False)
    assert store.write([CLAIM] * 5, now=NOW) == [
        Written(),
        NotWritten(replace(FULL, owner="two")),
        *[Unavailable("ThrottlingException")] * 3,
    ]
    assert len(client.asked) == 3


def page(*names: str, left: tuple[str, ...] = ()) -> dict[str, Any]:
    answer: dict[str, Any] = {"Responses": {"ledger": [{**key_of(name), **BARE_WIRE} for name in names]}}
    if left:
        answer["UnprocessedKeys"] = {"ledger": {"Keys": [key_of(name) for name in left]}}
    return answer


def test_items_are_read_consistently_and_what_was_left_out_is_asked_for_again() -> None:
    store, client = ledger(page("a", left=("b", "c")), page("b", left=("c",)), page("c"))
    assert store.read(["a", "b", "a", "c", "none"]) == {name: replace(BARE, id=name) for name in "abc"}
    assert [[key["id"]["S"] for key in asked["RequestItems"]["ledger"]["Keys"]] for asked in client.asked] == [
        ["a", "b", "c", "none"],
        ["b", "c"],
        ["c"],
    ]
    assert all(asked["RequestItems"]["ledger"]["ConsistentRead"] is True for asked in client.asked)


def test_what_is_left_out_three_times_cannot_be_read() -> None:
    store, client = ledger(*[page(left=("a",))] * 3)
    with pytest.raises(LedgerUnavailable, match="UnprocessedKeys"):
        store.read(["a"])
    assert len(client.asked) == 3


def test_a_table_without_these_items_answers_nothing() -> None:
    assert ledger({})[0].read(["a"]) == {}


def test_a_read_that_fails_names_aws_s_code() -> None:
    with pytest.raises(LedgerUnavailable, match="ThrottlingException"):
        ledger(refusing(None, "ThrottlingException"))[0].read(["a"])


def test_reads_beyond_a_hundred_are_several_calls() -> None:
    store, client = ledger({}, {})
    store.read([str(number) for number in range(KEYS + 1)])
    assert [len(asked["RequestItems"]["ledger"]["Keys"]) for asked in client.asked] == [KEYS, 1]
    assert (KEYS, STATEMENTS) == (100, 25)
