"""DynamoDB's calls on items in memory: enough of their semantics for both sides to run unchanged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.wire.conditions import Item, NotUnderstood, compare, condition, update
from bench.wire.partiql import Insert, statement
from bench.wire.sizes import size_of, write_units

#: The sparse index of the ledger: an item that has this attribute is written to the index as well.
_INDEXED = "attention"


@dataclass(slots=True)
class Used:
    """What a batch has consumed."""

    calls: dict[str, int] = field(default_factory=dict)
    write_units: float = 0.0
    read_units: float = 0.0
    largest_item: int = 0
    request_bytes: int = 0


class Refusal(Exception):
    """The condition is not met. *item* is what stands there."""

    def __init__(self, code: str, item: Item | None) -> None:
        self.code = code
        self.item = item
        super().__init__(code)


class Tables:
    """All tables; an item's key is its `id`, with `part` where it has one. Thread-safe."""

    def __init__(self, *, account: bool = False) -> None:
        """*account*: compute write units and sizes; off where only time is measured."""
        self.items: dict[tuple[str, str, str], Item] = {}
        self.used = Used()
        self._account = account
        self._lock = threading.Lock()
        self._calls: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
            "PutItem": self._put,
            "UpdateItem": self._update,
            "DeleteItem": self._delete,
            "GetItem": self._get,
            "BatchGetItem": self._get_batch,
            "BatchExecuteStatement": self._execute_batch,
        }

    def answer(self, call: str, request: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        """Return HTTP status and body of a call."""
        with self._lock:
            self.used.calls[call] = self.used.calls.get(call, 0) + 1
            try:
                return 200, self._calls[call](request)
            except Refusal as refusal:
                body: dict[str, Any] = {"__type": "ConditionalCheckFailedException", "message": "refused"}
                if refusal.item and request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD":
                    body["Item"] = refusal.item
                return 400, body

    def _put(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        key = _key(request["TableName"], request["Item"])
        self._check(request, self.items.get(key))
        self._store(key, request["Item"])
        return {}

    def _update(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        key = _key(request["TableName"], request["Key"])
        old = self.items.get(key)
        self._check(request, old)
        assigned, removed = update(request["UpdateExpression"])
        names, values = request["ExpressionAttributeNames"], request.get("ExpressionAttributeValues", {})
        gone = {names[name] for name in removed}
        item = {name: value for name, value in (old or request["Key"]).items() if name not in gone}
        self._store(key, item | {names[name]: values[value] for name, value in assigned})
        return {}

    def _delete(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        key = _key(request["TableName"], request["Key"])
        self._check(request, self.items.get(key))
        self._store(key, None)
        return {}

    def _get(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        item = self._read(_key(request["TableName"], request["Key"]))
        return {"Item": item} if item else {}

    def _get_batch(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {
            table: [item for key in wanted["Keys"] if (item := self._read(_key(table, key)))]
            for table, wanted in request["RequestItems"].items()
        }
        return {"Responses": found, "UnprocessedKeys": {}}

    def _execute_batch(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"Responses": [self._execute(one) for one in request["Statements"]]}

    def _execute(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        said, parameters = statement(request["Statement"]), request["Parameters"]
        try:
            if isinstance(said, Insert):
                item = dict(zip(said.names, parameters, strict=True))
                key = _key(said.table, item)
                if key in self.items:
                    raise self._refusal("DuplicateItem", self.items[key])
                self._store(key, item)
            else:
                new = dict(zip(said.assigned, parameters, strict=False))
                wanted = list(zip(said.conditions, parameters[len(new) :], strict=True))
                key = _key(said.table, {name: value for (name, _), value in wanted})
                old = self.items.get(key)
                if old is None or not all(compare(old.get(name), sign, value) for (name, sign), value in wanted):
                    raise self._refusal("ConditionalCheckFailed", old)
                self._store(key, {name: value for name, value in old.items() if name not in said.removed} | new)
        except Refusal as refusal:
            error: dict[str, Any] = {"Code": refusal.code, "Message": "refused"}
            if refusal.item and request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD":
                error["Item"] = refusal.item
            return {"Error": error, "TableName": said.table}
        return {"TableName": said.table}

    def _check(self, request: Mapping[str, Any], item: Item | None) -> None:
        text = request.get("ConditionExpression")
        if text is None:
            return
        names, values = request.get("ExpressionAttributeNames", {}), request.get("ExpressionAttributeValues", {})
        if not condition(text)(item or {}, names, values):
            raise self._refusal("ConditionalCheckFailed", item)

    def _refusal(self, code: str, item: Item | None) -> Refusal:
        if self._account:  # a refused write is charged by the item that stands there
            self.used.write_units += write_units(size_of(item) if item else 0)
        return Refusal(code, item)

    def _store(self, key: tuple[str, str, str], item: Item | None) -> None:
        if self._account:
            sizes = [size_of(one) for one in (self.items.get(key), item) if one]
            self.used.largest_item = max(self.used.largest_item, *sizes, 0)
            self.used.write_units += write_units(*sizes)
            if any(_INDEXED in one for one in (self.items.get(key), item) if one):
                self.used.write_units += write_units(*sizes)
        if item is None:
            self.items.pop(key, None)
        else:
            self.items[key] = item

    def _read(self, key: tuple[str, str, str]) -> Item | None:
        item = self.items.get(key)
        if self._account:  # consistent: one unit for each 4 KB
            self.used.read_units += max(1, -(-size_of(item or {}) // 4096))
        return item


def _key(table: str, item: Mapping[str, Any]) -> tuple[str, str, str]:
    try:
        return table, item["id"]["S"], item.get("part", {}).get("S", "")
    except KeyError:
        raise NotUnderstood(f"a key without id: {sorted(item)}") from None
