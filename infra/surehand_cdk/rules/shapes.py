"""Reading values that may have any shape: a template is input, and what it holds may be no list and no object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .template import Unknown


def dig(value: Any, *keys: str) -> Any:
    """The value below *keys*, None where something on the way is no object or lacks the key."""
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def listed(value: Any) -> list[Any]:
    """A list as it is, nothing (absent or not readable) as an empty one, anything else as its only element."""
    if isinstance(value, list):
        return value
    return [] if value is None or isinstance(value, Unknown) else [value]


def whole(value: Any, default: int = 0) -> int:
    """A whole number, also when written as text; *default* for anything else."""
    return int(value) if isinstance(value, int | str) and str(value).isdigit() else default
