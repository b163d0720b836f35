"""Times as senders write them, and whether one is fresh."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Literal

from surehand.webhooks.rejection import Reason, Rejected

_DIGITS = re.compile(r"[0-9]{1,15}")

#: However old a request may be, it is not signed further ahead of our clock than this: no retry makes it so.
FURTHEST_AHEAD = timedelta(minutes=10)

#: Unix times from here on are milliseconds: as seconds this is the year 5138.
_MILLISECONDS = 10**11


def read_time(text: str, unit: Literal["s", "ms", "iso"]) -> datetime | None:
    """Return the moment that a text means, or None if it means none.

    Only ASCII digits are Unix time: no sign, no fraction, no exponent, no `Infinity`. An ISO time must carry its zone.
    """
    try:
        if unit == "iso":
            moment = datetime.fromisoformat(text)
            return moment.astimezone(UTC) if moment.tzinfo is not None else None
        if not _DIGITS.fullmatch(text):
            return None
        return datetime.fromtimestamp(0, UTC) + timedelta(**{"seconds" if unit == "s" else "milliseconds": int(text)})
    except (ValueError, OverflowError):
        return None


def guess_time(text: str) -> datetime | None:
    """Return the moment that a text means, when its unit is not declared: seconds, milliseconds or ISO."""
    if not _DIGITS.fullmatch(text):
        return read_time(text, "iso")
    return read_time(text, "ms" if int(text) >= _MILLISECONDS else "s")


def check_fresh(signed_at: datetime, *, now: datetime, tolerance: timedelta | None) -> None:
    """Refuse what was signed too long ago or too far ahead. The limit itself is still fresh.

    Raises:
        Rejected: `stale` or `from_the_future`.
    """
    if tolerance is None:
        return
    age = now - signed_at
    if age > tolerance:
        raise Rejected(Reason.STALE, f"signed more than {tolerance} ago")
    if -age > min(tolerance, FURTHEST_AHEAD):
        raise Rejected(Reason.FROM_THE_FUTURE, "signed ahead of the clock")
