"""From a handler's annotation to the payload: validation, serialisation and the fields that may be named in a key."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from surehand.declare.written import canonical, is_field, is_steady, lost, nodes, settled
from surehand.errors import DeclarationError

P = TypeVar("P")

_PLAIN = (dict, list, str)
#: Factories that give an equal default each time. Classes with fields do, if their fields do.
_STEADY = (dict, list, set, frozenset, tuple, str, int, bool)
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
        parts = list(nodes(self._adapter.core_schema))
        self._steady = all(is_steady(part) for _, part in parts)
        fields = [(path, part) for path, part in parts if is_field(part)]
        for path, field in fields:
            if field.get("serialization_exclude"):
                raise DeclarationError(
                    f"Handler '{of}': the payload's field '{'.'.join(path)}' has exclude=True, so it would vanish on "
                    "its way to the queue, and messages that differ in it alone would count as one. Remove exclude."
                )
        #: The fields that may have another default each time, as paths.
        self.unsettled = [path for path, field in fields if _varies(field["schema"])]

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

    def send(self, payload: Any) -> tuple[bytes, P]:
        """Return the plain JSON of a payload, and the payload as it will arrive.

        Raises:
            NotValid: `input.schema`, the object cannot be written as this payload type, or would arrive as another:
                a secret is written masked, and of two members of a union with the same fields the first is read.
        """
        body = self.dump(payload)
        arrived = self.validate(body)
        plain = self._adapter.dump_python(payload, mode="json", warnings=False)
        if (what := lost(payload, plain, arrived)) is not None:
            raise NotValid("input.schema", what)
        return body, arrived

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
        plain = self.given(payload)
        if isinstance(payload, BaseModel) and payload.model_extra:
            plain = {name: value for name, value in plain.items() if name not in payload.model_extra}
        return canonical(plain)

    def given(self, payload: P) -> Any:
        """Return the plain JSON value of all that was set to something else than its default."""
        plain = self._adapter.dump_python(
            payload, mode="json", exclude_unset=True, exclude_defaults=True, warnings=False
        )
        return plain if self._steady else settled(payload, plain)

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


def _varies(schema: Any) -> bool:
    """Tell whether a field's default comes from a function that may give another one each time."""
    factory = schema.get("default_factory") if schema["type"] == "default" else None
    return factory is not None and factory not in _STEADY and fields_of(factory) is None


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
