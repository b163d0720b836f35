"""The journal of a run: what it did to which letter, written and synced before and after each step.

One JSON object a line. Each carries the digest of the line before (`prev`) and its own (`sum`), so that a line which
was changed, removed or put in breaks the chain. A crash can leave the last line torn: it is dropped, since nothing
was done on its account. (What does the next step is written down first.)
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from surehand_cli.dlq.plan import canonical
from surehand_cli.problem import Problem

_START = "0" * 64

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a journal says. *broken* is the number of the first line that breaks the chain; *torn*: one was cut off."""

    entries: tuple[Entry, ...]
    size: int
    torn: bool = False
    broken: int | None = None

    @property
    def sum(self) -> str:
        """The digest of the last line."""
        return str(self.entries[-1]["sum"]) if self.entries else _START


class Journal:
    """Appends to a journal; every entry is on the disk when the call returns."""

    def __init__(self, path: Path, *, after: Reading | None = None) -> None:
        """Begin a new journal, or go on after what was read (a torn line is cut off).

        Raises:
            Problem: A new one exists already, or the file cannot be written.
        """
        flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT | os.O_EXCL if after is None else 0)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, flags, 0o600)
            if after is not None:
                os.ftruncate(self._file, after.size)
        except OSError as error:
            raise Problem(f"{path} cannot be written: {error.strerror}") from error
        self._sum = after.sum if after is not None else _START
        self._count = len(after.entries) if after is not None else 0

    def write(self, kind: str, at: datetime, **said: Any) -> Entry:
        """Append one entry and sync it; return it as it will be read.

        Raises:
            OSError: The disk does not take it: nothing further may be done.
        """
        self._count += 1
        content = {"n": self._count, "at": at.isoformat(timespec="milliseconds"), "kind": kind, **said}
        entry = {**content, "prev": self._sum, "sum": _sum(content, self._sum)}
        os.write(self._file, (json.dumps(entry, ensure_ascii=True, separators=(",", ":")) + "\n").encode())
        os.fsync(self._file)
        self._sum = entry["sum"]
        return entry

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read(path: Path) -> Reading:
    """Read a journal and check its chain.

    Raises:
        Problem: It cannot be read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}") from error
    entries: list[Entry] = []
    before, size = _START, 0
    lines = content.split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):
        entry = _entry(line)
        if entry is None or entry.get("prev") != before or entry.get("sum") != _sum(_said(entry), before):
            return Reading(tuple(entries), size, broken=number)
        entries.append(entry)
        before = entry["sum"]
        size += len(line) + 1
    return Reading(tuple(entries), size, torn=bool(lines[-1]))


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _said(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in ("prev", "sum")}


def _sum(content: Mapping[str, Any], before: str) -> str:
    return hashlib.sha256((before + canonical(content)).encode()).hexdigest()
