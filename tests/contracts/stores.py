"""The stores that the ledger's contract suite is held against, one factory each."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config
from botocore.session import get_session
from moto import mock_aws

from surehand.aws.clients import LEDGER
from surehand.aws.dynamodb import DynamoDBLedger
from surehand.ledger import Ledger
from surehand.testing import MemoryLedger
from surehand.testing.world import table_definition

ROOT = Path(__file__).resolve().parents[2]

STORES = [
    "memory",
    "moto",
    "ministack-single",
    "ministack-batch",
    pytest.param("oracle-single", marks=pytest.mark.oracle),
    pytest.param("oracle-batch", marks=pytest.mark.oracle),
]


@contextmanager
def store(name: str, emulator: str | None) -> Iterator[Ledger]:
    """Make an empty store of that name."""
    if name == "memory":
        yield MemoryLedger()
    elif name == "moto":
        with mock_aws():
            made = _on(None, batched=False)
            _one_at_a_time(made._client)
            yield made
    else:
        url = os.environ["DYNAMODB_LOCAL_URL"] if name.startswith("oracle") else emulator
        yield _on(url, batched=name.endswith("batch"))


def _on(url: str | None, *, batched: bool) -> DynamoDBLedger:
    table = f"ledger-{uuid.uuid4().hex}"
    _client(url, Config()).create_table(**table_definition(table))
    # A busy machine is no outage of the ledger: the engine's tight timeouts are tested where the engine is.
    patient = LEDGER.merge(Config(max_pool_connections=64, connect_timeout=10, read_timeout=30))
    return DynamoDBLedger(_client(url, patient), table, batched=batched)


def _one_at_a_time(client: Any) -> None:
    """moto answers in the caller's own thread and shows others an item that is half written; DynamoDB does not."""
    lock, call = threading.Lock(), client._make_api_call

    def locked(*arguments: Any) -> Any:
        with lock:
            return call(*arguments)

    client._make_api_call = locked


def _client(url: str | None, config: Config) -> Any:
    return get_session().create_client("dynamodb", endpoint_url=url, config=config)


@contextmanager
def ministack() -> Iterator[str]:
    """Run the emulator on a free port of the loopback device, and end its whole process group."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "TMPDIR": folder,
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "MINISTACK_REGION": "eu-west-1",
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
        }
        server = subprocess.Popen(
            [ROOT / ".emulator" / "bin" / "ministack"],
            env=environment,
            cwd=folder,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            _until_ready(server, url)
            yield url
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()


def _until_ready(server: subprocess.Popen[bytes], url: str) -> None:
    for _ in range(300):
        assert server.poll() is None, "the emulator ended at its start"
        try:
            urllib.request.urlopen(f"{url}/_ministack/health", timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the emulator did not answer within 30 s")
