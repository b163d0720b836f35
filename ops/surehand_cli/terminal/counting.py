"""Counts as a person reads them."""

from __future__ import annotations


def counted(count: int, one: str, several: str | None = None) -> str:
    """Return a count with its noun: "1 row", "2 rows"; *several* where that is no plain s."""
    return f"{count} {one if count == 1 else several or one + 's'}"
