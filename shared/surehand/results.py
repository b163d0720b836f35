"""What of a handler's return value the ledger keeps: JSON text, a digest, or a note that it was no JSON.

A result is never a reason to fail: the effect has happened by then.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

#: A stored result beyond this many UTF-8 bytes is kept as a digest, so that settling stays within few write units.
LARGEST = 4_096

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode

_DIGEST, _FOREIGN = "!sha256:", "!not-json:"


def encode(value: object) -> str | None:
    """Return what to store: None for None, JSON text, else a digest or a note.

    A pydantic model, a dataclass, or a list of them is stored as the JSON that pydantic makes of it, from which its
    type can validate it again. Any other value that JSON would change (tuples, integer keys, NaN) counts as not JSON,
    so that what is read back is what was returned.
    """
    if value is None:
        return None
    text = _faithful(value)
    if text is None and _modelled(value):
        text = _dumped(value)
    if text is None:
        return f"{_FOREIGN}{type(value).__name__[:64]}"
    raw = text.encode()
    if len(raw) > LARGEST:
        return f"{_DIGEST}{hashlib.sha256(raw).hexdigest()}:{len(raw)}"
    return text


def _faithful(value: object) -> str | None:
    """Return the JSON text from which *value* can be read back as it is, or None."""
    try:
        text = _encode(value)
        text.encode()
        return text if _equal(json.loads(text), value) else None
    except Exception:  # noqa: BLE001 - a mapping of the user's own may raise anything while it is read
        return None


def is_kept(text: str | None) -> bool:
    """Tell whether a stored result is more than the name of a type."""
    return text is None or not text.startswith(_FOREIGN)


def _modelled(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_modelled(one) for one in value)
    kind = type(value)
    return hasattr(kind, "__pydantic_serializer__") or hasattr(kind, "__dataclass_fields__")


def _dumped(value: object) -> str | None:
    """Return what pydantic makes of models and dataclasses, or None if it cannot."""
    from pydantic_core import to_json  # loaded with the payload's type by now; what returns plain JSON needs none

    try:
        return to_json(value, inf_nan_mode="null").decode()
    except Exception:  # noqa: BLE001 - a serializer of the user's own may raise anything
        return None


def decode(text: str | None) -> Any:
    """Return the stored result.

    Raises:
        LookupError: Only its digest or the name of its type was kept; the text says which.
    """
    if text is None:
        return None
    if text.startswith((_DIGEST, _FOREIGN)):
        raise LookupError(f"the result itself was not kept, only {text[1:]}")
    return json.loads(text)


def _equal(one: Any, other: Any) -> bool:
    """Compare with types, since Python holds 1 == True and [] == [] but not () == []."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)
