"""`surehand ledger sweep`: what is stuck."""

from __future__ import annotations

from typing import Annotated

import typer

from surehand.aws.listing import Wish
from surehand.states import State
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.ledger.stuck import Stuck, stuck
from surehand_cli.terminal.moments import length
from surehand_cli.terminal.output import Output

_STATES = (State.LEASED, State.PROCESSING, State.PENDING, State.RETRYABLE_FAILED)


@located
def sweep(
    place: Place,
    output: Output,
    scan: Annotated[int, typer.Option(min=1, help="Read at most about so many items.")] = 100_000,
) -> None:
    """Find operations that wait for something that will not come by itself. Reads only.

    Abandoned leases, operations whose next delivery is long due, and those that are held for an operator. What is in
    a dead-letter queue is told to the ledger by [bold]surehand dlq snapshot[/bold].

    Exit status 1 if something is stuck.
    """
    now = place.waiting.now()
    handlers = {handler.name: handler for handler in place.service.handlers}
    wishes = [Wish(handler=name, code="effect.unknown") for name in handlers]
    wishes += [Wish(state=state) for state in _STATES]
    found: list[Stuck] = []
    for wish in wishes:
        for operation in place.listing.all(wish, most=scan):
            if (one := stuck(operation, handlers, now=now)) is not None:
                found.append(one)
                output.line({"operation": operation.id, "kind": one.kind, "since": one.since, "advice": one.advice})
    output.table(
        ("operation", "kind", "for", "what to do"),
        ((one.operation.id, one.kind, length(now - one.since), one.advice) for one in found),
    )
    output.say(f"{len(found)} operations are stuck." if found else "Nothing is stuck.")
    raise typer.Exit(1 if found else 0)
