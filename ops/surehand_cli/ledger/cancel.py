"""`surehand ledger cancel`: end an operation without running it."""

from __future__ import annotations

from surehand.ledger import Operation, Write
from surehand.ledger import operating as rules
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.ledger.change import Execute, Reason, act, change
from surehand_cli.ledger.naming import Tenant, Words, named, parts
from surehand_cli.terminal.output import Output


@located
def cancel(
    place: Place,
    output: Output,
    words: Words,
    *,
    tenant: Tenant = None,
    execute: Execute = False,
    reason: Reason = None,
) -> None:
    """End an operation without running it; its messages are then only acknowledged.

    While somebody runs it, this is a request that takes effect when the lease ends, unless the effect has happened by
    then. An operation that the ledger does not know yet is canceled in advance.

    Example: [bold]surehand ledger cancel orders o-17 --execute --reason 'customer withdrew'[/bold]
    """
    acting = act(place, execute=execute, reason=reason)

    def decide(operation: str, existing: Operation | None) -> Write | rules.NotDone:
        handler, of_tenant = parts(operation)
        return rules.cancel(existing, acting, operation_id=operation, handler=handler, tenant=of_tenant)

    change(place, output, named(words, tenant, service=place.service), decide, execute=execute)
