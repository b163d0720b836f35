"""`surehand`: the command line's entry."""

from __future__ import annotations

import sys

import typer

from surehand_cli.local.command import app as local
from surehand_cli.problem import Problem

app = typer.Typer(
    name="surehand",
    help="Operate a surehand service.",
    no_args_is_help=True,
    add_completion=False,
    # A traceback with local variables would show payloads.
    pretty_exceptions_enable=False,
)
app.add_typer(local, name="local")


@app.callback()
def surehand() -> None:
    """Operate a surehand service."""


def main() -> None:
    """Run the command line. A `Problem` becomes one line on stderr and exit status 2."""
    try:
        app()
    except Problem as problem:
        sys.stderr.write(f"surehand: {problem}\n")
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
