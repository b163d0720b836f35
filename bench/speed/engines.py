"""The same fresh batches against engines that are really there, over loopback: MiniStack, and DynamoDB Local.

DynamoDB Local listens on every interface, so it is not started here: give its address in DYNAMODB_LOCAL_URL.
`.ci/oracle` shows how to run it in a network namespace of its own.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.figures import Figure, compared
from bench.sides import ours as our_side
from bench.sides import peer as peer_side
from bench.speed.cold import ROOT
from bench.speed.invoking import Side, Sink, fresh
from bench.spread import in_turns
from bench.wire import Responder
from surehand.aws import clients
from surehand_cli.local.emulator import emulator

SIZES = (1, 10, 100)
LOCAL = "DYNAMODB_LOCAL_URL"


def engines(*, runs: int) -> Iterator[Figure]:
    """Yield one figure for each engine and batch size."""
    with tempfile.TemporaryDirectory() as folder:
        executable = ROOT / ".emulator" / "bin" / "ministack"
        with emulator(executable, port=0, log=Path(folder) / "ministack.log") as url:
            yield from _on("ministack", url, runs)
    if os.environ.get(LOCAL):
        yield from _on("dynamodb-local", os.environ[LOCAL], runs)


def _on(engine: str, url: str, runs: int) -> Iterator[Figure]:
    with on_engine(url) as (mine, theirs):
        for size in SIZES:
            turns = in_turns(mine.wall(fresh(size)), theirs.wall(fresh(size)), runs=runs)
            yield compared("engine", {"engine": engine, "batch": size}, turns, unit="ms")


@contextmanager
def on_engine(url: str) -> Iterator[tuple[Side, Side]]:
    """Yield both sides on an engine, with their tables made."""
    unused = Responder()
    sinks = [Sink(), Sink()]
    with (
        patch.dict(os.environ, {**our_side.ENVIRONMENT, "AWS_ENDPOINT_URL": url}),
        our_side.ours(_leave, sinks[0]) as mine,
        peer_side.peer(_leave, sinks[1]) as theirs,
    ):
        client = clients.client("dynamodb", clients.QUEUES)
        our_side.make_table(client)
        peer_side.make_table(client)
        yield Side(mine, unused, sinks[0]), Side(theirs, unused, sinks[1])


def _leave(_: Any) -> None:
    """The clients stay as they are."""
