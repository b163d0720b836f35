"""How a declared schedule is watched: its group, and the longest time that may pass between two ticks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from surehand import Handler
from surehand.declare import When

from .ticks import Ticking

_START = datetime(2024, 1, 1, tzinfo=UTC)
_TICKS = 400
_HORIZON = timedelta(days=400)


def longest_gap(when: When) -> timedelta | None:
    """The longest time between two ticks of a little over a year; None for a schedule that ticks once or never."""
    last, longest = when.following(_START), None
    for _ in range(_TICKS):
        if last is None or last - _START > _HORIZON:
            break
        following = when.following(last)
        if following is None:
            break
        longest = max(longest or timedelta(0), following - last)
        last = following
    return longest


def ticking(handler: Handler[Any], *, group: str) -> Ticking | None:
    """How *handler* is watched as a schedule; None for one that is not, or that ticks once."""
    timing = handler.options.timing
    if timing is None or (every := longest_gap(timing.when)) is None:
        return None
    return Ticking(every, group, timing.flexible)
