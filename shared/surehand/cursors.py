"""How far a long run has got: from a value to JSON text and back, and a place for it outside of any ledger."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from surehand.errors import CursorUnreadable

if TYPE_CHECKING:
    from pydantic import TypeAdapter

C = TypeVar("C")

#: A cursor's JSON may have this many bytes: it is written with every page.
LARGEST = 32_768


def write_value(value: object) -> str:
    """Return the JSON text of a cursor.

    Raises:
        TypeError: It is None, which would read as "no cursor", cannot be written as JSON, or has more than 32 KiB.
    """
    from pydantic_core import PydanticSerializationError, to_json  # only handlers with a cursor need it

    if value is None:
        raise TypeError("a cursor cannot be None: that is what an operation without a cursor has")
    try:
        raw = to_json(value, inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError):
        raise TypeError(f"a {type(value).__name__} cannot be written as JSON, so it cannot be a cursor") from None
    if len(raw) > LARGEST:
        raise TypeError(f"this cursor has {len(raw):,} bytes of JSON, and {LARGEST:,} are the most; save where it is")
    return raw.decode()


def read_value(of: type[C], text: str) -> C:
    """Return the cursor in its type.

    Raises:
        CursorUnreadable: It is none of that type.
    """
    from pydantic import ValidationError

    try:
        adapter: TypeAdapter[C] = _adapter(cast("Hashable", of))
        return adapter.validate_json(text)
    except ValidationError as error:
        kinds = ", ".join(sorted({entry["type"] for entry in error.errors(include_input=False, include_context=False)}))
        raise CursorUnreadable(f"the saved cursor is no {getattr(of, '__name__', of)} ({kinds})") from None


@lru_cache(maxsize=64)
def _adapter(of: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(of)


class LocalCursors:
    """Cursors in memory, for a handler that is run by itself. *writes* are recorded and made nowhere."""

    def __init__(self, saved: Mapping[str, str] | None = None) -> None:
        self.saved = dict(saved or {})
        self.writes: list[Mapping[str, Any]] = []

    def load(self, shard: str) -> str | None:
        """Return what was saved last."""
        return self.saved.get(shard)

    def save(self, shard: str, text: str, writes: Sequence[Mapping[str, Any]]) -> None:
        """Keep it."""
        self.saved[shard] = text
        self.writes += writes
