"""`surehand ledger sweep`: what is stuck."""

from __future__ import annotations

from typing import Annotated

import typer

from surehand.aws.listing import Wish
from surehand.declare.sweeping import MEGABYTES, cost, patience
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
    *,
    scan: Annotated[int, typer.Option(min=1, help="Read at most about so many items.")] = 100_000,
    costs: Annotated[
        bool, typer.Option("--cost", help="Only compute what the deployed sweep of this table costs a month.")
    ] = False,
) -> None:
    """Find operations that wait for something that will not come by itself. Reads only.

    Abandoned leases, operations whose next delivery is long due, and those that are held for an operator. What is in
    a dead-letter queue is told to the ledger by [bold]surehand dlq snapshot[/bold].

    Example: [bold]surehand ledger sweep --stage prod[/bold]

    Exit status 1 if something is stuck.
    """
    if costs:
        _tell_cost(place, output)
        return
    now = place.waiting.now()
    patient = {handler.name: patience(handler) for handler in place.service.handlers}
    wishes = [Wish(handler=name, code="effect.unknown") for name in patient]
    wishes += [Wish(state=state) for state in _STATES]
    found: list[Stuck] = []
    for wish in wishes:
        for operation in place.listing.all(wish, most=scan):
            if (one := stuck(operation, patient, now=now)) is not None:
                found.append(one)
                output.line({"operation": operation.id, "kind": one.kind, "since": one.since, "advice": one.advice})
    output.table(
        ("operation", "kind", "for", "what to do"),
        ((one.operation.id, one.kind, length(now - one.since), one.advice) for one in found),
    )
    output.say(f"{len(found)} operations are stuck." if found else "Nothing is stuck.")
    raise typer.Exit(1 if found else 0)


def _tell_cost(place: Place, output: Output) -> None:
    """The table's size is DynamoDB's own count, which it renews about every six hours."""
    size = int(place.account.client("dynamodb").describe_table(TableName=place.table)["Table"]["TableSizeBytes"])
    costing = cost(size)
    dollars, seconds = round(costing.dollars, 2), int(costing.passes.total_seconds())
    output.line({"table": place.table, "bytes": size, "pass_seconds": seconds, "dollars_a_month": dollars})
    output.text(
        f"{place.table} has {size / 2**20:,.1f} MiB. The deployed sweep reads up to {MEGABYTES} MB of it every five "
        f"minutes: through all of it in {length(costing.passes)}, for about ${costing.dollars:.2f} a month "
        "(us-east-1 list prices)."
    )
