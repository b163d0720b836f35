"""Moments on the command line: an ISO 8601 moment with its zone, or a length of time ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from surehand_cli.problem import Problem

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = re.compile(r"(\d+)([smhdw])")
HELP = "2026-11-29T14:00Z, or 90m, 12h, 3d ago"


def moment(text: str | None, *, now: datetime) -> datetime | None:
    """Return the moment that *text* names; None for None.

    Raises:
        Problem: It is neither a moment nor a length, or a moment without a zone.
    """
    if text is None:
        return None
    if (ago := _AGO.fullmatch(text)) is not None:
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Problem(f"{text!r} is no moment; write {HELP}") from None
    if found.tzinfo is None:
        raise Problem(f"{text!r} has no time zone; write {text}Z for UTC, or {text}+01:00")
    return found.astimezone(UTC)


def length(span: timedelta) -> str:
    """Return a length in its two largest units: `3d 4h`, `12m 5s`."""
    seconds = max(0, int(span.total_seconds()))
    parts = [(seconds // 86_400, "d"), (seconds // 3_600 % 24, "h"), (seconds // 60 % 60, "m"), (seconds % 60, "s")]
    first = next((index for index, (count, _) in enumerate(parts) if count), 3)
    return " ".join(f"{count}{unit}" for count, unit in parts[first : first + 2] if count or first == 3)
