"""What the documents say is what the code does: tables are compared, and every named test exists."""

from __future__ import annotations

import os
import re

import pytest

from surehand.codes import CLASSES, CODES
from surehand.outcomes import Outcome
from surehand.states import TRANSITIONS, State
from tests.architecture.source_tree import ROOT


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def codes_page() -> str:
    """Return docs/codes.md as it must stand."""
    rows = "\n".join(f"| `{code}` | {CLASSES[code.partition('.')[0]]} | {meaning} |" for code, meaning in CODES.items())
    return (
        "# Failure codes\n\n"
        "`<class>.<name>`. Users register nothing: raise any code of that shape. The class decides which alarm it\n"
        "counts in; an unknown class counts as `code`. These are the framework's own (`shared/surehand/codes.py`;\n"
        "this page is generated from it: `SUREHAND_WRITE_DOCS=1 make test TESTS=tests/architecture`).\n\n"
        f"| code | alarmed as | meaning |\n|---|---|---|\n{rows}\n"
    )


def test_the_page_of_codes_is_the_table_in_the_code() -> None:
    if os.environ.get("SUREHAND_WRITE_DOCS"):
        (ROOT / "docs/codes.md").write_text(codes_page(), encoding="utf-8")
    assert text("docs/codes.md") == codes_page()


def test_the_protocol_s_table_of_transitions_is_the_one_in_the_code() -> None:
    section = text("docs/protocol.md").partition("## The table of transitions")[2].partition("\n## ")[0]
    said: dict[str, set[str]] = {}
    for names, targets in re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE):
        for name in names.split(", "):
            plain = re.sub(r"\([^)]*\)", "", targets)
            said[name.strip("()")] = {one for one in re.findall(r"[a-z_]+", plain) if one in set(State)}
    said["processing"] = said["leased"] - {State.PROCESSING}
    for source, targets in TRANSITIONS.items():
        assert said[source or "none"] == set(targets), source


@pytest.mark.parametrize("page", ["docs/guarantees.md", "docs/protocol.md"])
def test_every_test_that_a_document_names_exists(page) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text(page))
    missing = [
        (file, test)
        for file, test in named
        if not (ROOT / file).is_file() or (test and f"def {test}(" not in text(file))
    ]
    assert named
    assert missing == []


def test_the_readme_names_every_outcome_that_a_handler_can_choose() -> None:
    readme = text("README.md")
    assert [
        outcome for outcome in ("succeeded", "retry", "deferred", "rejected", "canceled") if outcome not in readme
    ] == []
    assert {"succeeded", "retry", "deferred", "rejected", "canceled"} <= set(Outcome)
