"""`surehand dlq redrive`: move letters back to where they came from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.confirming import confirm
from surehand_cli.dlq.folder import begun
from surehand_cli.dlq.pace import rate_of
from surehand_cli.dlq.plan import Plan, load
from surehand_cli.dlq.preparing import (
    Alarms,
    Backlog,
    Confirm,
    Despite,
    IncludeHeld,
    Patience,
    Rate,
    Reason,
    To,
    Unwatched,
    Yes,
    check,
    drift,
    run_options,
    show,
)
from surehand_cli.dlq.reading import Fresh
from surehand_cli.dlq.running import execute
from surehand_cli.dlq.selecting import selecting
from surehand_cli.dlq.selector import Selector
from surehand_cli.dlq.verbs.plan import ParkSkipped, planned_redrive
from surehand_cli.problem import Refusal
from surehand_cli.terminal.output import Output


@located
@selecting
def redrive(
    place: Place,
    output: Output,
    source: Annotated[str | None, typer.Argument(metavar="[QUEUE|SNAPSHOT]", help="As in `plan`; or --plan.")] = None,
    *,
    selector: Selector,
    path: Annotated[Path | None, typer.Option("--plan", help="A plan that `plan` has written.")] = None,
    go: Annotated[bool, typer.Option("--execute", help="Move letters. Without this nothing changes.")] = False,
    reason: Reason = None,
    yes: Yes = False,
    phrase: Confirm = None,
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
    """Move letters back to their source, carefully: a canary for each failure code, a ramp, a stop on re-failure.

    Each letter is journaled before it is sent and deleted only after SQS has accepted its copy. Kill it whenever you
    like and go on with [bold]surehand dlq resume[/bold]; what a crash sends twice the ledger absorbs.

    Exit status: 0 all succeeded or already applied, 2 nothing matched, 3 stopped because letters failed again,
    4 partial, 5 refused, 130 interrupted.

    Examples: [bold]surehand dlq redrive orders --code provider.timeout[/bold] (what would happen),
    [bold]surehand dlq redrive --plan plan.json --execute --reason 'INC-17, fixed by 3f2a'[/bold]
    """
    if (path is None) == (source is None):
        raise Refusal("name a queue or snapshot with a selection, or --plan FILE: one of them")
    if path is not None:
        plan = _loaded(place, path, selector)
    else:
        plan = planned_redrive(
            place,
            output,
            str(source),
            selector=selector,
            fresh=fresh,
            include_held=include_held,
            to=to,
            park_skipped=park_skipped,
            options=run_options(
                rate=rate_of(rate), patience=None if unwatched else patience, alarms=alarms, backlog=backlog
            ),
        )
    show(output, plan)
    if not plan.letters:
        raise typer.Exit(2)
    if path is not None and (changes := drift(place, plan)):
        raise Refusal(f"the plan has drifted: {'; '.join(changes)}. Make a new one")
    check(place, output, plan, despite=despite or (), strict=go)
    if not go:
        output.say("Changes made: none. Add --execute --reason '…' to move them.")
        return
    why = confirm(output, plan, reason=reason, yes=yes, phrase=phrase)
    status, _ = execute(place, output, begun(place, plan), plan, reason=why, resume=False)
    raise typer.Exit(status)


def _loaded(place: Place, path: Path, selector: Selector) -> Plan:
    plan = load(path)
    if not selector.empty or selector.limit is not None:
        raise Refusal("a plan is frozen: make a new one for another selection")
    if plan.action != "redrive":
        raise Refusal(f"{path} is the plan of a {plan.action}")
    if (plan.stage, plan.service) != (place.stage, place.service.name):
        raise Refusal(f"{path} is for {plan.service}, stage {plan.stage}; this is {place.service.name}, {place.stage}")
    if plan.expired(place.waiting.now()):
        raise Refusal(f"{path} expired at {plan.expires_at}; make a new one")
    return plan
