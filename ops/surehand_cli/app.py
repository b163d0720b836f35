"""`surehand`: the command line's entry."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from surehand_cli.account.session import as_problem
from surehand_cli.backfill.command import backfill
from surehand_cli.backfill.ticks import ticks
from surehand_cli.dlq.command import app as dlq
from surehand_cli.doctor.command import doctor
from surehand_cli.inventory.command import inventory
from surehand_cli.ledger.command import app as ledger
from surehand_cli.local.command import app as local
from surehand_cli.problem import Problem
from surehand_cli.send.command import send
from surehand_cli.webhook.command import app as webhook

app = typer.Typer(
    name="surehand",
    help="Operate a surehand service.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    # A traceback with local variables would show payloads.
    pretty_exceptions_enable=False,
)
app.add_typer(local, name="local")
app.add_typer(dlq, name="dlq")
app.add_typer(ledger, name="ledger")
app.add_typer(webhook, name="webhook")
app.command("doctor")(doctor)
app.command("inventory")(inventory)
app.command("send")(send)
app.command("ticks")(ticks)
app.command("backfill")(backfill)


@app.callback()
def surehand() -> None:
    """Operate a surehand service."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. A `Problem`, or AWS's refusal, becomes one line on stderr."""
    try:
        app(args=list(arguments) if arguments is not None else None)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except Exception as error:
        problem = error if isinstance(error, Problem) else as_problem(error)
        if problem is None:
            raise
        sys.stderr.write(f"surehand: {problem}\n")
        return problem.status
    return 0


def main() -> None:
    """Run the command line."""
    raise SystemExit(run())


if __name__ == "__main__":
    main()
