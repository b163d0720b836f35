"""Who may import whom, as far as import-linter's contracts in pyproject.toml cannot say it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT, imports, place, sources

FRAMEWORK = ROOT / "shared" / "surehand"

# The real clock and the environment enter at the two entry points; everything below takes them as arguments.
AMBIENT = {"os.environ", "os.getenv", "time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "date.today"}
MAY_READ_AMBIENT = {FRAMEWORK / "entrypoint.py", FRAMEWORK / "ingress.py"}

ANYTHING_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}


def test_handlers_import_only_the_public_names_of_the_framework() -> None:
    deep = [
        place(path, line)
        for path in sources("handlers")
        for module, line in imports(path)
        if module.startswith("surehand.")
        or module.split(".")[0] in {"surehand_cdk", "surehand_cli", "local", "ops", "infra"}
    ]
    assert deep == []


def test_nothing_that_is_deployed_imports_tests_infra_or_operations() -> None:
    forbidden = {"tests", "infra", "ops", "bench", "app", "app_stacks", "local", "surehand_cdk", "surehand_cli"}
    wrong = [
        place(path, line)
        for path in sources("shared", "handlers")
        for module, line in imports(path)
        if module.split(".")[0] in forbidden
    ]
    assert wrong == []


def test_only_the_entry_points_read_the_environment_and_the_clock() -> None:
    readers = [
        place(path, node.lineno)
        for path in sources("shared")
        if path not in MAY_READ_AMBIENT and FRAMEWORK / "testing" not in path.parents
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in AMBIENT
    ]
    assert readers == []


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [
        path for path in sources("shared", "handlers", "infra", "ops", "bench") if path.stem in ANYTHING_NAMES
    ] == []


@pytest.mark.parametrize("path", sources("handlers"), ids=lambda path: path.stem)
def test_importing_a_handler_module_imports_no_aws_sdk(path: Path) -> None:
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    assert _sdk_modules_after(f"import {module}") == []


def test_importing_the_framework_imports_no_aws_sdk() -> None:
    assert _sdk_modules_after("import surehand") == []


def _sdk_modules_after(statement: str) -> list[str]:
    """Return what of the AWS SDK a fresh interpreter has loaded after this statement."""
    code = f"{statement}\nimport sys\nprint(*sorted({{'boto3', 'botocore'}} & set(sys.modules)))"
    path = os.pathsep.join((str(ROOT), str(ROOT / "shared")))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=60,
        env=os.environ | {"PYTHONPATH": path},
    )
    return done.stdout.split()
