"""A handler that sends to one that does not exist."""

from __future__ import annotations

from surehand import queue


@queue("forward", key="id", sends_to=["nowhere"])
def forward(payload: dict) -> None:
    """Would forward."""
