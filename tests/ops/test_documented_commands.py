"""Every `surehand …` command in the documents exists, with every option that is written there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from surehand_cli.app import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "ops" / "policies").glob("*.md"), ROOT / "README.md"])
_INLINE = re.compile(r"`{1,2}\s?(surehand [^`]*(?:`\d+`[^`]*)?)`")
_BLOCK = re.compile(r"^\$ (surehand .*)$", re.MULTILINE)


def commands(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    yield from _BLOCK.findall(text)
    yield from (found for found in _INLINE.findall(text) if "…" not in found.split("--")[0] and "|" not in found)


def unknown(command: str) -> list[str]:
    """Return the words of a command that the command line does not know."""
    try:
        words = shlex.split(command.replace("'…'", "why").partition(" < ")[0].partition(" > ")[0])[1:]
    except ValueError:
        return [command]
    node: Any = typer.main.get_command(app)
    while words and hasattr(node, "commands"):
        name = words.pop(0).rstrip(",")
        if name not in node.commands:
            return [name]
        node = node.commands[name]
    known = {option for parameter in node.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return [word for word in words if word.startswith("-") and word.partition("=")[0] not in known | {"--help"}]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_document_can_be_typed(page: Path) -> None:
    assert {command: wrong for command in commands(page) if (wrong := unknown(command))} == {}


def test_the_documents_do_hold_commands() -> None:
    assert sum(len(list(commands(page))) for page in PAGES) > 40


def test_every_verb_has_a_help_text_with_an_example() -> None:
    def verbs(node: Any, path: str) -> Iterator[tuple[str, Any]]:
        for name, command in getattr(node, "commands", {}).items():
            if hasattr(command, "commands"):
                yield from verbs(command, f"{path} {name}")
            else:
                yield f"{path} {name}", command

    without = [path for path, command in verbs(typer.main.get_command(app), "") if "xample" not in (command.help or "")]
    assert [path for path in without if path.split()[0] in ("dlq", "ledger", "send", "inventory", "doctor")] == []
