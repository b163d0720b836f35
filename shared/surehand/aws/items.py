"""The ledger item on the wire: what each attribute is called, what it means, and both directions of translation.

| attribute          | type | means                                                                              |
| ------------------ | ---- | ---------------------------------------------------------------------------------- |
| `id`               | S    | partition key: compact JSON of `[handler, tenant, [key parts]]`                    |
| `part`             | S    | sort key: `operation`; `cursor/<shard>` for cursors                                |
| `handler`          | S    | the handler's name                                                                 |
| `tenant`           | S    | the tenant's text, if declared                                                     |
| `state`            | S    | a `State`                                                                          |
| `fence`            | N    | grows by one with each claim                                                       |
| `owner`            | S    | the last claimant: request id and nonce                                            |
| `lease_until`      | N    | ms since the epoch; absent when nobody owns it                                     |
| `claimed_at`       | N    | ms: the last claim                                                                 |
| `started_at`       | N    | ms: origin of give_up_after                                                        |
| `attempts`         | N    | settled attempts                                                                   |
| `marks`            | N    | 0, or suspicion and confirmed crashes (P3)                                         |
| `not_before`       | N    | ms: no claim before it (P6)                                                        |
| `message_ids`      | L    | the messages that carried it (the latest 20)                                       |
| `failed_ids`       | L    | those that failed permanently (the latest 20)                                      |
| `fingerprints`     | L    | digests of the body and of the declared fields                                     |
| `history`          | L    | JSON arrays `[state, ms, fence, attempt, code, message id, note]` (at most 20)     |
| `code`             | S    | the last failure code                                                              |
| `result`           | S    | JSON text of the result; absent for None (`surehand.results`)                      |
| `expires_at`       | N    | seconds: DynamoDB's TTL                                                            |
| `cancel_requested` | BOOL | a cancel waits for the lease to end                                                |
| `version`          | S    | what was deployed when it was claimed                                              |
| `attention`        | S    | the handler's name, only on failed, dead-lettered and held items: the sparse index |
| `attention_at`     | N    | ms: since when                                                                     |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from surehand.aws.encoding import json_bytes
from surehand.ledger import Entry, Operation
from surehand.states import State

#: The sort key of the operation itself.
PART = "operation"

Wire = dict[str, Any]


def key_of(operation_id: str, part: str = PART) -> Wire:
    """Return an item's primary key."""
    return {"id": {"S": operation_id}, "part": {"S": part}}


def encode(operation: Operation) -> Wire:
    """Return the item of an operation, without its key. Absent values have no attribute."""
    return {name: value for name, write in _ATTRIBUTES.items() if (value := write(operation)) is not None}


def decode(item: Mapping[str, Any]) -> Operation:
    """Return the operation of an item."""
    return Operation(
        id=item["id"]["S"],
        handler=item["handler"]["S"],
        tenant=_text(item, "tenant"),
        state=State(item["state"]["S"]),
        fence=int(item["fence"]["N"]),
        owner=item["owner"]["S"],
        claimed_at=_since_epoch(int(item["claimed_at"]["N"])),
        started_at=_since_epoch(int(item["started_at"]["N"])),
        expires_at=datetime.fromtimestamp(int(item["expires_at"]["N"]), UTC),
        lease_until=_optional_moment(item, "lease_until"),
        not_before=_optional_moment(item, "not_before"),
        attempts=int(item["attempts"]["N"]),
        marks=int(item["marks"]["N"]),
        message_ids=_read_texts(item, "message_ids"),
        failed_ids=_read_texts(item, "failed_ids"),
        fingerprints=_read_texts(item, "fingerprints"),
        history=tuple(_read_entry(text) for text in _read_texts(item, "history")),
        code=_text(item, "code"),
        result=_text(item, "result"),
        cancel_requested=bool(item.get("cancel_requested", {}).get("BOOL", False)),
        version=_text(item, "version") or "",
    )


def changes(operation: Operation, previous: Operation) -> tuple[Wire, list[str]]:
    """Return the attributes to set and the names of those to remove, to make *previous* into *operation*."""
    changed: Wire = {}
    removed: list[str] = []
    for name, write in _ATTRIBUTES.items():
        if name not in _DERIVED and getattr(operation, name) == getattr(previous, name):
            continue
        new = write(operation)
        if new is not None:
            changed[name] = new
        elif write(previous) is not None:
            removed.append(name)
    return changed, removed


def milliseconds(moment: datetime) -> int:
    """Return whole milliseconds since the epoch."""
    return int(moment.timestamp() * 1000)


def _moment(moment: datetime) -> Wire:
    return {"N": str(milliseconds(moment))}


def _since_epoch(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _optional_moment(item: Mapping[str, Any], name: str) -> datetime | None:
    return _since_epoch(int(item[name]["N"])) if name in item else None


def _text(item: Mapping[str, Any], name: str) -> str | None:
    text = item.get(name, {}).get("S")
    return text if isinstance(text, str) else None


def _texts(texts: Sequence[str]) -> Wire:
    return {"L": [{"S": text} for text in texts]}


def _read_texts(item: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(entry["S"] for entry in item.get(name, {}).get("L", ()))


@lru_cache(maxsize=1024)  # a claim's entry is written again with its settle
def _entry(entry: Entry) -> str:
    fields = [entry.state.value, milliseconds(entry.at), entry.fence, entry.attempt, entry.code, entry.message_id]
    if entry.note is not None:
        fields.append(entry.note)
    return json_bytes(fields).decode()


def _read_entry(text: str) -> Entry:
    fields = [*json.loads(text), None]  # an entry without a note has six
    return Entry(
        state=State(fields[0]),
        at=_since_epoch(fields[1]),
        fence=fields[2],
        attempt=fields[3],
        code=fields[4],
        message_id=fields[5],
        note=fields[6],
    )


def _texts_or_none(texts: Sequence[str]) -> Wire | None:
    return _texts(texts) if texts else None


def _text_or_none(text: str | None) -> Wire | None:
    return None if text is None else {"S": text}


def _moment_or_none(moment: datetime | None) -> Wire | None:
    return None if moment is None else _moment(moment)


#: How each attribute is written; None leaves it out.
_ATTRIBUTES: Mapping[str, Callable[[Operation], Wire | None]] = {
    "handler": lambda one: {"S": one.handler},
    "state": lambda one: {"S": one.state.value},
    "fence": lambda one: {"N": str(one.fence)},
    "owner": lambda one: {"S": one.owner},
    "claimed_at": lambda one: _moment(one.claimed_at),
    "started_at": lambda one: _moment(one.started_at),
    "attempts": lambda one: {"N": str(one.attempts)},
    "marks": lambda one: {"N": str(one.marks)},
    "message_ids": lambda one: _texts(one.message_ids),
    "history": lambda one: _texts([_entry(entry) for entry in one.history]),
    "expires_at": lambda one: {"N": str(int(one.expires_at.timestamp()))},
    "cancel_requested": lambda one: {"BOOL": one.cancel_requested},
    "tenant": lambda one: _text_or_none(one.tenant),
    "code": lambda one: _text_or_none(one.code),
    "result": lambda one: _text_or_none(one.result),
    "version": lambda one: _text_or_none(one.version or None),
    "lease_until": lambda one: _moment_or_none(one.lease_until),
    "not_before": lambda one: _moment_or_none(one.not_before),
    "failed_ids": lambda one: _texts_or_none(one.failed_ids),
    "fingerprints": lambda one: _texts_or_none(one.fingerprints),
    "attention": lambda one: {"S": one.handler} if one.needs_attention else None,
    "attention_at": lambda one: _moment(_attention_since(one)) if one.needs_attention else None,
}
#: Attributes that are no field of an operation of the same name.
_DERIVED = frozenset({"attention", "attention_at"})


def _attention_since(operation: Operation) -> datetime:
    return operation.history[-1].at if operation.history else operation.claimed_at
