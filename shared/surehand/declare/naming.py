"""Which attributes of a payload a declaration may name as its key, tenant or group: checked at import."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import MISSING
from datetime import time, timedelta
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from surehand.declare.identity import PayloadHash
from surehand.declare.payload import PayloadType, fields_of, members_of, named
from surehand.errors import DeclarationError

#: Values of these types and of their subclasses never name an operation; what is not here may, once it is validated.
_NEVER = (float, complex, bytes, bytearray, list, tuple, Mapping, Set, time, timedelta, BaseModel)


def check_fields(of: str, what: str, given: object, annotation: Any) -> None:
    """Check what an option names: every member of the payload's union must have it, and as a value that can name work.

    A function is not looked into.

    Raises:
        DeclarationError: It names nothing, or an attribute that a member lacks or has as a list, a float or the like.
    """
    if given is None or callable(given):
        return
    said = f"Handler '{of}': {what}={given!r}"
    if not isinstance(given, str | list | tuple):
        raise DeclarationError(f"{said}, but it must be a name, or several in a list or a tuple: their order counts.")
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise DeclarationError(f"{said} names no field.")
    for name in names:
        if (missing := missing_member(annotation, name)) is not None:
            raise DeclarationError(
                f"{said}, but {missing} has no attribute '{name}'. "
                "Name attributes that every payload has (dotted for nested ones), or give a function."
            )
        if (made := _made(annotation, name)) is not None:
            raise DeclarationError(
                f"{said}, but '{made}' has a default_factory: a message without it would be another operation at "
                "every delivery. Remove the factory, and let whoever sends the message give the value."
            )
        if (unusable := _unusable(annotation, name)) is not None:
            fix = " or give a function of the payload that returns such a value" if what == "key" else ""
            raise DeclarationError(
                f"{said}, but '{name}' is {unusable}, and every message would be rejected. Name attributes that are "
                f"text, int, bool, UUID, date, Decimal or enum{fix}."
            )


def check_hashed(of: str, key: PayloadHash, payload: PayloadType[Any]) -> None:
    """Check that a `payload_hash` is the same at every delivery of a message.

    Raises:
        DeclarationError: What counts as a default, and is left out of the hash, may be another one each time.
    """
    for path in payload.unsettled:
        if path[0] not in key.left_out:
            raise DeclarationError(
                f"Handler '{of}': key=payload_hash(), but '{'.'.join(path)}' has a default_factory that may give "
                "another default each time, and so a message another key at every delivery. Write "
                f"payload_hash(exclude={path[0]!r}), or declare a plain default."
            )


def missing_member(annotation: Any, path: str) -> str | None:
    """Return the name of the first union member without the attribute *path* (dotted), or None if all have it.

    Plain dicts cannot be checked and count as having everything.
    """
    first, _, rest = path.partition(".")
    for member in members_of(annotation):
        if member in (Any, dict) or get_origin(member) is dict or member is object:
            continue
        fields = fields_of(member)
        if fields is None or first not in fields:
            return named(member)
        if rest and (inner := missing_member(fields[first], rest)) is not None:
            return inner
    return None


def types_at(annotation: Any, path: str) -> list[Any] | None:
    """Return what the values of *path* (dotted) may be, over all members of unions; None where that is not known."""
    first, _, rest = path.partition(".")
    found: list[Any] = []
    for member in members_of(annotation):
        fields = fields_of(member)
        if fields is None or first not in fields or _validated(member, first):
            return None
        inner = types_at(fields[first], rest) if rest else list(members_of(fields[first]))
        if inner is None:
            return None
        found += inner
    return found


def _unusable(annotation: Any, path: str) -> str | None:
    """Return the annotation of *path* in the first union member in which no value of it can name an operation."""
    first, _, rest = path.partition(".")
    for member in members_of(annotation):
        fields = fields_of(member)
        if fields is None or _validated(member, first):
            continue
        found = _unusable(fields[first], rest) if rest else _never(fields[first])
        if found is not None:
            return found
    return None


def _made(annotation: Any, path: str) -> str | None:
    """Return the first name on *path* that has a default_factory in a member of the payload's union; None if none."""
    first, _, rest = path.partition(".")
    for member in members_of(annotation):
        fields = fields_of(member)
        if fields is None or first not in fields:
            continue
        if _has_factory(member, first):
            return first
        if rest and (inner := _made(fields[first], rest)) is not None:
            return f"{first}.{inner}"
    return None


def _has_factory(member: Any, field: str) -> bool:
    plain = get_origin(member) or member
    known = getattr(plain, "__pydantic_fields__", {}).get(field)
    if known is None:  # a dataclass of the standard library, which may have one in three ways
        own = getattr(plain, "__dataclass_fields__", {}).get(field)
        hint = get_type_hints(plain, include_extras=True).get(field)
        known = next((one for one in get_args(hint) if isinstance(one, FieldInfo)), None)
        if own is not None and isinstance(own.default, FieldInfo):
            known = own.default
        elif own is not None and own.default_factory is not MISSING:
            return True
    return known is not None and known.default_factory is not None


def _never(annotation: Any) -> str | None:
    kinds = [get_origin(member) or member for member in members_of(annotation)]
    if not kinds or not all(isinstance(kind, type) and _never_kind(kind) for kind in kinds):
        return None
    return str(annotation) if get_origin(annotation) else named(annotation)


def _never_kind(kind: type) -> bool:
    # An enum is given by its value, and a class may descend from a text and something else.
    if issubclass(kind, str | int | Enum):
        return False
    return issubclass(kind, _NEVER) or fields_of(kind) is not None


def _validated(member: Any, field: str) -> bool:
    """Tell whether code of the user's own may replace the field's value by one of another type than it is annotated."""
    plain = get_origin(member) or member
    if not (isinstance(plain, type) and issubclass(plain, BaseModel)):
        # Annotated's validators are not seen in what a dataclass or a TypedDict says of its fields.
        return "Annotated" in str(getattr(plain, "__annotations__", {}).get(field, ""))
    decorators = plain.__pydantic_decorators__
    validators: list[Any] = [*decorators.field_validators.values(), *decorators.validators.values()]
    return bool(decorators.model_validators or plain.model_fields[field].metadata) or any(
        field in found.info.fields or "*" in found.info.fields for found in validators
    )
