"""`surehand dlq`: the verbs."""

from __future__ import annotations

import typer

from surehand_cli.dlq.verbs.export import export
from surehand_cli.dlq.verbs.list import list_letters
from surehand_cli.dlq.verbs.ls import ls
from surehand_cli.dlq.verbs.native import app as native
from surehand_cli.dlq.verbs.park import park
from surehand_cli.dlq.verbs.plan import plan
from surehand_cli.dlq.verbs.purge import purge
from surehand_cli.dlq.verbs.redrive import redrive
from surehand_cli.dlq.verbs.report import report
from surehand_cli.dlq.verbs.resume import resume
from surehand_cli.dlq.verbs.show import show
from surehand_cli.dlq.verbs.snapshot import snapshot
from surehand_cli.dlq.verbs.stats import stats

app = typer.Typer(
    help="Look at dead letters, and move them with a plan, a journal and evidence.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.callback()
def dlq() -> None:
    """Look at dead letters, and move them with a plan, a journal and evidence.

    From page to evidence: [bold]ls[/bold], [bold]stats[/bold], [bold]plan[/bold], [bold]redrive --execute[/bold],
    [bold]report[/bold]. Nothing moves without --execute.
    """


app.command("ls")(ls)
app.command("snapshot")(snapshot)
app.command("stats")(stats)
app.command("list")(list_letters)
app.command("show")(show)
app.command("export")(export)
app.command("plan")(plan)
app.command("redrive")(redrive)
app.command("resume")(resume)
app.command("report")(report)
app.command("park")(park)
app.command("purge")(purge)
app.add_typer(native, name="native")
