"""`surehand ledger show`: one operation and its history."""

from __future__ import annotations

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.ledger.naming import Tenant, Words, found, named
from surehand_cli.ledger.timeline import record, standing, timeline
from surehand_cli.terminal.output import Output, shown


@located
def show(place: Place, output: Output, words: Words, tenant: Tenant = None) -> None:
    """Show one operation and its history.

    Example: [bold]surehand ledger show orders o-17 --stage prod[/bold]

    Exit status 2 if the ledger does not know it.
    """
    ids = named(words, tenant, service=place.service)
    chosen, operation = found(place.ledger, ids)
    if operation is None:
        output.say(f"The ledger {place.table} does not know {chosen}: it never ran, or is forgotten.")
        raise typer.Exit(2)
    output.line(record(operation))
    now = place.waiting.now()
    output.text(operation.id)
    output.text(standing(operation, now))
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


def _length(length: object) -> str | None:
    return None if length is None else f"+{str(length).split('.', maxsplit=1)[0]}"
