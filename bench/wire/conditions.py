"""DynamoDB's condition and update expressions, as far as the two sides use them, compiled once for each text.

Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

Item = dict[str, Any]
Names = Mapping[str, str]
Condition = Callable[[Item, Names, Item], bool]

_TOKEN = re.compile(r"\s*(<=|>=|<>|[=<>(),]|[#:\w]+)")
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class NotUnderstood(ValueError):
    """An expression that this stand-in does not know: better no figure than one for a request that was ignored."""


@lru_cache(maxsize=256)
def condition(text: str) -> Condition:
    """Return the predicate of a ConditionExpression: called with item, names and values.

    Raises:
        NotUnderstood: It uses something else than AND, OR, parentheses, comparisons and attribute_[not_]exists.
    """
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s+", "", text):
        raise NotUnderstood(text)
    return _any(tokens)


@lru_cache(maxsize=256)
def update(text: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return what an UpdateExpression assigns (name and value placeholders) and what it removes.

    Raises:
        NotUnderstood: It does something else than SET of plain values and REMOVE.
    """
    match = re.fullmatch(r"(?:SET (?P<set>.+?))?(?: ?REMOVE (?P<remove>.+))?", text.strip())
    if match is None:
        raise NotUnderstood(text)
    assigned = []
    for part in (match["set"] or "").split(",") if match["set"] else ():
        name, _, value = (one.strip() for one in part.partition("="))
        if not name.startswith("#") or not value.startswith(":"):
            raise NotUnderstood(text)
        assigned.append((name, value))
    return tuple(assigned), tuple(name.strip() for name in (match["remove"] or "").split(",") if name.strip())


def compare(one: Any, comparison: str, other: Any) -> bool:
    """Compare two attribute values as DynamoDB does; a missing one (None) and unequal types never match."""
    if one is None or other is None:
        return False
    ((kind, left),) = one.items()
    ((other_kind, right),) = other.items()
    if kind != other_kind:
        return comparison == "<>"
    if kind == "N":
        left, right = Decimal(left), Decimal(right)
    return _COMPARISONS[comparison](left, right)


def _any(tokens: list[str]) -> Condition:
    parts = [_all(tokens)]
    while tokens and tokens[0].upper() == "OR":
        tokens.pop(0)
        parts.append(_all(tokens))
    return parts[0] if len(parts) == 1 else lambda item, names, values: any(one(item, names, values) for one in parts)


def _all(tokens: list[str]) -> Condition:
    parts = [_one(tokens)]
    while tokens and tokens[0].upper() == "AND":
        tokens.pop(0)
        parts.append(_one(tokens))
    return parts[0] if len(parts) == 1 else lambda item, names, values: all(one(item, names, values) for one in parts)


def _one(tokens: list[str]) -> Condition:
    token = tokens.pop(0)
    if token == "(":
        inner = _any(tokens)
        tokens.pop(0)
        return inner
    if token in ("attribute_exists", "attribute_not_exists"):
        _, name, _ = (tokens.pop(0) for _ in range(3))
        wanted = token == "attribute_exists"
        return lambda item, names, values: (names[name] in item) is wanted  # noqa: ARG005
    comparison, value = tokens.pop(0), tokens.pop(0)
    if comparison not in _COMPARISONS:
        raise NotUnderstood(comparison)
    return lambda item, names, values: compare(item.get(names[token]), comparison, values[value])
