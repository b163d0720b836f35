"""A run on disk: plan.json, journal.jsonl, report.json, report.md in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surehand_cli.account.place import Place
from surehand_cli.dlq import journal as journals
from surehand_cli.dlq import plan as plans
from surehand_cli.dlq.evidence import evidence
from surehand_cli.dlq.evidence_text import markdown
from surehand_cli.dlq.journal import Reading
from surehand_cli.dlq.plan import Plan
from surehand_cli.dlq.snapshot import private
from surehand_cli.problem import Problem


@dataclass(frozen=True, slots=True)
class Folder:
    """A run's folder: plan.json, journal.jsonl, report.json, report.md."""

    path: Path

    @property
    def name(self) -> str:
        """The run's name."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """The journal's file."""
        return self.path / "journal.jsonl"

    def plan(self) -> Plan:
        """Read the plan.

        Raises:
            Problem, Refusal: It cannot be read, or was changed.
        """
        return plans.load(self.path / "plan.json")

    def reading(self) -> Reading:
        """Read the journal, whole or not."""
        return journals.read(self.journal)


def begun(place: Place, plan: Plan) -> Folder:
    """Make the folder of a new run and save its plan there."""
    now = place.waiting.now().strftime("%Y%m%dT%H%M%S%fZ")
    folder = Folder(place.folder / "runs" / f"{now[:-4]}Z-{plan.action}-{plan.name}-{plan.digest[:8]}")
    plans.save(plan, folder.path / "plan.json")
    return folder


def folder_of(place: Place, run: str) -> Folder:
    """Return the folder of a run given by name, by the beginning of its name, or by path.

    Raises:
        Problem: There is none, or more than one.
    """
    if (path := Path(run)).is_dir():
        return Folder(path)
    runs = place.folder / "runs"
    found = sorted(runs.glob(f"{run}*")) if runs.is_dir() else []
    if len(found) != 1:
        known = ", ".join(one.name for one in sorted(runs.glob("*"))[-3:]) if runs.is_dir() else "none"
        raise Problem(f"{len(found)} runs are called {run!r} in {runs}; the latest: {known}")
    return Folder(found[0])


def report(folder: Folder, plan: Plan) -> Mapping[str, Any]:
    """Write report.json and report.md from plan and journal, and return the report."""
    said = evidence(folder.name, plan, folder.reading())
    texts = {"report.json": json.dumps(said, indent=1, ensure_ascii=False) + "\n", "report.md": markdown(said)}
    for name, text in texts.items():
        with open(folder.path / name, "w", encoding="utf-8", opener=private) as file:
            file.write(text)
    return said
