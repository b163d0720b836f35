"""Rows to be sent: one JSON payload a line, each validated and keyed. Errors name lines and fields, never values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from surehand import Handler
from surehand.codes import code_of_type
from surehand.declare import Identity, NoKey, NotValid
from surehand.declare.limits import LARGEST_MESSAGE
from surehand.queues import Outgoing
from surehand.sending import outgoing


@dataclass(frozen=True, slots=True)
class Row:
    """One line that can be sent. *number* counts from 1."""

    number: int
    identity: Identity
    message: Outgoing


@dataclass(frozen=True, slots=True)
class Invalid:
    """One line that cannot be sent, with the code that its delivery would end with."""

    number: int
    code: str
    detail: str


@dataclass(slots=True)
class Checked:
    """What a whole file comes to. *digest* is that of its content; *twice* are lines whose operation came before.

    *conflicts* are lines that give another payload for the operation of an earlier line; they are also *invalid*.
    """

    valid: int = 0
    invalid: list[Invalid] = field(default_factory=list)
    twice: int = 0
    conflicts: set[int] = field(default_factory=set)
    digest: str = ""


#: Lines that cannot be sent are listed up to this many; all of them count.
LISTED = 1_000


def rows(path: Path, handler: Handler[Any]) -> Iterator[Row | Invalid]:
    """Yield every line that is not blank, in order.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield _row(number, line.strip(), handler)


def check(path: Path, handler: Handler[Any]) -> Checked:
    """Look at every line before one is sent. Holds 32 bytes and a number for each operation in memory.

    Raises:
        OSError: The file cannot be read.
    """
    checked = Checked(digest=_digest(path))
    seen: dict[bytes, tuple[bytes, int]] = {}
    for row in rows(path, handler):
        if isinstance(row, Invalid):
            _refuse(checked, row)
            continue
        key, payload = _short(row.identity.operation), _short(row.message.body)
        first, line = seen.setdefault(key, (payload, row.number))
        if first != payload:
            checked.conflicts.add(row.number)
            detail = f"another payload for the operation that line {line} names"
            _refuse(checked, Invalid(row.number, "input.conflict", detail))
            continue
        checked.valid += 1
        checked.twice += line != row.number
    return checked


def _refuse(checked: Checked, invalid: Invalid) -> None:
    if len(checked.invalid) < LISTED:
        checked.invalid.append(invalid)


def _row(number: int, line: bytes, handler: Handler[Any]) -> Row | Invalid:
    try:
        payload = handler.payload.validate(line)
        message = outgoing(handler, payload)
        identity = handler.identify(payload, handler.payload.dump(payload))
    except NotValid as error:
        return Invalid(number, error.code, str(error))
    except NoKey as error:
        return Invalid(number, "input.key", str(error))
    except Exception as error:  # noqa: BLE001 - a validator or key function of the user's own; its text may hold values
        return Invalid(number, code_of_type(error), type(error).__name__)
    size = len(message.body.encode())
    if size > LARGEST_MESSAGE:
        return Invalid(number, "input.schema", f"{size:,} bytes; SQS takes {LARGEST_MESSAGE:,}")
    return Row(number, identity, message)


def _short(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
