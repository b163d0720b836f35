"""Without a Region, without credentials, with a dead endpoint or a module that fails, a command says so in one line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from surehand.testing import World
from surehand_cli.account.session import Account
from tests.ops.conftest import Surehand

VERBS = [
    ("dlq", "ls"),
    ("dlq", "stats", "parcels"),
    ("dlq", "list", "parcels"),
    ("dlq", "show", "parcels", "1"),
    ("dlq", "snapshot", "parcels", "--no-tell", "-o", "s.jsonl"),
    ("dlq", "export", "parcels", "--all", "-o", "e.jsonl"),
    ("dlq", "plan", "parcels", "--all", "-o", "p.json"),
    ("dlq", "redrive", "parcels", "--all"),
    ("dlq", "park", "parcels", "--all"),
    ("dlq", "purge", "parcels", "--all"),
    ("dlq", "native", "status", "parcels"),
    ("ledger", "list"),
    ("ledger", "show", "parcels", "1"),
    ("ledger", "sweep"),
    ("ledger", "cancel", "parcels", "1", "--reason", "r"),
    ("send", "parcels", "-f", "rows.jsonl"),
    ("ticks",),
    ("backfill", "nightly", "--from", "2026-11-01T00:00Z", "--to", "2026-11-03T00:00Z"),
    ("webhook", "sign", "hooks", "--body", "rows.jsonl", "--url", "http://127.0.0.1/"),
    ("doctor",),
]


@pytest.fixture
def bare(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, and nothing that names a Region or credentials."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(project / "none"))
    (project / "rows.jsonl").write_text('{"number": "1"}\n')
    (project / "pyproject.toml").write_text('[tool.surehand]\nservice = "tests.ops.triggers:ALL"\n')
    return project


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_command_without_a_region_says_so_in_one_line(verb: tuple[str, ...], bare: Path, surehand: Surehand) -> None:
    said = surehand(*verb)
    assert said.status == (3 if verb == ("doctor",) else 1)
    assert said.err.splitlines()[-1].startswith("surehand: ")
    assert said.err.count("no AWS Region; name one with --region or AWS_REGION") == 1


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_command_without_credentials_says_so_in_one_line(
    verb: tuple[str, ...], bare: Path, surehand: Surehand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    said = surehand(*verb)
    assert said.status == (3 if verb == ("doctor",) else 1)
    assert said.err.splitlines()[-1].startswith("surehand: ")
    assert said.err.count("no AWS credentials; log in (`aws sso login`) or name a profile with --profile") == 1


def test_the_variable_that_lambda_sets_names_the_region_unless_the_option_does(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert Account().client("sqs").meta.region_name == "us-east-1"
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    assert Account().client("sqs").meta.region_name == "eu-central-1"
    assert Account(region="eu-west-1").client("sqs").meta.region_name == "eu-west-1"


def test_the_doctor_at_a_dead_endpoint_is_not_green(
    bare: Path, surehand: Surehand, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "eu-central-1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("surehand_cli.account.session._ATTEMPTS", 1)
    said = surehand("doctor", "--endpoint-url", "http://127.0.0.1:9")
    assert (said.status, len(said.err.splitlines()), said.out) == (3, 1, "")
    assert said.err.startswith("surehand: nothing could be checked: AWS cannot be reached")


def test_queues_that_are_not_deployed_are_no_empty_table(depot: World, surehand: Surehand) -> None:
    said = surehand("dlq", "ls", "--stage", "nowhere")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("surehand: none of the service's dead-letter queues is here (depot-nowhere-parcels-dlq")


MODULES = {
    "variable": ("import os\nURL = os.environ['STOCK_URL']\n", "the environment variable STOCK_URL (broken.py:2)"),
    "arithmetic": ("a = 1\n\nb = a / 0\n", "ZeroDivisionError: division by zero (broken.py:3)"),
    "syntax": ("def f(:\n    pass\n", "SyntaxError: invalid syntax (broken.py:1)"),
    "exit": ("import sys\nsys.exit('no stock')\n", "sys.exit('no stock') (broken.py:2)"),
    "import": ("import nowhere_at_all\n", "ModuleNotFoundError: No module named 'nowhere_at_all' (broken.py:1)"),
    "brackets": (
        "from surehand import Service, queue\n@queue('a', key='i')\ndef a(payload: dict): ...\nS = Service('s', (a))\n",
        "write Service('s', (a,)). (broken.py:4)",
    ),
    "name": ("from handlers.service import SHOP\n", "broken has no S; its services are SHOP"),
}


@pytest.mark.parametrize("kind", MODULES)
def test_a_service_whose_module_fails_is_told_in_one_line_with_the_place(
    kind: str, project: Path, surehand: Surehand, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, said = MODULES[kind]
    (project / "broken.py").write_text(text)
    (project / "pyproject.toml").write_text('[tool.surehand]\nservice = "broken:S"\n')
    monkeypatch.syspath_prepend(str(project))
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    done = surehand("inventory")
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert done.err.startswith("surehand: [tool.surehand] service = 'broken:S' cannot be loaded: ")
    assert said in done.err


@pytest.mark.parametrize("stage", ["a b", "Prod", "", "p_1", "-"])
def test_a_stage_that_can_be_in_no_name_is_refused(stage: str, surehand: Surehand) -> None:
    said = surehand("inventory", "--stage", stage)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"surehand: --stage: Stage name {stage!r}: use lower-case letters")


def test_a_stage_that_makes_a_name_too_long_is_refused_in_one_line(project: Path, surehand: Surehand) -> None:
    (project / "pyproject.toml").write_text('[tool.surehand]\nservice = "tests.ops.triggers:ALL"\n')
    said = surehand("inventory", "--stage", "s" * 40)
    assert (said.status, said.err) == (0, "")
    (project / "pyproject.toml").write_text('[tool.surehand]\nservice = "tests.ops.triggers:LONG"\n')
    said = surehand("inventory", "--stage", "s" * 40)
    assert (said.status, len(said.err.splitlines())) == (2, 1)
    assert "and Lambda allows 64" in said.err


def test_a_folder_without_a_project_says_what_makes_it_one(
    surehand: Surehand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    said = surehand("inventory")
    assert said.status == 2
    assert 'under [tool.surehand], where your Service is: service = "handlers.service:SHOP"' in said.err
