"""`python -m bench.mutation [modules]`: break the engine in every small way, and see that a cheap test fails each time.

Works on a copy of the committed and changed files in a temporary folder; nothing here is touched.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: What the tables and rules of the protocol are made of.
MODULES = (
    "states", "outcomes", "backoff", "classify", "codes",
    "ledger.claims", "ledger.claiming", "ledger.holding", "ledger.operating", "ledger.operation",
    "ledger.cursors", "ledger.slots", "ledger.stuck",
    "worker.acknowledge", "worker.attempts", "worker.bearers", "worker.calling", "worker.conclude", "worker.conclusion",
    "worker.deadline", "worker.ended", "worker.endings", "worker.grouped", "worker.handing_over", "worker.left_behind",
    "worker.loop", "worker.origin", "worker.past", "worker.plan", "worker.receive", "worker.renewals", "worker.running",
    "worker.scan", "worker.sequence", "worker.settlers", "worker.settling", "worker.ticks", "worker.unknown",
    "aws.dynamodb", "aws.items", "aws.cursors", "aws.queues",
)  # fmt: skip
#: The tests that face the mutants: those of the engine, without days of simulation, vendors' vectors and emulators.
TESTS = (
    *(str(one.relative_to(ROOT)) for one in sorted((ROOT / "tests" / "unit").glob("test_*.py"))),
    *(
        f"tests/scenarios/test_{name}.py"
        for name in (
            "bad_input", "cursors", "endings", "envelopes", "found_by_simulation", "handlers_that_exit", "lanes",
            "outages", "outcomes", "protocol", "running", "sweep", "telling", "ticks", "unknown_effects",
            "unsigned_ids", "webhooks",
        )
    ),
    *(f"tests/contracts/test_{name}.py" for name in ("claiming", "cursors", "ledger")),
    "tests/unit/schedules/test_saving.py", "tests/architecture/test_documents.py",
)  # fmt: skip


def main(arguments: list[str]) -> int:
    """Try the mutants of these modules; 0 if every survivor is a judged one."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", help="below surehand, as in `ledger.claims`; all rule modules if none")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="the tests that face the mutants")
    keeps = "a file that keeps what the tests reach, for as long as the sources stay as they are"
    parser.add_argument("--survey", type=Path, help=keeps)
    parser.add_argument("--budget", type=float, help="seconds of tests that face one mutant (10)")
    parser.add_argument("--again", type=Path, help="the output of an earlier run: try only what it lists")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.here:
        names = asked.modules or MODULES
        return _try(names, asked.tests, survey=asked.survey, again=asked.again, budget=asked.budget)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder).resolve()
        listed = subprocess.run(
            ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
        )
        for name in listed.stdout.decode().split("\0"):
            if name and (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
        path = os.pathsep.join(str(copy / one) for one in ("", "shared", "infra", "ops"))
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "bench.mutation", "--here", *asked.modules, "--tests", *asked.tests]
        command += ["--budget", str(asked.budget)] if asked.budget else []
        for option, file in (("--survey", asked.survey), ("--again", asked.again)):
            command += [option, str(file.resolve())] if file else []
        return subprocess.run(command, cwd=copy, env=environment, check=False).returncode


def _try(
    names: list[str] | tuple[str, ...],
    tests: list[str],
    *,
    survey: Path | None,
    again: Path | None,
    budget: float | None,
) -> int:
    import pytest

    from bench.mutation.mutants import Mutant, mutants
    from bench.mutation.trials import BUDGET, Trials

    modules = {name: importlib.import_module(f"surehand.{name}") for name in (*names, *MODULES)}
    files = {name: str(module.__file__) for name, module in modules.items()}
    judged = {_name(one) for one in _judged()}
    listed = (
        None if again is None else {_name(json.loads(one)) for one in again.read_text().splitlines() if one[:1] == "{"}
    )
    counted: dict[str, Counter[str]] = {name: Counter() for name in names}

    def made() -> Iterator[Mutant]:
        print(f"{len(trials.reaches)} tests; left out as slow or failing: {', '.join(trials.left_out) or 'none'}")
        for name in names:
            text = Path(files[name]).read_text(encoding="utf-8")
            for mutant in mutants(name, text, files[name], vars(modules[name])):
                if listed is None or mutant.name in listed:
                    yield mutant
            kinds = ", ".join(f"{counted[name][kind]} {kind}" for kind in ("killed", "equivalent", "survived"))
            print(f"{name}: {counted[name].total()} mutants, {kinds}", flush=True)

    def tell(mutant: Mutant, verdict: str) -> None:
        if verdict.startswith("survived") and mutant.name in judged:
            verdict = "equivalent"
        counted[mutant.module][verdict.split(" ")[0]] += 1
        if verdict != "killed":
            told = dict(zip(("module", "in", "was", "became"), mutant.name, strict=True))
            print(json.dumps({**told, "line": mutant.lines[0], "verdict": verdict}), flush=True)

    trials = Trials(files, made, tell, survey, budget or BUDGET)
    # The distribution's own plugin is noticed after the modules were imported above; nothing here asserts in it.
    already = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
    options = ["-q", "-p", "no:cacheprovider", "-W", already, *tests]
    pytest.main(options, plugins=[trials])
    return 1 if any(count["survived"] or not count.total() for count in counted.values()) else 0


def _name(told: dict[str, str]) -> tuple[str, str, str, str]:
    return (told["module"], told["in"], told["was"], told["became"])


def _judged() -> list[dict[str, str]]:
    with (Path(__file__).parent / "judged.toml").open("rb") as file:
        found: list[dict[str, str]] = tomllib.load(file)["mutant"]
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
