"""`surehand dlq park`: put letters aside."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.confirming import confirm
from surehand_cli.dlq.folder import begun
from surehand_cli.dlq.pace import rate_of
from surehand_cli.dlq.planning import Wanted, make_plan
from surehand_cli.dlq.preparing import Confirm, Despite, Rate, Reason, Yes, check, run_options, show
from surehand_cli.dlq.queue import Queue, dead_letter_queue, described, parked_name, queue_url
from surehand_cli.dlq.reading import Fresh, Source, letters_of
from surehand_cli.dlq.running import execute
from surehand_cli.dlq.selecting import named, selecting
from surehand_cli.dlq.selector import Selector
from surehand_cli.problem import Problem
from surehand_cli.terminal.output import Output

#: As long as SQS can.
_RETENTION = str(14 * 86_400)


@located
@selecting
def park(
    place: Place,
    output: Output,
    source: Source,
    *,
    selector: Selector,
    go: Annotated[bool, typer.Option("--execute", help="Move letters. Without this nothing changes.")] = False,
    create: Annotated[bool, typer.Option("--create", help="Create the parking queue if there is none.")] = False,
    reason: Reason = None,
    yes: Yes = False,
    phrase: Confirm = None,
    rate: Rate = "50/s",
    despite: Despite = None,
    fresh: Fresh = False,
) -> None:
    """Put letters aside into NAME-parked, so that the dead-letter queue and its alarm speak of the rest.

    Parked letters are looked at and redriven like dead letters: [bold]surehand dlq redrive NAME-parked[/bold]. Their
    copies have new message ids, and no longer name the queue that they came from.

    Example: [bold]surehand dlq park orders --code data.address --execute --reason 'waits for the customer'[/bold]
    """
    letters = letters_of(place, output, source, fresh=fresh)
    dead = dead_letter_queue(place, str(letters.snapshot.header["url"]))
    parked = _parked(place.account.client("sqs"), dead.queue, create=create and go)
    wanted = Wanted(
        action="park", selector=named(selector), options=run_options(rate=rate_of(rate), patience=None), to=parked
    )
    plan = make_plan(place, dead, letters, wanted)
    show(output, plan)
    if not plan.letters:
        raise typer.Exit(2)
    check(place, output, plan, despite=despite or (), strict=go)
    if not go:
        output.say("Changes made: none. Add --execute --reason '…' to move them.")
        return
    why = confirm(output, plan, reason=reason, yes=yes, phrase=phrase)
    status, _ = execute(place, output, begun(place, plan), plan, reason=why, resume=False)
    raise typer.Exit(status)


def _parked(client: Any, dead: Queue, *, create: bool) -> Queue:
    name = parked_name(dead.name)
    try:
        return described(client, queue_url(client, name))
    except Problem:
        if not create:
            raise Problem(f"there is no queue '{name}'; --execute --create makes it") from None
    attributes = {"MessageRetentionPeriod": _RETENTION, "SqsManagedSseEnabled": "true"}
    if dead.fifo:
        attributes["FifoQueue"] = "true"
    return described(client, client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])
