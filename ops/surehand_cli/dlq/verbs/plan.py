"""`surehand dlq plan`: freeze what a redrive shall do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.pace import rate_of
from surehand_cli.dlq.plan import Plan, save
from surehand_cli.dlq.planning import Wanted, make_plan
from surehand_cli.dlq.preparing import (
    Alarms,
    Backlog,
    Despite,
    IncludeHeld,
    Patience,
    Rate,
    To,
    Unwatched,
    check,
    run_options,
    show,
)
from surehand_cli.dlq.queue import dead_letter_queue, described, parked_name, queue_url
from surehand_cli.dlq.reading import Fresh, Source, letters_of
from surehand_cli.dlq.selecting import named, selecting
from surehand_cli.dlq.selector import Selector
from surehand_cli.terminal.output import Output

ParkSkipped = Annotated[
    bool,
    typer.Option("--park-skipped", help="FIFO: park letters that are not meant and stand before one that is."),
]


@located
@selecting
def plan(
    place: Place,
    output: Output,
    source: Source,
    *,
    path: Annotated[Path, typer.Option("--output", "-o", help="The plan's file.")],
    selector: Selector,
    rate: Rate = "5/s",
    patience: Patience = 120,
    unwatched: Unwatched = False,
    alarms: Alarms = None,
    backlog: Backlog = None,
    despite: Despite = None,
    include_held: IncludeHeld = False,
    to: To = None,
    park_skipped: ParkSkipped = False,
    fresh: Fresh = False,
) -> None:
    """Freeze which letters a redrive shall move, where to, and how; for somebody to look at before it runs.

    The plan names every letter with its digest and what the ledger says of it now. It is good for 24 hours, and
    [bold]surehand dlq redrive --plan[/bold] refuses it once it was edited or its operations have changed.

    Example: [bold]surehand dlq plan orders --code provider.timeout --tenant acme -o plan.json[/bold]
    """
    made = planned_redrive(
        place,
        output,
        source,
        selector=selector,
        fresh=fresh,
        include_held=include_held,
        to=to,
        park_skipped=park_skipped,
        options=run_options(
            rate=rate_of(rate), patience=None if unwatched else patience, alarms=alarms, backlog=backlog
        ),
    )
    if not made.letters:
        show(output, made)
        raise typer.Exit(2)
    check(place, output, made, despite=despite or (), strict=False)
    save(made, path)
    show(output, made)
    output.say(f"Changes made: none. Run it with: surehand dlq redrive --plan {path} --execute --reason '…'")


def planned_redrive(
    place: Place,
    output: Output,
    source: str,
    *,
    selector: Selector,
    fresh: bool,
    include_held: bool,
    to: str | None,
    park_skipped: bool,
    options: dict[str, object],
) -> Plan:
    """Make the plan of a redrive from a queue or a snapshot.

    Raises:
        Refusal: Nothing is selected.
        Problem: There is no such queue or file.
    """
    letters = letters_of(place, output, source, fresh=fresh)
    client = place.account.client("sqs")
    dead = dead_letter_queue(place, str(letters.snapshot.header["url"]))
    return make_plan(
        place,
        dead,
        letters,
        Wanted(
            action="redrive",
            selector=named(selector),
            options=options,
            include_held=include_held,
            to=described(client, queue_url(client, to)) if to is not None else None,
            parked=described(client, queue_url(client, parked_name(dead.queue.name))) if park_skipped else None,
        ),
    )
