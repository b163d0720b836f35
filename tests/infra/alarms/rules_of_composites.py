"""The rule language of composite alarms: ALARM("name"), AND, OR, NOT, parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_TOKEN = re.compile(r'\s*(ALARM\("(?P<name>[^"]+)"\)|AND\b|OR\b|NOT\b|\(|\))')


def names(rule: str) -> list[str]:
    """The alarms that *rule* names."""
    return [match["name"] for match in _TOKEN.finditer(rule) if match["name"]]


def compiled(rule: str) -> Callable[[Mapping[str, bool]], bool]:
    """*rule* as a function of which alarms are in state ALARM. Raises ValueError for what it cannot read."""
    tokens = _split(rule)
    test = _or(tokens)
    if tokens:
        raise ValueError(f"cannot read {tokens!r} in {rule!r}")
    return test


def _split(rule: str) -> list[str]:
    tokens, at = [], 0
    while at < len(rule.rstrip()):
        match = _TOKEN.match(rule, at)
        if match is None:
            raise ValueError(f"cannot read {rule[at:]!r}")
        tokens.append(f"={match['name']}" if match["name"] else match.group(1))
        at = match.end()
    return tokens


Test = Callable[[Mapping[str, bool]], bool]


def _or(tokens: list[str]) -> Test:
    tests = [_and(tokens)]
    while tokens and tokens[0] == "OR":
        tokens.pop(0)
        tests.append(_and(tokens))
    return lambda red: any(test(red) for test in tests)


def _and(tokens: list[str]) -> Test:
    tests = [_not(tokens)]
    while tokens and tokens[0] == "AND":
        tokens.pop(0)
        tests.append(_not(tokens))
    return lambda red: all(test(red) for test in tests)


def _not(tokens: list[str]) -> Test:
    if not tokens:
        raise ValueError("the rule ends too early")
    token = tokens.pop(0)
    if token == "NOT":
        inner = _not(tokens)
        return lambda red: not inner(red)
    if token == "(":
        group = _or(tokens)
        if not tokens or tokens.pop(0) != ")":
            raise ValueError("a parenthesis is not closed")
        return group
    if token.startswith("="):
        name = token[1:]
        return lambda red: red[name]
    raise ValueError(f"cannot read {token!r}")
