"""What of the inventory changes by itself: the next tick of each schedule, and what became of the last one.

The next tick follows from the declared expression. The last one is what the ledger knows; where that cannot be read the
rest stands, and says why.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from surehand.declare import moment_text
from surehand.errors import LedgerUnavailable
from surehand_cli.account.place import Place
from surehand_cli.account.session import as_problem
from surehand_cli.backfill.ticks import last_tick, next_text
from surehand_cli.problem import Unreachable


def with_ticks(said: dict[str, Any], place: Place, *, now: datetime) -> dict[str, Any]:
    """Return an inventory with the ticks of its schedules as of *now*."""
    timed = [handler for handler in place.service.handlers if handler.options.timing is not None]
    last: dict[str, dict[str, Any] | None] = {}
    problem = None
    try:
        last = {handler.name: last_tick(handler, place, now=now) for handler in timed}
    except (LedgerUnavailable, Unreachable) as error:
        problem = str(as_problem(error) or error)
    ticks = {handler.name: {"next": next_text(handler, now), "last": last.get(handler.name)} for handler in timed}
    live = {
        "at": moment_text(now.replace(microsecond=0)),
        "ledger": None if problem else place.table,
        "problem": problem,
    }
    return {**said, "live": live, "handlers": [_filled(one, ticks) for one in said["handlers"]]}


def _filled(one: dict[str, Any], ticks: dict[str, Any]) -> dict[str, Any]:
    return {**one, "trigger": {**one["trigger"], "ticks": ticks[one["name"]]}} if one["name"] in ticks else one
