"""The command line, run in process against the depot on moto."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from surehand.testing import World, world
from surehand_cli.app import run
from tests.ops.burial import Consumer, Pumped
from tests.ops.depot import DEPOT, STATE, ship


@dataclass
class Said:
    """What a command said and how it ended."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The JSON lines of standard output."""
        return [json.loads(line) for line in self.out.splitlines()]


Surehand = Callable[..., Said]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder that names the depot as its service; the current folder."""
    (tmp_path / "pyproject.toml").write_text('[tool.surehand]\nservice = "tests.ops.depot:DEPOT"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUREHAND_STAGE", "test")
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def surehand(project: Path, capsys: pytest.CaptureFixture[str]) -> Surehand:
    """Run one command."""

    def command(*arguments: object) -> Said:
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Said(status, said.out, said.err)

    return command


@pytest.fixture
def depot(project: Path) -> Iterator[World]:
    """The depot on moto."""
    STATE.reset()
    with world(DEPOT, on="moto") as made:
        yield made


@pytest.fixture
def consumer(depot: World, monkeypatch: pytest.MonkeyPatch) -> Consumer:
    """A consumer of the parcels, which works whenever a command waits."""
    import boto3
    from moto.sqs.models import SQSBackend

    # moto counts the whole queue several times for each message that it delivers; no message here gets old.
    monkeypatch.setattr(SQSBackend, "is_message_valid_based_on_retention_period", lambda *_: True)
    # It asks for the time once for each message in the queue whenever one is sent, by way of two datetimes.
    monkeypatch.setattr("moto.sqs.models.unix_time_millis", lambda: time.time() * 1000)
    # moto waits out a long poll; it has one server, which a short poll asks as well.
    monkeypatch.setattr("surehand_cli.dlq.scan._POLL_SECONDS", 0)
    made = Consumer(boto3.client("sqs"), boto3.client("dynamodb"), ship)
    pumped = Pumped(made)
    monkeypatch.setattr("surehand_cli.account.place.SystemWaiting", lambda: pumped)
    return made
