"""Which dead letters are meant: conditions on the letter and on what the ledger knows of it.

All of them must hold; values given several times for one field mean any of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from surehand_cli.dlq.known import Known
from surehand_cli.dlq.letter import Letter, strings
from surehand_cli.problem import Problem

#: Separates the two ends of a range of ids.
_RANGE = ".."


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Conditions; empty ones hold for every letter. Moments are aware and inclusive.

    *ids* are message ids, or `A..B` for everything from A to B in the snapshot's order. *codes* are failure codes,
    *classes* alarm classes (provider, data, code) or the part of a code before its first dot. *where* are jmespath
    expressions on `{"body": …, "attributes": …, "id": …}`, whose result must be true.
    """

    ids: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    dead_since: datetime | None = None
    dead_until: datetime | None = None
    attempts: str | None = None
    limit: int | None = None
    all: bool = False

    @property
    def empty(self) -> bool:
        """Whether it says nothing at all. A limit alone says how many, not which."""
        return not self.all and all(
            not getattr(self, one.name) for one in fields(self) if one.name not in ("limit", "all")
        )

    def to_json(self) -> dict[str, Any]:
        """Return what it says, for plans and evidence."""
        said = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: value.isoformat()
            if isinstance(value, datetime)
            else list(value)
            if isinstance(value, tuple)
            else value
            for name, value in said.items()
            if value
        }


class Selection:
    """A selector at work on one pass over a snapshot: it remembers where ranges began and how many were taken."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector
        self._single = frozenset(one for one in selector.ids if _RANGE not in one)
        self._ranges = [tuple(one.split(_RANGE, 1)) for one in selector.ids if _RANGE in one]
        self._open: set[int] = set()
        self._taken = 0
        self._attempts = _comparison(selector.attempts)
        self._where = [_compiled(expression) for expression in selector.where]

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return self._selector.limit is not None and self._taken >= self._selector.limit

    def takes(self, known: Known) -> bool:
        """Tell whether this letter is meant; call it for every letter of the snapshot, in order."""
        in_range = self._in_range(known.letter.message_id)
        if self.full or not (in_range and self._fits(known)):
            return False
        self._taken += 1
        return True

    def _in_range(self, message_id: str) -> bool:
        """Follow the ranges; a letter belongs to its range with both ends."""
        inside = not self._selector.ids or message_id in self._single
        for index, (first, last) in enumerate(self._ranges):
            if message_id == first or not first:
                self._open.add(index)
            if index in self._open:
                inside = True
            if message_id == last:
                self._open.discard(index)
                self._ranges[index] = ("\0", "\0") if not first else (first, last)
        return inside

    def _fits(self, known: Known) -> bool:
        wanted = self._selector
        operation = known.operation
        return (
            _any(wanted.operations, known.operation_id)
            and _any(wanted.tenants, known.tenant)
            and _any(wanted.codes, known.code)
            and (not wanted.classes or bool(set(wanted.classes) & _classes(known)))
            and _any(wanted.versions, operation.version if operation is not None else None)
            and _within(known.letter.sent_at, wanted.since, wanted.until)
            and _within(known.dead_at, wanted.dead_since, wanted.dead_until)
            and self._attempts(operation.attempts if operation is not None else None)
            and all(_true(expression, known.letter) for expression in self._where)
        )


def _any(wanted: Sequence[str], value: str | None) -> bool:
    return not wanted or value in wanted


def _classes(known: Known) -> set[str]:
    code = known.code
    return set() if code is None else {code.partition(".")[0], str(known.failure_class)}


def _within(moment: datetime | None, since: datetime | None, until: datetime | None) -> bool:
    if since is None and until is None:
        return True
    return moment is not None and (since is None or moment >= since) and (until is None or moment <= until)


def _comparison(text: str | None) -> Any:
    """Return a test for `>=3`, `<2` or `3`. Letters whose attempts nobody knows fit none of them."""
    if text is None:
        return lambda _: True
    sign = text.rstrip("0123456789").strip()
    number = text[len(text.rstrip("0123456789")) :]
    tests: dict[str, Any] = {
        "": lambda n, m: n == m,
        "=": lambda n, m: n == m,
        ">": lambda n, m: n > m,
        ">=": lambda n, m: n >= m,
        "<": lambda n, m: n < m,
        "<=": lambda n, m: n <= m,
    }
    if sign not in tests or not number:
        raise Problem(f"--attempts {text!r}: write a number, or one after >=, >, <= or <")
    bound = int(number)
    return lambda attempts: attempts is not None and tests[sign](attempts, bound)


def _compiled(expression: str) -> Any:
    try:
        return jmespath.compile(expression)
    except JMESPathError as error:
        raise Problem(f"--where {expression!r} is no jmespath expression: {str(error).splitlines()[0]}") from None


def _true(expression: Any, letter: Letter) -> bool:
    """Tell whether an expression holds. A body that is no JSON is its text."""
    if letter.body is None:
        raise Problem("--where needs bodies, and this snapshot was taken with --no-bodies")
    try:
        body: Any = json.loads(letter.body)
    except (ValueError, RecursionError):
        body = letter.body
    seen = {"body": body, "attributes": strings(letter), "id": letter.message_id}
    try:
        return bool(expression.search(seen))
    except (JMESPathError, TypeError):
        return False  # it compares a text with a number, say: true of no such letter
