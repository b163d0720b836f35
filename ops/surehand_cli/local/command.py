"""`surehand local`: the commands."""

from __future__ import annotations

import json as jsonlib
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from surehand_cli.local.display import Display, Lines, LiveTable, summary, table
from surehand_cli.local.run import LocalRun, finished, local_run
from surehand_cli.project import find_project

app = typer.Typer(help="Run the service on this machine, without an AWS account.", no_args_is_help=True)


@app.callback()
def local() -> None:
    """Run the service on this machine, without an AWS account."""


@app.command("run")
def run_command(
    *,
    once: Annotated[bool, typer.Option("--once", help="End when every sample has met its fate.")] = False,
    json: Annotated[bool, typer.Option("--json", help="End with one line of JSON on standard output.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The emulator's port; 0 finds a free one.")] = 0,
) -> None:
    """Deploy to a local emulator, send the sample messages and show what becomes of each.

    In a terminal it then stays up for you to try things, until Ctrl-C. The exit status is 0 if every message met its
    expected fate, 1 if not, 2 if the run was not possible.
    """
    console = Console(stderr=json)
    display: Display = LiveTable(console) if console.is_terminal else Lines(console)
    stays = console.is_terminal and not once and not json
    project = find_project(Path.cwd())
    with _ends_properly(console), local_run(project, port=port, display=display) as run:
        with display.following():
            run.follow(display, finished(run))
        done = run.report()
        if console.is_terminal and not stays:
            console.print(table(run.progress.tracks, console.width))
        console.print(summary(done), soft_wrap=True)
        if not done.good:
            for line in run.complaints:
                console.print(Text(f"  {line}", "dim"), soft_wrap=True)
            console.print(Text(f"The logs stay in {run.folder}."), soft_wrap=True)
        if json:
            sys.stdout.write(jsonlib.dumps(done.as_json()) + "\n")
        if stays and not run.broken:
            _stay(run, display, console)
    raise typer.Exit(0 if done.good else 1)


def _stay(run: LocalRun, display: Display, console: Console) -> None:
    """Keep everything running, and show what else comes, until Ctrl-C."""
    try:
        console.print()
        for what, command in run.surroundings.hints(run.deployed):
            console.print(Text(what, "bold"), Text(command), sep="\n  ", soft_wrap=True, highlight=False)
        console.print(Text("Ctrl-C stops everything and leaves nothing behind.\n", "bold"))
        with display.following():
            run.follow(display, lambda: False)
    except KeyboardInterrupt:
        console.print(table(run.progress.tracks, console.width), "stopping …")


@contextmanager
def _ends_properly(console: Console) -> Iterator[None]:
    """Make SIGTERM and SIGHUP clean up as Ctrl-C does, and Ctrl-C end without a traceback."""

    def stop(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        yield
    except KeyboardInterrupt:
        console.print("stopped; nothing is left running")
        raise typer.Exit(130) from None
