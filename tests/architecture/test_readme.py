"""The README shows code that runs."""

from __future__ import annotations

import re

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
