"""From a handler's annotation to the payload: validation, serialisation and the fields that may be named in a key."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Iterator
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from surehand.errors import DeclarationError

P = TypeVar("P")

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode
_PLAIN = (dict, list, str)
#: What a payload may be annotated as.
ALLOWED = "a pydantic model, a dataclass, a TypedDict, a union of these, dict, list or str"


class NotValid(Exception):
    """The body does not fit the payload type. The text names fields and error types, never values."""

    def __init__(self, code: str, text: str) -> None:
        self.code = code
        super().__init__(text)


class PayloadType(Generic[P]):
    """A payload type: how a body becomes a payload and back."""

    def __init__(self, annotation: Any, *, of: str) -> None:
        self.annotation = annotation
        self.members = tuple(members_of(annotation))
        for member in self.members:
            if not _allowed(member):
                raise DeclarationError(
                    f"Handler '{of}': a payload cannot be annotated as {named(member)}. Use {ALLOWED}."
                )
        try:
            self._adapter: TypeAdapter[P] = TypeAdapter(annotation)
        except PydanticUserError as error:
            raise DeclarationError(f"Handler '{of}': pydantic refuses the payload type: {error.message}") from error
        self._names = frozenset(_field_names(annotation, seen=set()))

    def validate(self, body: str | bytes) -> P:
        """Return the payload that *body* (JSON) stands for.

        Raises:
            NotValid: `input.malformed` if it is no JSON, `input.schema` if it is JSON of another shape.
            Exception: Whatever a validator of the user's own raises besides ValueError and AssertionError.
        """
        try:
            return self._adapter.validate_json(body)
        except ValidationError as error:
            raise NotValid(*self._explain(error)) from None

    def accept(self, payload: object) -> P:
        """Return *payload*, an object of the handler's own side, as it would arrive: validated through its JSON.

        Raises:
            NotValid: `input.schema`, it does not fit.
        """
        return self.validate(self.dump(payload))

    def dump(self, payload: Any) -> bytes:
        """Return the plain JSON of a payload.

        Raises:
            NotValid: `input.schema`, the object cannot be written as this payload type.
        """
        try:
            return self._adapter.dump_json(payload, warnings="error", by_alias=True)
        except PydanticSerializationError:
            raise NotValid("input.schema", f"a {type(payload).__name__} is not {named(self.annotation)}") from None

    def declared(self, payload: P) -> str:
        """Return the canonical JSON of the declared fields that were set to something else than their default.

        A new optional field in a deployment, or a new undeclared one from the producer, leaves it as it was.
        """
        plain = self._adapter.dump_python(
            payload, mode="json", exclude_unset=True, exclude_defaults=True, warnings=False
        )
        if isinstance(payload, BaseModel) and payload.model_extra:
            plain = {name: value for name, value in plain.items() if name not in payload.model_extra}
        return _canonical(plain)

    def _explain(self, error: ValidationError) -> tuple[str, str]:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        first = found[0]
        if first["type"] == "json_invalid" or (first["type"] == "string_unicode" and not first["loc"]):
            return "input.malformed", "the body is not JSON"
        listed = "; ".join(f"{self._place(entry['loc'])}: {entry['type']}" for entry in found[:5])
        more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
        return "input.schema", f"{listed}{more}"

    def _place(self, location: tuple[int | str, ...]) -> str:
        """Return a location in which only declared names are spelt out, since other strings come from the payload."""
        parts = [str(part) if isinstance(part, int) or part in self._names else "?" for part in location]
        return ".".join(parts) or "(the whole body)"


def members_of(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union, without None, looking through Annotated and type aliases."""
    if type(annotation).__name__ == "TypeAliasType":  # `type X = …` of Python 3.12, or typing_extensions' own
        yield from members_of(annotation.__value__)
        return
    origin = get_origin(annotation)
    if origin is typing.Annotated:
        yield from members_of(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for member in get_args(annotation):
            if member is not type(None):
                yield from members_of(member)
    else:
        yield annotation


def _allowed(member: Any) -> bool:
    plain = get_origin(member) or member
    return plain in _PLAIN or fields_of(member) is not None


def fields_of(member: Any) -> dict[str, Any] | None:
    """Return attribute name → annotation of a structured type, or None for anything else."""
    plain = get_origin(member) or member
    if not isinstance(plain, type):
        return None
    if issubclass(plain, BaseModel):
        return {name: field.annotation for name, field in plain.model_fields.items()}
    if dataclasses.is_dataclass(plain) or typing.is_typeddict(plain) or _is_extension_typeddict(plain):
        return get_type_hints(plain)
    return None


def _is_extension_typeddict(plain: type) -> bool:
    """typing_extensions has a TypedDict of its own before Python 3.12, which `typing.is_typeddict` does not know."""
    return hasattr(plain, "__total__") and hasattr(plain, "__required_keys__")


def _field_names(annotation: Any, *, seen: set[Any]) -> Iterator[str]:
    """Yield every declared field name and alias that can occur in an error's location."""
    for member in members_of(annotation):
        key = id(member)
        if key in seen:
            continue
        seen.add(key)
        fields = fields_of(member)
        for argument in get_args(member):
            yield from _field_names(argument, seen=seen)
        if fields is None:
            continue
        if isinstance(member, type) and issubclass(member, BaseModel):
            yield from (f.alias for f in member.model_fields.values() if f.alias)
        for name, inner in fields.items():
            yield name
            yield from _field_names(inner, seen=seen)


def named(annotation: Any) -> str:
    """Return how an annotation is told in an error."""
    return getattr(annotation, "__name__", None) or str(annotation)
