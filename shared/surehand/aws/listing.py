"""Listings of the ledger for operators: a Query of the sparse index where it can answer, a bounded Scan elsewhere.

The functions never list; so none of this runs on the way of a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from surehand.aws.items import PART, decode, key_of, milliseconds
from surehand.declare.derived import ATTENTION_INDEX, ATTENTION_KEYS
from surehand.ledger import Operation
from surehand.states import ATTENTION, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which operations to list; what is None does not matter. *since* and *until* bound the last change of state."""

    handler: str | None = None
    state: State | None = None
    tenant: str | None = None
    code: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def indexed(self) -> bool:
        """Whether the sparse index answers it: it is about one handler and states that need attention."""
        return self.handler is not None and (self.state is None or self.state in ATTENTION)

    def fits(self, operation: Operation) -> bool:
        """Tell whether an operation is among those meant; a slot never is. A code ending in `.*` means a class."""
        changed = operation.history[-1].at if operation.history else operation.claimed_at
        return (
            not operation.is_slot
            and (self.handler is None or operation.handler == self.handler)
            and (self.state is None or operation.state is self.state)
            and (self.tenant is None or operation.tenant == self.tenant)
            and (self.code is None or _meant(self.code, operation.code))
            and (self.since is None or changed >= self.since)
            and (self.until is None or changed <= self.until)
        )


@dataclass(frozen=True, slots=True)
class Page:
    """Some operations, how many items were read for them, and where the next page begins (None: that was all)."""

    operations: tuple[Operation, ...]
    read: int
    after: Mapping[str, Any] | None


class Listing:
    """Reads a ledger table page by page."""

    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self._table = table

    def page(self, wish: Wish, *, limit: int, most: int, after: Mapping[str, Any] | None = None) -> Page:
        """Return up to *limit* operations that fit, after reading at most about *most* items (one page of AWS more).

        Raises:
            ClientError, BotoCoreError: DynamoDB refused or could not be reached.
        """
        found: list[Operation] = []
        read = 0
        for answer in self._answers(wish, after):
            read += answer.get("ScannedCount", 0)
            for item in answer.get("Items", ()):
                if item["part"]["S"] != PART:
                    continue
                operation = decode(item)
                if not wish.fits(operation):
                    continue
                found.append(operation)
                if len(found) == limit:
                    return Page(tuple(found), read, _place(item, indexed=wish.indexed))
            if read >= most:
                return Page(tuple(found), read, answer.get("LastEvaluatedKey"))
        return Page(tuple(found), read, None)

    def all(self, wish: Wish, *, most: int) -> Iterator[Operation]:
        """Yield every operation that fits, reading at most about *most* items.

        Raises:
            ClientError, BotoCoreError: As `page`.
        """
        after: Mapping[str, Any] | None = None
        while most > 0:
            page = self.page(wish, limit=1_000, most=most, after=after)
            yield from page.operations
            if page.after is None:
                return
            most -= page.read
            after = page.after

    def _answers(self, wish: Wish, after: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
        request = self._query(wish) if wish.indexed else self._scan(wish)
        call = self._client.query if wish.indexed else self._client.scan
        while True:
            answer = call(**request, **({"ExclusiveStartKey": after} if after else {}))
            yield answer
            after = answer.get("LastEvaluatedKey")
            if not after:
                return

    def _query(self, wish: Wish) -> dict[str, Any]:
        partition, sort = ATTENTION_KEYS
        names = {"#handler": partition}
        values: dict[str, Any] = {":handler": {"S": wish.handler}}
        condition = "#handler = :handler"
        if wish.since is not None or wish.until is not None:
            names["#at"] = sort
            values[":since"] = {"N": str(milliseconds(wish.since)) if wish.since is not None else "0"}
            values[":until"] = {"N": str(milliseconds(wish.until)) if wish.until is not None else "9" * 15}
            condition += " AND #at BETWEEN :since AND :until"
        return {
            "TableName": self._table,
            "IndexName": ATTENTION_INDEX,
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }

    def _scan(self, wish: Wish) -> dict[str, Any]:
        """What DynamoDB can filter it filters, so that less goes over the wire; it reads every item all the same."""
        wanted = {
            "part": PART,
            "handler": wish.handler,
            "tenant": wish.tenant,
            "state": wish.state.value if wish.state is not None else None,
        }
        given = {name: value for name, value in wanted.items() if value is not None}
        return {
            "TableName": self._table,
            "ConsistentRead": True,
            "FilterExpression": " AND ".join(f"#{name} = :{name}" for name in given),
            "ExpressionAttributeNames": {f"#{name}": name for name in given},
            "ExpressionAttributeValues": {f":{name}": {"S": value} for name, value in given.items()},
        }


def _place(item: Mapping[str, Any], *, indexed: bool) -> Mapping[str, Any]:
    """Return the key after which the next page begins when a page ends with *item*."""
    place = dict(key_of(item["id"]["S"]))
    return {**place, **{name: item[name] for name in ATTENTION_KEYS}} if indexed else place


def _meant(wanted: str, code: str | None) -> bool:
    if code is None:
        return False
    return code.startswith(wanted[:-1]) if wanted.endswith(".*") else code == wanted
