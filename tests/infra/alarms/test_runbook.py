"""Every alarm has a heading of the runbook, every heading an alarm, and every command of ours exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from surehand_cdk.watch.runbook import ENTRIES, Names, description, document
from tests.infra.alarms.evaluator import Alarms
from tests.infra.synthesis import Synthesis

PAGE = Path(__file__).resolve().parents[3] / "docs" / "runbook.md"
HEADINGS = re.findall(r"^## ([a-z-]+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_is_what_the_entries_generate():
    assert PAGE.read_text(encoding="utf-8") == document(), "python -m surehand_cdk.watch.runbook > docs/runbook.md"


def test_every_entry_is_a_heading_and_every_heading_an_entry():
    assert list(ENTRIES) == HEADINGS


@pytest.mark.infra
def test_every_heading_has_an_alarm_and_every_alarm_a_heading(watch: Synthesis, full: Synthesis, lean: Synthesis):
    stacks = [Alarms.of(synthesis.templates["watch"]) for synthesis in (watch, full, lean)]
    known = {name for stack in stacks for name in (*stack.metric, *stack.composite)}
    used = {heading for heading in HEADINGS if any(name.endswith(f"-{heading}") for name in known)}
    webhook = {heading for heading in HEADINGS if heading.startswith("webhook-")}

    assert set(HEADINGS) - used - webhook == set()
    assert all(any(name.endswith(f"-{heading}") for heading in HEADINGS) for name in known)


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_says_what_it_means_how_to_see_it_what_to_do_and_when_to_escalate(name: str):
    entry = ENTRIES[name]

    assert all((entry.means, entry.see, entry.command, entry.then, entry.escalate))


@pytest.mark.parametrize("name", ENTRIES)
def test_a_description_fits_and_leaves_no_name_open(name: str):
    names = Names(
        stage="prod", handler="h" * 40, function="f" * 64, queue="q" * 80, dlq="d" * 80, table="t" * 60,
        mapping="m" * 36, group="g" * 60,
    )  # fmt: skip
    text = description(name, names, page="https://example.com/a/long/way/to/docs/runbook.md")

    assert len(text) <= 1_024
    assert not re.search(r"\{[a-z]+\}", text)
    assert text.endswith(f"#{name}")


def commands() -> list[str]:
    return sorted(set(re.findall(r"`surehand ([^`]+)`", PAGE.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("command", commands())
def test_a_command_of_ours_exists_with_its_options(command: str):
    from surehand_cli.app import app

    words = command.split()
    node = typer.main.get_command(app)
    while words and (children := getattr(node, "commands", None)):
        assert words[0] in children, f"surehand has no {command!r}"
        node = children[words.pop(0)]
    known = {option for parameter in node.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
