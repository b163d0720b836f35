"""`surehand ledger`: the verbs."""

from __future__ import annotations

import typer

from surehand_cli.ledger.cancel import cancel
from surehand_cli.ledger.list import list_operations
from surehand_cli.ledger.release import release
from surehand_cli.ledger.resolve import resolve
from surehand_cli.ledger.show import show
from surehand_cli.ledger.sweep import sweep

app = typer.Typer(
    help="Read the ledger of operations, and end what has no other end.", no_args_is_help=True, rich_markup_mode="rich"
)


@app.callback()
def ledger() -> None:
    """Read the ledger of operations, and end what has no other end.

    Every verb that writes shows what it would do and writes only with --execute and --reason. Who, why and when stay
    in the operation's history.
    """


app.command("show")(show)
app.command("list")(list_operations)
app.command("cancel")(cancel)
app.command("release")(release)
app.command("resolve")(resolve)
app.command("sweep")(sweep)
