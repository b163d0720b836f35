"""The ledger on DynamoDB: one conditional UpdateItem for a single write, one PartiQL batch for several.

Sources: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html (1 to 25
statements, not atomic, answers 200 with an error per statement) and API_UpdateItem.html
(ReturnValuesOnConditionCheckFailure returns the old item without a further read).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import lru_cache
from typing import Any

from surehand.aws.bodies import send_as_they_are
from surehand.aws.clients import AWS_ERRORS, reason
from surehand.aws.items import PART, Wire, changes, decode, encode, key_of
from surehand.errors import LedgerUnavailable
from surehand.ledger import Answer, NotWritten, Operation, Unavailable, Write, Written, is_own

#: Statements in one BatchExecuteStatement, and keys in one BatchGetItem.
STATEMENTS, KEYS = 25, 100
#: Calls at once when a batch needs several.
CALLS = 8
#: Kept over invocations: starting a thread takes longer than what it computes. They start when first needed.
_THREADS = ThreadPoolExecutor(CALLS, thread_name_prefix="surehand-ledger")
_UNMET = frozenset({"ConditionalCheckFailed", "DuplicateItem"})


class DynamoDBLedger:
    """The `Ledger` on a table with the keys `id` and `part`.

    *batched* writes several operations in one call (PartiQL); otherwise each is an UpdateItem of its own, which is
    what moto emulates. Both write the same items under the same conditions.
    """

    def __init__(self, client: Any, table: str, *, batched: bool) -> None:
        send_as_they_are(client)
        self._client = client
        self._table = table
        self._batched = batched

    def read(self, ids: Sequence[str]) -> dict[str, Operation]:
        """See `Ledger.read`."""
        unique = list(dict.fromkeys(ids))
        found: dict[str, Operation] = {}
        for chunk in _chunks(unique, KEYS):
            for item in self._get([key_of(operation_id) for operation_id in chunk]):
                operation = decode(item)
                found[operation.id] = operation
        return found

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        """See `Ledger.write`."""
        if len(writes) > 1 and self._batched:
            return self._write_batches(writes, now)
        answers: list[Answer] = []
        for write in writes:
            if answers and isinstance(answers[-1], Unavailable):
                answers.append(answers[-1])
            else:
                answers.append(self._write_one(write, now))
        return answers

    def _get(self, keys: list[Wire]) -> Iterable[Mapping[str, Any]]:
        items: list[Mapping[str, Any]] = []
        for _ in range(3):
            request = {self._table: {"Keys": keys, "ConsistentRead": True}}
            try:
                answer = self._client.batch_get_item(RequestItems=request)
            except AWS_ERRORS as error:
                raise LedgerUnavailable(reason(error)) from error
            items += answer.get("Responses", {}).get(self._table, ())
            keys = answer.get("UnprocessedKeys", {}).get(self._table, {}).get("Keys", [])
            if not keys:
                return items
        raise LedgerUnavailable("UnprocessedKeys")

    def _write_one(self, write: Write, now: datetime) -> Answer:
        try:
            self._client.update_item(
                TableName=self._table,
                Key=key_of(write.operation.id),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **_update(write, now),
            )
        except AWS_ERRORS as error:
            if reason(error) != "ConditionalCheckFailedException":
                return Unavailable(reason(error))
            return _refused(write, getattr(error, "response", {}).get("Item"))
        return Written()

    def _write_batches(self, writes: Sequence[Write], now: datetime) -> Sequence[Answer]:
        chunks = list(_chunks(writes, STATEMENTS))
        if len(chunks) == 1:
            return self._execute(chunks[0], now)
        away: list[Answer] = []

        def execute(chunk: Sequence[Write]) -> Sequence[Answer]:
            if away:
                return away[:1] * len(chunk)
            answers = self._execute(chunk, now)
            if all(isinstance(answer, Unavailable) for answer in answers):
                away.append(answers[0])
            return answers

        others = _THREADS.map(execute, chunks[1:])  # submitted here; the thread that waits anyway takes the first
        return [answer for answers in [execute(chunks[0]), *others] for answer in answers]

    def _execute(self, writes: Sequence[Write], now: datetime) -> list[Answer]:
        statements = [_statement(self._table, write, now) for write in writes]
        try:
            answer = self._client.batch_execute_statement(Statements=statements)
        except AWS_ERRORS as error:
            return [Unavailable(reason(error))] * len(writes)
        responses = answer.get("Responses", ())
        if len(responses) != len(writes):
            return [Unavailable("ResponseMismatch")] * len(writes)
        return [_answer(write, response) for write, response in zip(writes, responses, strict=True)]


def _answer(write: Write, response: Mapping[str, Any]) -> Answer:
    error = response.get("Error")
    if not error:
        return Written()
    if error.get("Code") in _UNMET:
        return _refused(write, error.get("Item"))
    return Unavailable(str(error.get("Code", "StatementError")))


def _refused(write: Write, item: Mapping[str, Any] | None) -> Answer:
    """A refusal that shows our own owner, fence and state is our own first write, whose answer was lost."""
    if not item:
        return NotWritten(None)
    existing = decode(item)
    return Written() if is_own(write, existing) else NotWritten(existing)


def _conditions(write: Write, previous: Operation, now: datetime) -> list[tuple[str, str, Wire]]:
    """Return attribute, comparison and value of each condition that says "still the item that was read"."""
    still: list[tuple[str, str, Wire]] = [
        ("fence", "=", {"N": str(previous.fence)}),
        ("owner", "=", {"S": previous.owner}),
        ("state", "=", {"S": previous.state.value}),
        ("cancel_requested", "=", {"BOOL": previous.cancel_requested}),
    ]
    return [*still, ("expires_at", "<=" if write.revives else ">", {"N": str(int(now.timestamp()))})]


def _update(write: Write, now: datetime) -> dict[str, Any]:
    """Return the expressions of an UpdateItem."""
    if write.previous is None:
        assigned, removed, still = encode(write.operation), list[str](), list[tuple[str, str, Wire]]()
    else:
        assigned, removed = changes(write.operation, write.previous)
        still = _conditions(write, write.previous, now)
    update, condition, names = _expressions(tuple(assigned), tuple(removed), tuple((one[0], one[1]) for one in still))
    values = {":" + name: value for name, value in assigned.items()}
    values |= {":old_" + name: value for name, _, value in still}
    return {
        "UpdateExpression": update,
        "ConditionExpression": condition,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }


@lru_cache(maxsize=256)
def _expressions(
    assigned: tuple[str, ...], removed: tuple[str, ...], still: tuple[tuple[str, str], ...]
) -> tuple[str, str, dict[str, str]]:
    """Return the update, the condition and the names of both. Without anything that still holds, there is no item."""
    sets = ", ".join(f"#{name} = :{name}" for name in assigned)
    removes = ", ".join(f"#{name}" for name in removed)
    update = " ".join([*([f"SET {sets}"] if sets else []), *([f"REMOVE {removes}"] if removes else [])])
    condition = " AND ".join(f"#{name} {sign} :old_{name}" for name, sign in still) or "attribute_not_exists(#id)"
    used = [*assigned, *removed, *(name for name, _ in still)] if still else ["id", *assigned]
    return update, condition, {f"#{name}": name for name in used}


def _statement(table: str, write: Write, now: datetime) -> dict[str, Any]:
    """Return one PartiQL statement with its parameters."""
    if write.previous is None:
        item = {**key_of(write.operation.id), **encode(write.operation)}
        return {"Statement": _insert(table, tuple(item)), "Parameters": list(item.values())}
    assigned, removed = changes(write.operation, write.previous)
    still = _conditions(write, write.previous, now)
    return {
        "Statement": _change(table, tuple(assigned), tuple(removed), tuple((name, sign) for name, sign, _ in still)),
        "Parameters": [
            *assigned.values(),
            {"S": write.operation.id},
            {"S": PART},
            *(value for _, _, value in still),
        ],
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


@lru_cache(maxsize=256)
def _insert(table: str, names: tuple[str, ...]) -> str:
    fields = ", ".join(f"'{name}': ?" for name in names)
    return f'INSERT INTO "{table}" VALUE {{{fields}}}'


@lru_cache(maxsize=256)
def _change(table: str, assigned: tuple[str, ...], removed: tuple[str, ...], still: tuple[tuple[str, str], ...]) -> str:
    return " ".join(
        [
            f'UPDATE "{table}"',
            *(f'SET "{name}" = ?' for name in assigned),
            *(f'REMOVE "{name}"' for name in removed),
            'WHERE "id" = ? AND "part" = ?',
            *(f'AND "{name}" {sign} ?' for name, sign in still),
        ]
    )


def _chunks(sequence: Sequence[Any], size: int) -> Iterable[Any]:
    return (sequence[start : start + size] for start in range(0, len(sequence), size))
