"""What becomes of a payload in its JSON: the same text in every process, and what would be lost on the way."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Set
from enum import Enum, auto
from typing import Any

from pydantic import BaseModel, RootModel, Secret, SecretBytes, SecretStr


class _Shape(Enum):
    SECRET = auto()
    STRUCTURE = auto()
    MAPPING = auto()
    SEQUENCE = auto()
    SET = auto()
    OTHER = auto()


_SHAPES = {
    Secret: _Shape.SECRET, SecretStr: _Shape.SECRET, SecretBytes: _Shape.SECRET, Mapping: _Shape.MAPPING,
    list: _Shape.SEQUENCE, tuple: _Shape.SEQUENCE, Set: _Shape.SET,
}  # fmt: skip
_ITSELF = frozenset({str, int, bool, float, type(None)})

#: What a core schema calls a field of a model, a dataclass or a TypedDict.
_FIELDS = ("model-field", "dataclass-field", "typed-dict-field")
#: Parts of a core schema whose values need no second look. There are more.
_STEADY = frozenset({
    *_FIELDS, "model", "model-fields", "dataclass", "dataclass-args", "typed-dict", "definitions", "definition-ref",
    "default", "nullable", "list", "dict", "str", "int", "float", "bool", "none", "decimal", "uuid", "date", "datetime",
    "timedelta", "literal", "enum",
})  # fmt: skip
#: Members of a core schema that hold no parts of it.
_NO_PARTS = ("metadata", "default", "serialization", "config")

#: JSON of which there is one text for one value.
canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode


def settled(value: Any, plain: Any) -> Any:
    """Return *plain*, the JSON value that pydantic gives for *value*, as it is in every process and version.

    Sets are put in order, since theirs depends on the process. What is computed from other fields is left out. Secrets
    are given as they are, since masked they would all be the same: what comes of this is only ever digested.
    """
    kind = type(value)
    if kind in _ITSELF:
        return plain
    shape = _shape(kind)
    if shape is _Shape.SECRET:
        bare = value.get_secret_value()
        return bare.hex() if isinstance(bare, bytes) else bare if type(bare) in _ITSELF else str(bare)
    if isinstance(plain, dict) and (inner := _named(value, shape, plain)) is not None:
        computed = _computed(kind)
        return {name: settled(inner[name], one) for name, one in plain.items() if name not in computed}
    if isinstance(plain, list) and shape in (_Shape.SEQUENCE, _Shape.SET) and len(value) == len(plain):
        found = [settled(*pair) for pair in zip(value, plain, strict=True)]
        return sorted(found, key=canonical) if shape is _Shape.SET else found
    return settled(value.root, plain) if isinstance(value, RootModel) else plain


def lost(sent: Any, plain: Any, arrived: Any, *, path: str = "the payload") -> str | None:
    """Return what of a payload does not survive its way through the queue, None if all does.

    *plain* is the JSON value that stands for *sent*, and *arrived* what is read from it. What validation makes of a
    value that was written as it is, is the payload type's own business. The text holds names and types, never values.
    """
    kind = type(sent)
    if kind in _ITSELF:
        if type(arrived) is kind and arrived != sent != plain:
            return f"{path} would be written, by its serializer, as another {kind.__name__}"
        return None
    shape = _shape(kind)
    if shape is _Shape.SECRET:
        if (type(arrived) is kind and arrived == sent) or plain == settled(sent, plain):
            return None
        return f"{path} is secret and would be written masked; write it out in a field_serializer(when_used='json')"
    if shape is _Shape.STRUCTURE and type(arrived) is not kind and _shape(type(arrived)) is shape:
        return (
            f"{path} is of type {kind.__name__} and would arrive as {type(arrived).__name__}; "
            "give such types a field of a different Literal each"
        )
    if isinstance(plain, dict):
        ours, theirs = _named(sent, shape, plain), _named(arrived, _shape(type(arrived)), plain)
        if ours is None or theirs is None:
            return None
        for name in plain:
            place = f"{path}'s {name if shape is _Shape.STRUCTURE else '?'}"
            if (found := lost(ours[name], plain[name], theirs[name], path=place)) is not None:
                return found
    elif isinstance(plain, list) and shape is _Shape.SEQUENCE and _shape(type(arrived)) is shape:
        place = f"a member of {path}"
        return next(filter(None, (lost(*one, path=place) for one in zip(sent, plain, arrived, strict=False))), None)
    return None


def nodes(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield every part of a pydantic core schema that has a type, each with the names of the fields that lead to it."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("type"), str):
            yield path, schema
        for key, inner in schema.items():
            if key == "fields" and isinstance(inner, Mapping):
                for name, field in inner.items():
                    yield from nodes(field, (*path, name))
            elif key == "fields" and schema.get("type") == "dataclass-args":
                for field in inner:
                    yield from nodes(field, (*path, field["name"]))
            elif key not in _NO_PARTS:
                yield from nodes(inner, path)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from nodes(inner, path)


def is_field(part: Mapping[str, Any]) -> bool:
    """Tell whether a part of a core schema is a field of a model, a dataclass or a TypedDict."""
    return part["type"] in _FIELDS


def is_steady(part: Mapping[str, Any]) -> bool:
    """Tell whether pydantic itself writes a part of a core schema alike in every process and version, and as it is."""
    return part["type"] in _STEADY and "serialization" not in part


def _shape_of(kind: type[Any]) -> _Shape:
    """Return how values of a type are looked into."""
    if issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind):
        return _Shape.STRUCTURE
    return next((shape for of, shape in _SHAPES.items() if issubclass(kind, of)), _Shape.OTHER)


def _computed_of(kind: type[Any]) -> frozenset[str]:
    decorators = getattr(kind, "__pydantic_decorators__", None)
    return frozenset(decorators.computed_fields) if decorators is not None else frozenset()


# To mypy a type of anything is not hashable.
_shape: Callable[[type[Any]], _Shape] = functools.cache(_shape_of)  # type: ignore[assignment]
_computed: Callable[[type[Any]], frozenset[str]] = functools.cache(_computed_of)  # type: ignore[assignment]


def _named(value: Any, shape: _Shape, plain: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what stands in *value* under each name in *plain*; None if it is nothing that has names."""
    if shape is _Shape.STRUCTURE:
        return {name: getattr(value, name, None) for name in plain}
    if shape is not _Shape.MAPPING:
        return None
    if all(name in value for name in plain):
        return {name: value[name] for name in plain}
    return dict(zip(plain, value.values(), strict=True)) if len(plain) == len(value) else None
