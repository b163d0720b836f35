"""`surehand ledger show`: one operation and its history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.backfill.ticks import last_tick, next_text
from surehand_cli.ledger.naming import Tenant, Words, found, named, parts
from surehand_cli.ledger.timeline import record, standing, timeline
from surehand_cli.terminal.output import Output, shown


@located
def show(place: Place, output: Output, words: Words, tenant: Tenant = None) -> None:
    """Show one operation and its history; of a schedule's also its last and its next tick.

    Example: [bold]surehand ledger show orders o-17 --stage prod[/bold]

    Exit status 2 if the ledger does not know it.
    """
    ids = named(words, tenant, service=place.service)
    chosen, operation = found(place.ledger, ids)
    now = place.waiting.now()
    ticks = _ticks(place, chosen, now)
    if operation is None:
        output.say(f"The ledger {place.table} does not know {chosen}: it never ran, or is forgotten.")
        if ticks is not None:
            output.say(_sentence(ticks))
        raise typer.Exit(2)
    output.line({**record(operation), "ticks": ticks})
    output.text(operation.id)
    output.text(standing(operation, now))
    if ticks is not None:
        output.text(_sentence(ticks))
    facts = {
        "state": operation.state.value,
        "attempts": operation.attempts,
        "code": operation.code,
        "tenant": operation.tenant,
        "version": operation.version or None,
        "result": operation.result,
        "known until": operation.expires_at,
    }
    output.text("  ".join(f"{name} {shown(value)}" for name, value in facts.items() if value is not None))
    output.text("")
    output.table(
        ("at", "after", "state", "attempt", "code", "message", "note"),
        (
            (line.at, _length(line.since), line.state, line.attempt, line.code, line.message_id, line.note)
            for line in timeline(operation)
        ),
    )


def _ticks(place: Place, operation: str, now: datetime) -> Mapping[str, Any] | None:
    """Return the last and the next tick of an operation's schedule, as the inventory has them; None for no schedule."""
    handler = place.service[parts(operation)[0]]
    if handler.options.timing is None:
        return None
    return {"next": next_text(handler, now), "last": last_tick(handler, place, now=now)}


def _sentence(ticks: Mapping[str, Any]) -> str:
    last = ticks["last"]
    if ticks["next"] is None:
        return "When its schedule fires only AWS knows."
    before = "none yet" if last is None else f"{last['tick']}, {last['standing']}"
    return f"Its schedule's last tick: {before}; the next: {ticks['next']}."


def _length(length: object) -> str | None:
    return None if length is None else f"+{str(length).split('.', maxsplit=1)[0]}"
