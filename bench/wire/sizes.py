"""Item sizes and write units, as AWS counts them.

Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def size_of(item: Mapping[str, Any]) -> int:
    """Return the bytes of an item: attribute names and values. Numbers are an upper estimate."""
    return sum(len(name.encode()) + _value(value) for name, value in item.items())


def write_units(*sizes: int) -> int:
    """Return the write units of one write: the larger of the item before and after, by the KB, at least one."""
    return max(1, -(-max(sizes, default=0) // 1024))


def _value(value: Mapping[str, Any]) -> int:
    kind: str
    held: Any
    ((kind, held),) = value.items()
    match kind:
        case "S":
            return len(str(held).encode())
        case "N":
            digits = str(held).lstrip("-").replace(".", "")
            return (len(digits) + 1) // 2 + 1 + str(held).startswith("-")
        case "B":
            return len(str(held)) * 3 // 4
        case "BOOL" | "NULL":
            return 1
        case "L":
            return 3 + sum(1 + _value(one) for one in held)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _value(one) for name, one in held.items())
        case _:
            return sum(len(str(one).encode()) for one in held)
