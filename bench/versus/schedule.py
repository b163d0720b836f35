"""A hostile schedule: what happens, what must hold, and whether it did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.versus.powertools_side import PowertoolsPlace
from bench.versus.surehand_side import SurehandPlace

Side = PowertoolsPlace | SurehandPlace


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the promise held, and what was seen."""

    held: bool
    saw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One schedule. *happens* and *must_hold* are sentences; *note* says what the table cannot."""

    name: str
    happens: str
    must_hold: str
    run: Callable[[Side], Verdict]
    note: str = ""
    #: surehand does not hold it, on purpose; *note* says why.
    conceded: bool = False


def times(count: int, what: str) -> str:
    """Return "1 charge", "2 charges", "no charge"."""
    return f"no {what}" if count == 0 else f"{count} {what}" + ("" if count == 1 else "s")
