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
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

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
    item: Wire = {
        "handler": {"S": operation.handler},
        "state": {"S": operation.state.value},
        "fence": {"N": str(operation.fence)},
        "owner": {"S": operation.owner},
        "claimed_at": _moment(operation.claimed_at),
        "started_at": _moment(operation.started_at),
        "attempts": {"N": str(operation.attempts)},
        "marks": {"N": str(operation.marks)},
        "message_ids": _texts(operation.message_ids),
        "history": _texts([_entry(entry) for entry in operation.history]),
        "expires_at": {"N": str(int(operation.expires_at.timestamp()))},
        "cancel_requested": {"BOOL": operation.cancel_requested},
    }
    for name, text in (
        ("tenant", operation.tenant),
        ("code", operation.code),
        ("result", operation.result),
        ("version", operation.version or None),
    ):
        if text is not None:
            item[name] = {"S": text}
    for name, moment in (("lease_until", operation.lease_until), ("not_before", operation.not_before)):
        if moment is not None:
            item[name] = _moment(moment)
    for name, texts in (("failed_ids", operation.failed_ids), ("fingerprints", operation.fingerprints)):
        if texts:
            item[name] = _texts(texts)
    if operation.needs_attention:
        item["attention"] = {"S": operation.handler}
        item["attention_at"] = _moment(operation.history[-1].at if operation.history else operation.claimed_at)
    return item


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
    new, old = encode(operation), encode(previous)
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    return changed, [name for name in old if name not in new]


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


def _entry(entry: Entry) -> str:
    fields = [entry.state.value, milliseconds(entry.at), entry.fence, entry.attempt, entry.code, entry.message_id]
    if entry.note is not None:
        fields.append(entry.note)
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)


def _read_entry(text: str) -> Entry:
    fields = [*json.loads(text), None][:7]
    return Entry(
        state=State(fields[0]),
        at=_since_epoch(fields[1]),
        fence=fields[2],
        attempt=fields[3],
        code=fields[4],
        message_id=fields[5],
        note=fields[6],
    )
