"""The public names: all of them are there, and each costs its own import only."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import surehand

PATHS = [str(Path(surehand.__file__).parents[1]), *(path for path in sys.path if "site-packages" in path)]


def loaded_after(statement: str) -> set[str]:
    code = (
        f"import json, sys\nsys.path[:0] = json.loads(sys.argv[1])\n{statement}\nprint(json.dumps(list(sys.modules)))"
    )
    command = [sys.executable, "-I", "-S", "-c", code, json.dumps(PATHS)]
    return set(json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout))


@pytest.mark.parametrize("name", surehand.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(surehand, name).__module__.startswith("surehand.")


def test_a_misspelt_name_is_told_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'surehand' has no attribute 'quue'"):
        surehand.quue  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'quue'"):
        exec("from surehand import quue")


def test_the_names_are_listed_before_they_are_used() -> None:
    assert set(surehand.__all__) <= set(dir(surehand))


def test_the_root_imports_no_pydantic() -> None:
    loaded = loaded_after("import surehand")
    assert not {"pydantic", "surehand.declare"} & loaded


def test_a_queue_s_handler_pays_nothing_for_webhooks() -> None:
    loaded = loaded_after("from surehand import Job, Retry, queue")
    assert [name for name in loaded if name.startswith("surehand.webhooks")] == []
