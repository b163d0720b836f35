"""The emulator is there while its block lasts, on this machine only, and nothing of it is left afterwards."""

from __future__ import annotations

import socket
import stat
import tempfile
from pathlib import Path

import pytest

from surehand_cli.local import emulator as module
from surehand_cli.local.emulator import emulator
from surehand_cli.problem import Problem
from tests.ops.local.processes import listening_addresses, of_session

ROOT = Path(__file__).resolve().parents[3]
MINISTACK = ROOT / ".emulator" / "bin" / "ministack"


def fake(tmp_path: Path, script: str) -> Path:
    file = tmp_path / "fake"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def test_it_listens_on_127_0_0_1_alone(tmp_path: Path) -> None:
    with emulator(MINISTACK, port=0, log=tmp_path / "log") as endpoint:
        addresses = {address for pid in of_session(str(MINISTACK), endpoint) for address in listening_addresses(pid)}

    assert addresses == {endpoint.removeprefix("http://")}


def test_nothing_is_left_but_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with emulator(MINISTACK, port=0, log=tmp_path / "log") as endpoint:
        running = of_session(str(MINISTACK), endpoint)
        assert running

    assert [path.name for path in tmp_path.iterdir()] == ["log"]
    assert of_session(str(MINISTACK), endpoint) == []


def test_functions_inherit_nothing_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://elsewhere")
    monkeypatch.setenv("SECRET_OF_MINE", "1")

    environment = module._environment(tmp_path, 1)

    assert {"AWS_ENDPOINT_URL", "SECRET_OF_MINE", "AWS_PROFILE"} & environment.keys() == set()


def test_a_taken_port_is_a_problem_that_names_it(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with (
            pytest.raises(Problem, match=f"port {port} of 127.0.0.1"),
            emulator(MINISTACK, port=port, log=tmp_path / "log"),
        ):
            pass


def test_a_missing_emulator_is_a_problem_that_says_what_installs_it(tmp_path: Path) -> None:
    with (
        pytest.raises(Problem, match=r"none is missing\); docs/starting\.md"),
        emulator(tmp_path / "none", port=0, log=tmp_path / "log"),
    ):
        pass


def test_an_emulator_that_ends_at_once_is_quoted(tmp_path: Path) -> None:
    broken = fake(tmp_path, "echo 'ImportError: no module named hypercorn'; exit 3")

    with pytest.raises(Problem, match="no module named hypercorn"), emulator(broken, port=0, log=tmp_path / "log"):
        pass


def test_an_emulator_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_SECONDS", 0.2)

    with (
        pytest.raises(Problem, match="did not answer"),
        emulator(fake(tmp_path, "sleep 600"), port=0, log=tmp_path / "log"),
    ):
        pass
