"""What the project's own files promise each other."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.source_tree import ROOT

LOCKS = sorted(path.name for path in (ROOT / "requirements").glob("*.txt"))


def pins(lock: str) -> dict[str, set[str]]:
    """Return the versions of each package in a lock; environment markers may give one package several."""
    found: dict[str, set[str]] = {}
    for line in (ROOT / "requirements" / lock).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)", line):
            found.setdefault(canonicalize_name(match[1]), set()).add(match[2])
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_of_a_lock_has_hashes(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    bare = [
        line
        for line in text.splitlines()
        if line and not line.lstrip().startswith("#") and "--hash=sha256:" not in line
    ]
    assert bare == []


def test_the_development_lock_tests_the_versions_that_are_deployed() -> None:
    deployed, tested = pins("lambda.txt"), pins("dev.txt")
    assert {name: tested.get(name) for name in deployed} == deployed


def test_the_installer_of_the_bootstrap_is_the_one_in_the_development_lock() -> None:
    assert pins("bootstrap.txt")["uv"] == pins("dev.txt")["uv"]


def test_the_locked_versions_satisfy_the_bounds_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = [
        *project["dependencies"],
        *(bound for extra in project["optional-dependencies"].values() for bound in extra),
    ]
    locked = pins("dev.txt")
    unmet = [
        str(need)
        for need in map(Requirement, bounds)
        if not all(need.specifier.contains(version) for version in locked.get(canonicalize_name(need.name), {"0"}))
    ]
    assert unmet == []


def test_no_uv_lock_is_committed_because_it_names_a_registry() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "uv.lock"], capture_output=True, text=True, check=True, cwd=ROOT, timeout=30
    )
    assert listed.stdout == ""


def test_every_recommended_flag_of_the_pinned_cdk_library_is_decided_in_cdk_json() -> None:
    spec = find_spec("aws_cdk")
    assert spec is not None
    assert spec.origin is not None
    (archive,) = (Path(spec.origin).parent / "_jsii").glob("aws-cdk-lib@*.tgz")
    with tarfile.open(archive) as package:
        member = package.extractfile("package/recommended-feature-flags.json")
        assert member is not None
        recommended = json.load(member)
    decided = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    assert sorted(set(recommended) - set(decided)) == []
