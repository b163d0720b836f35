"""Tests come in the same order in every process: parallel workers refuse to run what they do not agree on."""

from __future__ import annotations

import ast

from tests.architecture.source_tree import place, sources


def test_no_test_is_parametrised_from_a_set() -> None:
    """A set of texts has another order in every process."""
    found = [
        place(path, node.lineno)
        for path in sources("tests")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parametrize"
        for values in node.args[1:2]
        if _is_set(values)
    ]
    assert found == []


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_set(node.left) or _is_set(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("set", "frozenset") or (node.func.id == "list" and any(map(_is_set, node.args)))
    return isinstance(node, ast.Set | ast.SetComp)
