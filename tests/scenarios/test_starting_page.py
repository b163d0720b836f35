"""The page for newcomers is true: its files, taken out of it, are a project whose tests pass."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from surehand_cli.local.toolchain import EMULATOR
from surehand_cli.project import find_project

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "starting.md").read_text(encoding="utf-8")
FILES: dict[str, str] = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The page's files in a folder of their own."""
    for name, text in FILES.items():
        (file := tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (tmp_path / "shop" / "__init__.py").touch()
    return tmp_path


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # In a process of its own: the page's handlers would stay declared in this one.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("shared", "infra", "ops"))
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env={**kept, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_tests_of_the_page_pass_and_keep_every_promise(project: Path) -> None:
    done = run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider")

    assert "15 passed" in done.stdout, done.stdout + done.stderr
    for line in re.findall(r"^  (?:keeps|not checked) .*$", PAGE, re.MULTILINE):
        assert line in done.stdout


def test_the_command_line_finds_the_service_of_the_page(project: Path) -> None:
    done = run(project, "-m", "surehand_cli.app", "inventory", "--json")

    assert [handler["name"] for handler in json.loads(done.stdout)["handlers"]] == ["orders", "receipts"]


def test_the_samples_of_the_page_load_and_name_its_handlers(project: Path) -> None:
    says = "import local_run; [print(s.handler) for s in local_run.shop().__enter__().samples]"
    done = run(project, "-c", says)

    assert set(done.stdout.split()) == {"orders"}, done.stderr
    assert "local" in find_project(project).settings


def test_the_page_locks_what_this_service_deploys() -> None:
    def named(text: str) -> list[str]:
        return [line for line in text.splitlines() if line and not line.startswith("#")]

    ours = (ROOT / "requirements" / "lambda.in").read_text(encoding="utf-8")
    assert named(FILES["requirements/lambda.in"]) == named(ours)


def test_the_page_installs_what_the_command_line_asks_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (named,) = re.findall(r"'surehand\[([\w,]+)\] @ file:///", PAGE)

    assert set(named.split(",")) <= set(extras)
    assert f".emulator/bin/python -m pip install {EMULATOR} boto3\n" in PAGE
    assert json.loads(FILES["cdk.json"])["app"] == ".venv/bin/python app.py"
