"""The PartiQL statements that the ledger writes, compiled once for each text.

Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from bench.wire.conditions import NotUnderstood

_INSERT = re.compile(r"INSERT INTO \"([^\"]+)\" VALUE \{(.*)\}")
_UPDATE = re.compile(r"UPDATE \"([^\"]+)\" (.*?) ?WHERE (.*)")
_FIELD = re.compile(r"'([^']+)' ?: ?\?")
_CHANGE = re.compile(r'(SET|REMOVE) "([^"]+)"( = \?)?')
_WHERE = re.compile(r'"([^"]+)" (<=|>=|<>|=|<|>) \?')


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
        names = tuple(_FIELD.findall(match[2]))
        if len(names) != match[2].count("?"):
            raise NotUnderstood(text)
        return Insert(match[1], names)
    if not (match := _UPDATE.fullmatch(text)):
        raise NotUnderstood(text)
    changes = _CHANGE.findall(match[2])
    conditions = tuple(_WHERE.findall(match[3]))
    if len(changes) != len(re.findall(r"\b(?:SET|REMOVE)\b", match[2])) or len(conditions) != match[3].count("?"):
        raise NotUnderstood(text)
    return Update(
        match[1],
        tuple(name for verb, name, _ in changes if verb == "SET"),
        tuple(name for verb, name, _ in changes if verb == "REMOVE"),
        conditions,
    )
