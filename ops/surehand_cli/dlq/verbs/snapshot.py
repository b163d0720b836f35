"""`surehand dlq snapshot`: look at every letter once and write it down."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.queue import dead_letter_queue
from surehand_cli.dlq.reading import QueueName, snapshot_of
from surehand_cli.dlq.scan import MOST_IN_FLIGHT
from surehand_cli.terminal.output import Output


@located
def snapshot(
    place: Place,
    output: Output,
    queue: QueueName,
    *,
    path: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; default: in .surehand/snapshots.")
    ] = None,
    max_scan: Annotated[int, typer.Option(min=1, max=MOST_IN_FLIGHT, help="Look at so many letters at most.")] = (
        MOST_IN_FLIGHT
    ),
    bodies: Annotated[bool, typer.Option("--bodies/--no-bodies", help="Keep the bodies.")] = True,
    tell: Annotated[
        bool, typer.Option("--tell/--no-tell", help="Tell the ledger which operations are dead letters.")
    ] = True,
) -> None:
    """Look at every letter of a dead-letter queue once, and write a line for each to a file.

    SQS has no peek: looking hides a letter for a while and raises its receive count. So look once, and list, show,
    count and plan from the snapshot. The letters are shown to others again at the end.

    Example: [bold]surehand dlq snapshot orders -o orders.jsonl[/bold]
    """
    dead = dead_letter_queue(place, queue)
    taken = snapshot_of(place, output, dead, tell=tell, path=path, bodies=bodies, most=max_scan)
    output.line(
        {
            "snapshot": str(taken.path),
            "queue": dead.queue.arn,
            "letters": taken.count,
            "complete": taken.complete,
            "told": taken.told.written,
        }
    )
    raise typer.Exit(130 if getattr(place.waiting, "stopped", False) else 0)
