"""Options that take several values: one text would pass for the collection of its letters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from surehand.errors import DeclarationError


def several(given: Any, option: str, *, of: str) -> tuple[Any, ...]:
    """Return the values of an option that takes several.

    Raises:
        DeclarationError: It is one text, or nothing that has members. Names the declaration, the option and the fix.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        fix = f" Write {option}=[{given!r}]." if isinstance(given, str) else ""
        what = "one text" if isinstance(given, str | bytes) else f"of type {type(given).__name__}"
        raise DeclarationError(f"{of}: {option}={given!r} is {what}, but it takes several: a list or a tuple.{fix}")
    return tuple(given)


def texts(given: Any, option: str, *, of: str) -> tuple[str, ...]:
    """Return the texts of an option that takes several.

    Raises:
        DeclarationError: It is one text, nothing that has members, or one of its members is no text.
    """
    found = several(given, option, of=of)
    for one in found:
        if not isinstance(one, str):
            raise DeclarationError(f"{of}: {option}={given!r} holds {one!r}, but it takes texts.")
    return found
