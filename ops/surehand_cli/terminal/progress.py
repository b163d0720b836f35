"""Progress with counts, rate and time left: a moving line in a terminal, one plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from surehand_cli.terminal.output import Output

#: Without a terminal a line is written at most this often.
_SECONDS = 10.0

Shown = Callable[..., None]


@contextmanager
def counting(output: Output, what: str, total: int) -> Iterator[Shown]:
    """Yield a function `shown(count, note="")` that shows how far it is."""
    if not output.console.is_terminal:
        yield _plain(output, what, total)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=output.console, transient=True) as progress:
        task = progress.add_task(what, total=max(total, 1), note="", rate="")
        began = time.monotonic()

        def shown(count: int, note: str = "") -> None:
            rate = count / max(0.001, time.monotonic() - began)
            progress.update(task, completed=count, total=max(total, count, 1), note=note, rate=f"{rate:.1f}/s")

        yield shown


def _plain(output: Output, what: str, total: int) -> Shown:
    began = last = time.monotonic()

    def shown(count: int, note: str = "") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _SECONDS:
            return
        last = now
        rate = count / max(0.001, now - began)
        left = f" · ETA {max(0, total - count) / rate:.0f} s" if rate else ""
        output.say(f"{count}/{total} {what}{' · ' + note if note else ''} · {rate:.1f}/s{left}")

    return shown
