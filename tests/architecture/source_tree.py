"""The repository's Python files as the architecture tests read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def sources(*folders: str) -> list[Path]:
    """Return every Python file below these folders of the repository, sorted."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each module that a file imports anywhere, also inside functions, with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            yield node.module, node.lineno


def place(path: Path, line: int) -> str:
    """Name a line of a file the way editors open it."""
    return f"{path.relative_to(ROOT)}:{line}"
