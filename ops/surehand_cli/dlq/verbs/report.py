"""`surehand dlq report`: the evidence of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.evidence_text import markdown
from surehand_cli.dlq.folder import folder_of
from surehand_cli.dlq.folder import report as write_report
from surehand_cli.dlq.verbs.resume import RunName
from surehand_cli.terminal.output import Output


@located
def report(
    place: Place,
    output: Output,
    run: RunName,
    *,
    md: Annotated[
        bool, typer.Option("--md", help="The whole report as Markdown (the default without --json).")
    ] = False,
) -> None:
    """Write and print the evidence of a run, from its plan and its journal.

    Exit status 5 if the journal was edited.

    Example: [bold]surehand dlq report 20261129T1700 --md > evidence.md[/bold]
    """
    folder = folder_of(place, run)
    said = write_report(folder, folder.plan())
    if md or not output.json:
        output.text(markdown(said).rstrip("\n"))
    output.line(said)
    if not said["journal"]["intact"]:
        output.say(f"The journal was edited at line {said['journal']['broken_at']}.", "bold red")
        raise typer.Exit(5)
