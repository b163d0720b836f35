"""Where in a request a value stands: `header:x-acme-sig`, `body:data.id`, and how it is read.

| place          | is                                                                                 |
| -------------- | ---------------------------------------------------------------------------------- |
| `header:name`  | a header                                                                           |
| `label:t`      | the item `t=…` of the signature header (Stripe, Paddle)                            |
| `body:a.b`     | a field of the JSON body; `[]` takes every item of an array: `body:items[].id`     |
| `form:Name`    | a field of a form body                                                             |
| `query:name`   | a parameter of the query string                                                    |

Several places joined by `+` are one composite value. Whatever a request contains, reading it raises nothing: what
cannot be read is absent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from urllib.parse import parse_qsl

from surehand.errors import DeclarationError
from surehand.webhooks.request import HttpRequest

_PLACE = re.compile(r"(header|label|body|form|query):(\S+)")
_NAMES = {"header": re.compile(r"[a-z0-9-]+"), "body": re.compile(r"(\[\]\.|[\w@$-]+(\[\])?\.)*(\[\]|[\w@$-]+(\[\])?)")}

#: Form fields and query parameters read from one request; more are taken as an unreadable form.
MOST_FIELDS = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """One place. *kind* is header, label, body, form or query; *path* is what follows the colon."""

    kind: str
    path: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}"


@cache
def composite(text: str) -> tuple[Place, ...]:
    """Read one place, or several joined by `+`.

    Raises:
        DeclarationError: The text names no place.
    """
    return tuple(_place(part) for part in text.split("+"))


def alternatives(texts: str | Iterable[str]) -> tuple[tuple[Place, ...], ...]:
    """Read one text, or several of which the first present one counts. An empty text or tuple is no place."""
    if isinstance(texts, str):
        return (composite(texts),) if texts else ()
    return tuple(composite(text) for text in texts)


def _place(text: str) -> Place:
    match = _PLACE.fullmatch(text)
    if match is None or not _NAMES.get(match[1], re.compile(r"[\w.-]+")).fullmatch(match[2]):
        raise DeclarationError(
            f"'{text}' names no place in a request. A place is header:lower-case-name, label:name, body:dotted.path, "
            "form:Name or query:name."
        )
    return Place(match[1], match[2])


class Reading:
    """A request that is parsed at most once in each form, and only when a place asks for it.

    *labels* are the items of the signature header, for places of the kind `label`.
    """

    def __init__(self, request: HttpRequest, labels: Mapping[str, str] | None = None) -> None:
        self.request = request
        self._labels = labels or {}

    @cached_property
    def json(self) -> Any:
        """The body as JSON, or None. Numbers keep their text: an integer is exact and no float is made."""
        try:
            return json.loads(self.request.body, parse_float=Number, parse_int=Number, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return None

    @cached_property
    def form(self) -> dict[str, list[str]] | None:
        """The body as form fields, blank ones kept, or None if it is no form in UTF-8."""
        try:
            return _fields(self.request.body.decode("utf-8"))
        except ValueError:
            return None

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """The query string's parameters; none if it cannot be read."""
        try:
            return _fields(self.request.raw_query)
        except ValueError:
            return {}

    def values(self, place: Place) -> tuple[str | None, ...]:
        """Return what stands at a place: one entry for each item where the path has `[]`, None for what is no value.

        A value is a text that is not empty, or an integer. No place at all gives an empty tuple.
        """
        if place.kind == "body":
            return tuple(_text(value) for value in _walk(self.json, place.path.split(".")))
        if place.kind in ("form", "query"):
            fields = (self.form or {}) if place.kind == "form" else self.query
            return tuple(_text(value) for value in fields.get(place.path, ())[:1])
        named = self.request.headers if place.kind == "header" else self._labels
        return (_text(named[place.path]),) if place.path in named else ()

    def text(self, place: Place) -> str | None:
        """Return the single value at a place, or None if there is none or more than one."""
        values = self.values(place)
        return values[0] if len(values) == 1 else None


class Number(str):
    """A JSON number, as it was written."""

    __slots__ = ()


def _no_constant(_: str) -> Any:
    raise ValueError("NaN and Infinity are no JSON")


def _fields(text: str) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS):
        fields.setdefault(name, []).append(value)
    return fields


def _text(value: Any) -> str | None:
    """Return what may serve as an id, a type or a time: text that can be written as UTF-8, or an integer."""
    if not isinstance(value, str) or not value:
        return None
    if isinstance(value, Number) and not value.removeprefix("-").isdigit():
        return None
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return str(value)


def _walk(value: Any, steps: list[str]) -> list[Any]:
    for index, step in enumerate(steps):
        name, every = (step[:-2], True) if step.endswith("[]") else (step, False)
        if name:
            if not isinstance(value, dict) or name not in value:
                return []
            value = value[name]
        if every:
            if not isinstance(value, list):
                return []
            rest = steps[index + 1 :]
            # An item without the field keeps its place, so that the parts of a composite stay side by side.
            return [found for item in value for found in (_walk(item, rest) or [None])]
    return [value]
