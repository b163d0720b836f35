"""The PartiQL statements that the ledger writes, compiled once for each text.

Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from bench.wire.conditions import NotUnderstood

_FIELD = re.compile(r"'([^']+)': \?")
_CHANGE = re.compile(r'(?:SET "([^"]+)" = \?|REMOVE "([^"]+)")')
_WHERE = re.compile(r'"([^"]+)" (<=|>=|<>|=|<|>) \?')


def _listed(one: re.Pattern[str], separator: str) -> str:
    return f"({one.pattern}(?:{separator}{one.pattern})*)"


_INSERT = re.compile(rf"INSERT INTO \"([^\"]+)\" VALUE \{{{_listed(_FIELD, ', ')}\}}")
_UPDATE = re.compile(rf"UPDATE \"([^\"]+)\" {_listed(_CHANGE, ' ')} WHERE {_listed(_WHERE, ' AND ')}")


@dataclass(frozen=True, slots=True)
class Insert:
    """An INSERT; its parameters are the values of *names*."""

    table: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """An UPDATE; its parameters are the values of *assigned*, then those of *conditions* (name, comparison)."""

    table: str
    assigned: tuple[str, ...]
    removed: tuple[str, ...]
    conditions: tuple[tuple[str, str], ...]


@lru_cache(maxsize=256)
def statement(text: str) -> Insert | Update:
    """Return what a statement says.

    Raises:
        NotUnderstood: It is none that the ledger writes.
    """
    if match := _INSERT.fullmatch(text):
        return Insert(match[1], tuple(_FIELD.findall(match[2])))
    if not (match := _UPDATE.fullmatch(text)):
        raise NotUnderstood(text)
    said, _, where = text.partition(" WHERE ")
    changes = _CHANGE.findall(said)
    return Update(
        match[1],
        tuple(assigned for assigned, _ in changes if assigned),
        tuple(removed for _, removed in changes if removed),
        tuple(_WHERE.findall(where)),
    )
