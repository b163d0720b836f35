"""Human text on standard error, JSON lines on standard output; no colour and no movement without a terminal."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


class Output:
    """One command's output. Without `json` tables go to standard output, so that they can be piped."""

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        self.console = Console(stderr=True, highlight=False)
        self._result = Console(highlight=False, width=None if sys.stdout.isatty() else 220)

    def say(self, text: str, style: str = "") -> None:
        """Tell the person at the terminal."""
        self.console.print(Text(text, style), soft_wrap=True)

    def line(self, record: Mapping[str, Any]) -> None:
        """Write one JSON line, if asked for."""
        if self.json:
            sys.stdout.write(jsonlib.dumps(record, default=plain, ensure_ascii=False) + "\n")
            sys.stdout.flush()

    def text(self, text: str) -> None:
        """Write a result for people to standard output, unless JSON lines are going there."""
        if not self.json:
            self._result.print(Text(text), soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
        """Write a table to standard output, unless it has no rows or JSON lines are going there."""
        shown_rows = list(rows)
        if self.json or not shown_rows:
            return
        table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
        for index, column in enumerate(columns):
            table.add_column(column, overflow="fold", no_wrap=index == 0)
        for row in shown_rows:
            table.add_row(*(Text(shown(cell)) for cell in row))
        self._result.print(table)


def shown(value: object) -> str:
    """Return a cell's text: moments to the second in UTC, nothing for None."""
    if value is None:
        return "–"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    return str(value)


def plain(value: object) -> object:
    """Return what JSON has in place of a value that it does not know."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    if isinstance(value, frozenset | set | tuple):
        return list(value)
    return str(value)
