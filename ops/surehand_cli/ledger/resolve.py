"""`surehand ledger resolve`: say what became of an effect that nobody knew about."""

from __future__ import annotations

from typing import Annotated

import typer

from surehand.ledger import operating as rules
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.ledger.change import Execute, Reason, act, change
from surehand_cli.ledger.naming import Tenant, Words, named
from surehand_cli.terminal.output import Output


@located
def resolve(
    place: Place,
    output: Output,
    words: Words,
    *,
    applied: Annotated[
        bool, typer.Option("--applied/--not-applied", help="Whether the effect has happened. Ask the provider first.")
    ],
    tenant: Tenant = None,
    execute: Execute = False,
    reason: Reason = None,
) -> None:
    """Say whether the effect of a held, failed or dead-lettered operation has happened.

    --applied: it has succeeded, and its message is only acknowledged when it is redriven. --not-applied: it may run
    again with fresh attempts; redrive its message.

    Example: [bold]surehand ledger resolve orders o-17 --applied --execute --reason 'charge ch_9 exists'[/bold]
    """
    acting = act(place, execute=execute, reason=reason)
    ids = named(words, tenant, service=place.service)
    change(place, output, ids, lambda _, existing: rules.resolve(existing, acting, applied=applied), execute=execute)
