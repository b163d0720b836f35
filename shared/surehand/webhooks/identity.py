"""Which event a verified request is, by the order of preference that resists a replay.

1. An id from signed content, or a composite of signed fields.
2. An id in a header that nobody signs is only a hint: the key is then a digest of what the signature covers (the
   *guard*), so that a captured request is the same operation under a new id, and under none at all. A row may say
   that it trusts the id.
3. The digest of the body. Never of timestamp or signature, which change with every retry.

Senders whose bodies repeat legitimately have neither: each of their deliveries is an operation of its own.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from surehand.webhooks.clock import guess_time
from surehand.webhooks.place import Place, Reading, alternatives
from surehand.webhooks.scheme import Places, Scheme

#: Characters of an id or type that are kept as they are; a longer id is replaced by its digest, a longer type is cut.
LONGEST_ID = 256
LONGEST_TYPE = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who an event says it is.

    *id* is the sender's, None if it gives none; *id_from* the place where it stands; *signed* whether a signature
    covers it. *guard* is the digest that stands in the key for an id that is neither signed nor trusted. *key* is the
    idempotency key, in the namespace of source and tenant. *type* and *occurred_at* are None if the sender gives none.
    """

    key: str
    id: str | None = None
    id_from: str | None = None
    signed: bool = False
    guard: str | None = None
    type: str | None = None
    occurred_at: datetime | None = None


def identify(scheme: Scheme, reading: Reading, *, source: str, tenant: str | None = None) -> Identity:
    """Identify a verified request. Raises nothing: an event that cannot be read is known by its digest."""
    type_ = type_of(scheme, reading)
    event_id, id_from = _id(scheme.id, reading)
    signed = event_id is not None and scheme.id_signed and scheme.body_signed != "none"
    body = hashlib.sha256(reading.request.body).hexdigest()
    guard = _guard(type_, body, scheme) if scheme.guards else None
    request = reading.request.request_id
    if guard is not None:
        name = f"guard:{guard}"
    elif event_id is not None:
        name = event_id
    else:
        name = f"delivery:{request}" if scheme.without_id == "delivery" and request else f"sha256:{body}"
    namespace = source if tenant is None else f"{source}/{tenant}"
    return Identity(
        key=f"{namespace}#{name}",
        id=event_id,
        id_from=id_from,
        signed=signed,
        guard=guard,
        type=type_,
        occurred_at=_occurred_at(scheme, reading),
    )


def type_of(scheme: Scheme, reading: Reading) -> str | None:
    """Return the event's type: parts joined by a dot; None if absent, or if the items of a batch differ."""
    for places in alternatives(scheme.type):
        names = set(_rows(places, reading))
        if names:
            only = names.pop() if len(names) == 1 else None
            return ".".join(only)[:LONGEST_TYPE] if only else None
    return None


def _guard(type_: str | None, body: str, scheme: Scheme) -> str:
    return hashlib.sha256(f"{type_}\n{body}".encode()).hexdigest() if scheme.guard_type else body


def _id(texts: Places, reading: Reading) -> tuple[str | None, str | None]:
    for places in alternatives(texts):
        rows = _rows(places, reading)
        if rows:
            names = [_joined(row) for row in rows]
            # A batch is one message: its id is made of all of its items'.
            joined = names[0] if len(names) == 1 else f"items:{hashlib.sha256(repr(names).encode()).hexdigest()}"
            return _bounded(joined), "+".join(map(str, places))
    return None, None


def _rows(places: tuple[Place, ...], reading: Reading) -> list[tuple[str, ...]]:
    """Return the parts of a composite for each item, or nothing if any part of any item is absent."""
    columns = [reading.values(place) for place in places]
    if len({len(column) for column in columns}) != 1:
        return []
    rows = [tuple(value for value in row if value is not None) for row in zip(*columns, strict=True)]
    return rows if all(len(row) == len(places) for row in rows) else []


def _joined(parts: tuple[str, ...]) -> str:
    """Join a composite by colons, those inside its parts escaped, so that no two composites look alike."""
    if len(parts) == 1:
        return parts[0]
    return ":".join(part.replace("%", "%25").replace(":", "%3A") for part in parts)


def _bounded(name: str) -> str:
    return name if len(name) <= LONGEST_ID else f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"


def _occurred_at(scheme: Scheme, reading: Reading) -> datetime | None:
    for places in alternatives(scheme.occurred_at):
        moments = [guess_time(value) for value in reading.values(places[0]) if value is not None]
        if len(moments) == 1:
            return moments[0]
    return None
