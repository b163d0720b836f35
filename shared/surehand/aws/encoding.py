"""Compact JSON by pydantic's encoder, which takes a third of the standard library's time, with that one's reach."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_json

_ascii = json.JSONEncoder(separators=(",", ":")).encode


def json_bytes(value: Any) -> bytes:
    """Return plain values (dict, list, str, int, float, bool, None) as UTF-8. Lone surrogates come escaped."""
    try:
        return to_json(value)
    except ValueError:  # no Unicode text
        return _ascii(value).encode()


def json_line(value: Any) -> str:
    """Return the same in ASCII, which every stream takes."""
    encoded = json_bytes(value)
    return encoded.decode() if encoded.isascii() else _ascii(value)
