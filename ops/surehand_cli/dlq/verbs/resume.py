"""`surehand dlq resume`: go on with a run."""

from __future__ import annotations

from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.checks import Check
from surehand_cli.dlq.folder import folder_of
from surehand_cli.dlq.preparing import Despite, check
from surehand_cli.dlq.running import execute
from surehand_cli.problem import Refusal
from surehand_cli.terminal.output import Output

RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's name or its beginning, or its folder.")]


@located
def resume(
    place: Place,
    output: Output,
    run: RunName,
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why; it stands in the evidence.")] = "resumed",
    despite: Despite = None,
) -> None:
    """Go on with a run that was killed, interrupted or stopped, by its journal.

    It begins with a canary for each failure code again. Letters that were sent and not deleted are only deleted.

    Example: [bold]surehand dlq resume 20261129T1700[/bold]
    """
    folder = folder_of(place, run)
    plan = folder.plan()
    if plan.stage != place.stage:
        raise Refusal(f"this run is of stage {plan.stage}; say --stage {plan.stage}")
    # What is in flight is most likely what the run that was killed held; it is waited for.
    check(place, output, plan, despite=[*(despite or ()), Check.IN_FLIGHT], strict=True)
    status, _ = execute(place, output, folder, plan, reason=reason, resume=True)
    raise typer.Exit(status)
