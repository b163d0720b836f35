"""Cursors on DynamoDB: items beside their operation, saved in one transaction with a condition on it.

Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html (up to 100 actions;
a client request token makes repetitions within ten minutes one transaction; the cancellation reasons are in the order
of the actions, and carry the item where ReturnValuesOnConditionCheckFailure asks for it).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from surehand.aws.clients import AWS_ERRORS, reason
from surehand.aws.items import decode, key_of, milliseconds
from surehand.errors import LedgerUnavailable
from surehand.ledger import Cursor, NotHeld, RefusedWrites, Save, Saved, Unavailable, Written
from surehand.states import HELD

#: Tries of one save. Beyond the client's own, for a conflict with another writer of the same item (an operator).
_TRIES = 3
#: What a transaction is canceled for without anybody's condition being at fault.
_PASSING = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})
#: What DynamoDB answers when a write itself is wrong; ours are tested, so then it is one of the caller's.
_WRONG = frozenset({"ValidationException", "ResourceNotFoundException", "AccessDeniedException"})
_OURS = 2
_NAMES = {
    "#fence": "fence",
    "#owner": "owner",
    "#cancel": "cancel_requested",
    "#until": "lease_until",
    "#state": "state",
}


def part_of(shard: str) -> str:
    """Return the sort key of a cursor."""
    return f"cursor/{shard}"


class DynamoDBCursors:
    """The `Cursors` in the ledger's table."""

    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self._table = table

    def read(self, operation: str, shard: str, *, now: datetime) -> Cursor | None:
        """See `Cursors.read`."""
        item = self._get(operation, part_of(shard))
        if item is None:
            return None
        cursor = Cursor(
            operation=operation,
            shard=shard,
            value=item["value"]["S"],
            fence=int(item["fence"]["N"]),
            saved_at=datetime.fromtimestamp(int(item["saved_at"]["N"]) / 1000, UTC),
            expires_at=datetime.fromtimestamp(int(item["expires_at"]["N"]), UTC),
        )
        return None if cursor.expires_at <= now else cursor

    def save(self, save: Save, *, now: datetime) -> Saved:
        """See `Cursors.save`."""
        actions = [self._held(save, now), {"Put": self._put(save)}, *save.writes]
        token = str(uuid.uuid4())
        answer: Saved = Unavailable("TransactionConflict")
        for _ in range(_TRIES):
            try:
                self._client.transact_write_items(TransactItems=actions, ClientRequestToken=token)
            except AWS_ERRORS as error:
                answer = self._refused(save, error)
                if not isinstance(answer, Unavailable):
                    return answer
            else:
                return Written()
        return answer

    def _refused(self, save: Save, error: Exception) -> Saved:
        response: Mapping[str, Any] = getattr(error, "response", None) or {}
        reasons: Sequence[Mapping[str, Any]] = response.get("CancellationReasons", ())
        codes = [str(one.get("Code", "None")) for one in reasons]
        if reason(error) in _WRONG and save.writes:
            return RefusedWrites([reason(error)] * len(save.writes))
        if not codes:
            return Unavailable(reason(error))
        if codes[0] == "ConditionalCheckFailed":
            return self._not_held(save, reasons[0].get("Item"))
        if any(code not in (*_PASSING, "None") for code in codes[_OURS:]):
            return RefusedWrites(codes[_OURS:])
        return Unavailable(next((code for code in codes if code != "None"), "TransactionCanceledException"))

    def _not_held(self, save: Save, item: Mapping[str, Any] | None) -> Saved:
        """Say who holds the operation now; read it where the answer did not show it."""
        try:
            item = item or self._get(save.claimed.id, key_of(save.claimed.id)["part"]["S"])
        except LedgerUnavailable as error:
            return Unavailable(str(error))
        return NotHeld(decode(item) if item else None)

    def _get(self, operation: str, part: str) -> Mapping[str, Any] | None:
        try:
            answer = self._client.get_item(TableName=self._table, Key=key_of(operation, part), ConsistentRead=True)
        except AWS_ERRORS as error:
            raise LedgerUnavailable(reason(error)) from error
        item: Mapping[str, Any] | None = answer.get("Item")
        return item

    def _held(self, save: Save, now: datetime) -> Mapping[str, Any]:
        """Return the condition that the operation is held, or an update under it that clears the operation's marks."""
        claimed = save.claimed
        states = {f":state{index}": {"S": state.value} for index, state in enumerate(sorted(HELD))}
        condition = (
            "#fence = :fence AND #owner = :owner AND #cancel = :no AND #until > :now "
            f"AND #state IN ({', '.join(states)})"
        )
        check: dict[str, Any] = {
            "TableName": self._table,
            "Key": key_of(claimed.id),
            "ConditionExpression": condition,
            "ExpressionAttributeNames": dict(_NAMES),
            "ExpressionAttributeValues": {
                ":fence": {"N": str(claimed.fence)},
                ":owner": {"S": claimed.owner},
                ":no": {"BOOL": False},
                ":now": {"N": str(milliseconds(now))},
                **states,
            },
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        if not save.cleared:
            return {"ConditionCheck": check}
        check["UpdateExpression"] = "SET #marks = :none"
        check["ExpressionAttributeNames"]["#marks"] = "marks"
        check["ExpressionAttributeValues"][":none"] = {"N": "0"}
        return {"Update": check}

    def _put(self, save: Save) -> Mapping[str, Any]:
        cursor = save.cursor
        item = {
            **key_of(cursor.operation, part_of(cursor.shard)),
            "handler": {"S": save.claimed.handler},
            "value": {"S": cursor.value},
            "fence": {"N": str(cursor.fence)},
            "saved_at": {"N": str(milliseconds(cursor.saved_at))},
            "expires_at": {"N": str(int(cursor.expires_at.timestamp()))},
        }
        return {"TableName": self._table, "Item": item}
