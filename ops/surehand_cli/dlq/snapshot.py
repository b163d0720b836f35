"""Snapshots: what a dead-letter queue held at one time, one line of JSON each, so that nobody has to look twice.

The first line says what was looked at, the last one how it ended. Bodies may hold personal data, so the file is
readable by its owner only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from surehand_cli.dlq.identify import Identified
from surehand_cli.dlq.letter import Letter, from_json, to_json
from surehand_cli.problem import Problem

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot on disk. *header* and *end* are its first and last line; *end* is None if it was cut off."""

    path: Path
    header: Mapping[str, Any]
    end: Mapping[str, Any] | None

    @property
    def taken_at(self) -> datetime:
        """When it was begun."""
        return datetime.fromisoformat(self.header["at"])

    @property
    def complete(self) -> bool:
        """Whether everything that was in the queue is in it, as far as SQS's counts tell."""
        return self.end is not None and bool(self.end["complete"])

    def letters(self) -> Iterator[tuple[Letter, Identified | None]]:
        """Yield the letters in order, one at a time.

        Raises:
            Problem: A line cannot be read.
        """
        with self.path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                record = _read(self.path, number, line)
                if number > 1 and "end" not in record:
                    try:
                        yield from_json(record), _identity(record)
                    except (KeyError, ValueError, TypeError):
                        raise Problem(f"{self.path}, line {number}, is no letter of a snapshot") from None


class Writer:
    """Writes a snapshot's lines."""

    def __init__(self, file: TextIO, *, bodies: bool) -> None:
        self._file = file
        self._bodies = bodies

    def header(self, said: Mapping[str, Any]) -> None:
        """Write the first line."""
        self._line({"snapshot": FORMAT, **said})

    def letter(self, letter: Letter, who: Identified | None) -> None:
        """Write one letter."""
        line = to_json(letter, bodies=self._bodies)
        if who is not None:
            said = {
                "operation": who.operation,
                "handler": who.handler,
                "tenant": who.tenant,
                "fingerprints": list(who.fingerprints) or None,
                "problem": who.problem,
                "detail": who.detail,
            }
            line |= {name: value for name, value in said.items() if value is not None}
        self._line(line)

    def end(self, said: Mapping[str, Any]) -> None:
        """Write the last line."""
        self._line({"end": FORMAT, **said})

    def _line(self, record: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(record, ensure_ascii=True, separators=(",", ":")) + "\n")


@contextmanager
def writing(path: Path, *, bodies: bool) -> Iterator[Writer]:
    """Write a new snapshot at *path*; it appears there when the body has ended well, whole.

    Raises:
        Problem: The file exists already or cannot be written.
    """
    if path.exists():
        raise Problem(f"{path} exists already")
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(partial, "w", encoding="utf-8", opener=private) as file:
            yield Writer(file, bodies=bodies)
    except OSError as error:
        raise Problem(f"{partial} cannot be written: {error.strerror}") from error
    partial.replace(path)


def private(path: str, flags: int) -> int:
    """Open a file that only its owner can read."""
    return os.open(path, flags, 0o600)


def opened(path: Path) -> Snapshot:
    """Return the snapshot at *path*.

    Raises:
        Problem: It cannot be read or is none.
    """
    try:
        with path.open("rb") as file:
            first = file.readline()
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 4_096))
            last = file.read().splitlines()[-1]
    except (OSError, IndexError) as error:
        raise Problem(f"{path} cannot be read as a snapshot: {error}") from error
    header = _read(path, 1, first.decode("utf-8", "replace"))
    if header.get("snapshot") != FORMAT:
        raise Problem(f"{path} is no snapshot of format {FORMAT}")
    try:
        end = json.loads(last)
    except ValueError:
        end = None
    return Snapshot(path, header, end if isinstance(end, dict) and "end" in end else None)


def _read(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise Problem(f"{path}, line {number}, is no JSON object")
    return record


def _identity(record: Mapping[str, Any]) -> Identified | None:
    if "operation" not in record:
        return None
    return Identified(
        operation=record["operation"],
        handler=record["handler"],
        tenant=record.get("tenant"),
        fingerprints=tuple(record.get("fingerprints", ())),
        problem=record.get("problem"),
        detail=record.get("detail"),
    )
