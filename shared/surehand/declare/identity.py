"""Which operation a message is about: key, tenant and fingerprints, from validated values.

An operation id is the compact JSON of `[handler, tenant, [key parts]]`, so `("a#b", "c")` and `("a", "b#c")` differ,
and 1 and "1" do. Key and tenant values stand in the ledger and in logs: keys should not be personal data.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from surehand.declare.limits import LONGEST_KEY, LONGEST_TENANT
from surehand.declare.several import texts

#: Attribute names, dotted for nested ones; several together name one operation.
Fields = str | Sequence[str]

#: What the first part of the key of the ledger's own items begins with: records of rejections, and slots.
_OWN = "!"
#: The first part of the key of a slot that names the first bearer of an unsigned id.
_BEARER = f"{_OWN}id"

#: What a key part may be in the id. True and 1 differ there, as 1 and "1" do.
Scalar = str | int | bool


class NoKey(Exception):
    """The payload does not name an operation. The text names the field, never its value."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The operation that a payload belongs to.

    *operation* is its id; *tenant* and *group* are texts or None; *fingerprints* are the digests of the body and of
    the declared fields: a payload is "the same" if either of them is.
    """

    operation: str
    tenant: str | None
    group: str | None
    fingerprints: tuple[str, ...]


def operation_id(handler: str, tenant: str | None, parts: Sequence[Scalar]) -> str:
    """Return the ledger's `id`. Parts beyond 1 KiB are replaced by their digest, and so is such a tenant."""
    if tenant is not None and len(_compact(tenant).encode("utf-8", "surrogatepass")) > LONGEST_KEY // 4:
        tenant = f"sha256:{_hex(tenant)}"
    text = _compact(list(parts))
    if len(text.encode("utf-8", "surrogatepass")) > LONGEST_KEY:
        return _compact([handler, tenant, [f"sha256:{_hex(text)}"]])
    return _compact([handler, tenant, list(parts)])


def rejection_id(handler: str, message_id: str) -> str:
    """Return the id of the record of a message that was rejected before its operation was known."""
    return _compact([handler, None, ["!message", message_id]])


def slot_id(handler: str, which: str) -> str:
    """Return the id of an item that is no piece of work, such as `!running` of a schedule, whose keys are moments."""
    return _compact([handler, None, [which]])


def bearer_id(handler: str, tenant: str | None, unsigned_id: str) -> str:
    """Return the id of the slot that names the operation which came first under a webhook's unsigned id."""
    return operation_id(handler, tenant, (_BEARER, unsigned_id))


def parts_of(payload: object, fields: Fields, *, what: str) -> tuple[Scalar, ...]:
    """Return the values of the declared fields, each as text or integer.

    Raises:
        NoKey: One of them is missing, None, empty, or of a type that cannot name an operation.
    """
    names = (fields,) if isinstance(fields, str) else fields
    return tuple(_scalar(_value(payload, name, what=what), f"the {what} field '{name}'") for name in names)


def parts_from(derive: Callable[[Any], object], payload: object) -> tuple[Scalar, ...]:
    """Return the parts that a key function gives: one value or a tuple or list of values.

    Raises:
        NoKey: It gave None, nothing, or something that cannot name an operation.
        Exception: Whatever the function itself raises.
    """
    value = derive(payload)
    returned = "what the key function returned"
    if not isinstance(value, tuple | list):
        return (_scalar(value, returned),)
    if not value:
        raise NoKey("the key function returned no parts")
    return tuple(_scalar(part, f"part {number} of {returned}") for number, part in enumerate(value, start=1))


def free(parts: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """Return the parts of a key, which must not be that of one of the ledger's own items.

    Raises:
        NoKey: The first part begins as theirs do.
    """
    if str(parts[0]).startswith(_OWN):
        raise NoKey(f"the key begins with '{_OWN}', as only the ledger's own records do")
    return parts


def joined(parts: Sequence[Scalar]) -> str:
    """Return one text for a tenant or a group: the value itself, or the JSON array of several."""
    return str(parts[0]) if len(parts) == 1 else _compact(list(parts))


def bounded(text: str | None, what: str) -> str | None:
    """Return a tenant or a group, which stands in the ledger and in the log as it is.

    Raises:
        NoKey: It is too long for that.
    """
    if text is not None and (size := len(text.encode("utf-8", "surrogatepass"))) > LONGEST_TENANT:
        raise NoKey(f"the {what} has {size:,} bytes; it may have {LONGEST_TENANT:,}")
    return text


def fingerprint(text: str | bytes) -> str:
    """Return a 128-bit digest in 22 characters. Short, because every item carries two of them."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return base64.urlsafe_b64encode(hashlib.sha256(raw).digest()[:16]).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class PayloadHash:
    """A key function: the digest of what is set to something else than its default, without the fields *left_out*."""

    left_out: frozenset[str]

    def __call__(self, payload: Any) -> str:
        """Return the digest of a payload, for a key function of the user's own that has it as one of its parts."""
        return self.over(payload, _type_of(type(payload)).given(payload))

    def over(self, payload: Any, given: Any) -> str:
        """Return the digest of a payload. *given* is the JSON value of what is set in it, by names of attributes."""
        if isinstance(given, Mapping):
            fields = getattr(type(payload), "__pydantic_fields__", {})
            aliases = {name: {field.alias, field.serialization_alias} for name, field in fields.items()}
            given = {name: value for name, value in given.items() if not self.left_out & {name, *aliases.get(name, ())}}
        return _hex(json.dumps(given, sort_keys=True, separators=(",", ":")))


def payload_hash(*, exclude: Fields = ()) -> PayloadHash:
    """Return a key function: the SHA-256 of the canonical JSON of what a payload sets, without the fields *exclude*.

    For payloads without a natural key. Exclude the top-level fields that differ between two sendings of the same
    work: a timestamp, a trace id. Two different pieces of work with equal payloads count as one.

    What equals its default counts as not set: a new field with a default leaves all keys as they are, and another
    default for a field changes the keys of messages that set it to the old or the new one.

    Raises:
        DeclarationError: *exclude* is neither a name nor several.
    """
    return PayloadHash(
        frozenset({exclude} if isinstance(exclude, str) else texts(exclude, "exclude", of="payload_hash()"))
    )


def _type_of_class(kind: type[Any]) -> Any:
    from surehand.declare.payload import PayloadType  # the ingress, which has no payloads, imports no pydantic

    return PayloadType(kind, of="payload_hash()")


# To mypy a type of anything is not hashable.
_type_of: Callable[[type[Any]], Any] = functools.cache(_type_of_class)  # type: ignore[assignment]


def _value(payload: object, path: str, *, what: str) -> object:
    value: Any = payload
    for name in path.split("."):
        if isinstance(value, Mapping):
            if name not in value:
                raise NoKey(f"the {what} field '{path}' is missing")
            value = value[name]
        else:
            if not hasattr(value, name):
                raise NoKey(f"the {what} field '{path}' is missing")
            value = getattr(value, name)
    return value


def _scalar(value: object, what: str) -> Scalar:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool | int):
        return value
    if isinstance(value, UUID | Decimal):
        return str(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if value is None or value == "":
        raise NoKey(f"{what} is {'None' if value is None else 'empty'}")
    if not isinstance(value, str):
        raise NoKey(
            f"{what} is of type {type(value).__name__}; "
            "text, int, bool, UUID, date, Decimal and enum can name an operation"
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise NoKey(f"{what} holds half of a surrogate pair, which is no Unicode text") from None
    return value


#: One encoder for all: `json.dumps` with arguments builds one at every call, which takes longer than to encode.
_compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def _hex(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
