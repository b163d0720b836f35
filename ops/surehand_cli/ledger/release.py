"""`surehand ledger release`: take a lease whose holder is dead."""

from __future__ import annotations

from surehand.ledger import operating as rules
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.ledger.change import Execute, Reason, act, change
from surehand_cli.ledger.naming import Tenant, Words, named
from surehand_cli.terminal.output import Output


@located
def release(
    place: Place,
    output: Output,
    words: Words,
    *,
    tenant: Tenant = None,
    execute: Execute = False,
    reason: Reason = None,
) -> None:
    """Take a lease whose time is over from its dead holder. A live lease is refused: two runs would overlap.

    The next delivery would take it over anyway; a release lets `surehand ledger cancel` end it first, and makes a late
    holder's writes void.

    Example: [bold]surehand ledger release orders o-17 --execute --reason 'function was deleted'[/bold]
    """
    acting = act(place, execute=execute, reason=reason)
    ids = named(words, tenant, service=place.service)
    change(place, output, ids, lambda _, existing: rules.release(existing, acting), execute=execute)
