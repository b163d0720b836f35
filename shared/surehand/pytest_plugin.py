"""A pytest plugin that ends a run with the promises of each handler that went through a reliability suite.

Registered by the distribution, so every run of pytest beside surehand loads it: it imports nothing of the framework.
`-p no:surehand` switches it off. Not deployed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

_PROPERTY = "surehand.promise"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write one block per handler: what it keeps, what it breaks, and what could not be checked."""
    facts = list(_facts(terminalreporter.stats))
    if not facts:
        return
    terminalreporter.section("promises")
    for handler in dict.fromkeys(fact["handler"] for fact in facts):
        mine = [fact for fact in facts if fact["handler"] == handler]
        counted = "effects counted by key" if all(fact["effects"] for fact in mine) else "fates only: without effects="
        terminalreporter.line(f"{handler} ({counted})")
        kept: dict[str, bool] = {}
        for fact in mine:
            kept[fact["promise"]] = kept.get(fact["promise"], True) and fact["kept"]
        for promise, holds in kept.items():
            terminalreporter.line(f"  {'keeps ' if holds else 'BREAKS'}  {promise}")
        for promise, why in mine[0]["unchecked"].items():
            terminalreporter.line(f"  not checked  {promise}: {why}")


def _facts(stats: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for outcome in ("passed", "failed"):
        for report in stats.get(outcome, []):
            for name, value in getattr(report, "user_properties", ()):
                if name == _PROPERTY and getattr(report, "when", "") == "call":
                    yield {**json.loads(value), "kept": outcome == "passed"}
