"""The README shows code that runs."""

from __future__ import annotations

import ast
import re
from importlib import import_module

from tests.architecture.source_tree import ROOT


def blocks(language: str) -> list[str]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", readme, re.DOTALL)


def test_the_first_handler_of_the_readme_is_the_one_that_is_deployed_and_tested() -> None:
    first = blocks("python")[0]
    assert first in (ROOT / "handlers/orders.py").read_text(encoding="utf-8")
    assert len(first.splitlines()) < 12


def test_every_page_that_the_readme_links_exists() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", readme)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_name_that_the_readme_imports_from_us_is_public() -> None:
    imports = [
        node
        for block in blocks("python")[1:]
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.ImportFrom) and node.module is not None
    ]
    assert {node.module for node in imports} == {"surehand", "surehand.testing", "surehand_cdk"}
    private = [
        (node.module, alias.name)
        for node in imports
        for alias in node.names
        if alias.name not in import_module(str(node.module)).__all__
    ]
    assert private == []


def test_the_test_of_the_readme_is_the_one_of_the_page_for_newcomers() -> None:
    page = (ROOT / "docs/starting.md").read_text(encoding="utf-8")
    pieces = blocks("python")[-1].split("\n\n\n")[1:]
    assert len(pieces) == 2
    assert [piece for piece in pieces if piece not in page] == []
