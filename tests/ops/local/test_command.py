"""What stops `surehand local run` before it begins is said in one line."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from surehand_cli.local import toolchain
from surehand_cli.local.deployed import Deployed
from surehand_cli.local.leashed import Leashed
from surehand_cli.local.run import surroundings_of
from surehand_cli.local.toolchain import Step, Toolchain
from surehand_cli.problem import Problem
from surehand_cli.project import find_project

ROOT = Path(__file__).resolve().parents[3]
MINIMAL = '[tool.surehand]\nservice = "handlers.service:SHOP"\nlocal = "local.shop:shop"\n'


def surehand(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "surehand_cli.app", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def only_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the one line with which a command has refused to begin."""
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("surehand: ")]
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return line


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = surehand("local", "run", "--once", "--port", str(port), cwd=ROOT)

    assert f"port {port} of 127.0.0.1 cannot be used" in only_line(done)


def test_a_folder_that_is_no_service_is_named(tmp_path: Path) -> None:
    assert str(tmp_path) in only_line(surehand("local", "run", cwd=tmp_path))


def test_a_missing_cdk_command_line_is_named_with_what_installs_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(MINIMAL)

    line = only_line(surehand("local", "run", cwd=tmp_path))

    assert "the CDK command line is not installed" in line
    assert "`npm install --save-dev aws-cdk`" in line
    assert "make run" in line


def test_a_missing_emulator_is_named_with_the_release_that_is_tested(tmp_path: Path) -> None:
    pinned = (ROOT / "requirements" / "emulator.in").read_text(encoding="utf-8").split()

    with pytest.raises(Problem, match=r"\.emulator/bin/python -m pip install ministack==") as problem:
        toolchain.check(tmp_path)

    (release,) = [word for word in pinned if word.startswith("ministack==")]
    assert f"pip install {release} boto3`" in str(problem.value)


def test_missing_node_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(Problem, match="Node is not installed"):
        toolchain.check(ROOT)


def test_node_beside_this_python_is_preferred_to_the_machine_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("wheel", "machine"):
        (tmp_path / folder / "bin").mkdir(parents=True)
    (own := tmp_path / "machine" / "bin" / "node").touch(mode=0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "wheel"))
    monkeypatch.setenv("PATH", str(own.parent))
    assert toolchain.node() == own

    (beside := tmp_path / "wheel" / "bin" / "node").touch(mode=0o755)
    assert toolchain.node() == beside


def test_a_service_without_surroundings_is_deployed_and_nothing_is_sent(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.surehand]\nservice = "handlers.service:SHOP"\n')
    project = find_project(tmp_path)

    with surroundings_of(project) as alone:
        hints = dict(alone.hints(Deployed(project.service(), "http://emulator")))

    assert (alone.samples, alone.environment, alone.effects().total) == ((), {}, 0)
    assert list(hints) == ["Send a message to 'orders':"]
    assert "http://emulator/000000000000/shop-local-orders " in hints["Send a message to 'orders':"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[tool.surehand]\nservice = "nowhere:SHOP"\n', "nowhere"),
        ('[tool.surehand]\nservice = "handlers.service:NOTHING"\n', "NOTHING"),
        ('[tool.surehand]\nservice = "handlers.service"\n', "module:NAME"),
        ("[tool.surehand]\n", "module:NAME"),
        ('[tool.surehand]\nservice = "handlers.service:charge_order"\n', "no surehand.Service"),
    ],
)
def test_a_service_that_cannot_be_loaded_is_explained(tmp_path: Path, settings: str, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text(settings)

    with pytest.raises(Problem, match=said):
        find_project(tmp_path).service()


def test_an_unreadable_pyproject_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool")

    with pytest.raises(Problem, match=r"pyproject\.toml cannot be read"):
        find_project(tmp_path)


def test_the_project_is_found_from_a_folder_inside_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(MINIMAL)
    (inner := tmp_path / "a" / "b").mkdir(parents=True)
    (inner / "pyproject.toml").write_text("[project]\nname = 'another'\n")

    assert find_project(inner).root == tmp_path


def test_a_step_that_fails_is_quoted_in_its_own_words(tmp_path: Path) -> None:
    code = "import sys; print('Deploying'); print('Error: no route to host'); print('at x.js:1'); sys.exit(1)"
    with (
        Leashed([sys.executable, "-c", code], cwd=tmp_path, env={}, log=tmp_path / "deploy.log") as process,
        pytest.raises(Problem) as problem,
    ):
        Step("deploy", process).finish()

    assert "cdk deploy failed: Error: no route to host" in str(problem.value)
    assert str(tmp_path / "deploy.log") in str(problem.value)


def test_the_cdk_command_line_sees_no_account_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "CDK_DEFAULT_ACCOUNT", "PYTHONPATH"):
        monkeypatch.setenv(name, "mine")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")

    environment = Toolchain(tmp_path, tmp_path)._environment()

    assert "mine" not in environment.values()
    assert environment["HTTPS_PROXY"] == "http://proxy"
    assert environment["AWS_ACCESS_KEY_ID"] == "test"
