"""The local AWS: MiniStack, from an environment of its own, on 127.0.0.1."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from surehand_cli.local.last_words import last_words
from surehand_cli.local.leashed import Leashed
from surehand_cli.problem import Problem

HOST = "127.0.0.1"
REGION = "eu-west-1"
#: What the emulator answers for any access key that is no account number.
ACCOUNT = "000000000000"
#: Any pair is accepted.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
START_SECONDS = 60.0


@contextmanager
def emulator(executable: Path, *, port: int, log: Path) -> Iterator[str]:
    """Run the emulator until the block ends and yield its endpoint; then nothing of it is left but its log.

    *port* 0 is any free one.

    Raises:
        Problem: It is not installed, the port is taken, or it does not answer.
    """
    if not executable.is_file():
        raise Problem(f"the emulator is not installed ({executable} is missing); docs/starting.md says how")
    port = port or _free_port()
    _refuse_taken(port)
    folder = Path(tempfile.mkdtemp(prefix="surehand-local-"))
    try:
        environment = _environment(folder, port)
        with Leashed([str(executable)], cwd=folder, env=environment, log=log, folder=folder) as process:
            _await(process, port)
            yield f"http://{HOST}:{port}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _environment(folder: Path, port: int) -> Mapping[str, str]:
    """Nothing of the caller's own: what the emulator inherits, it hands on to the functions."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "BIND_HOST": HOST,
        "GATEWAY_PORT": str(port),
        "MINISTACK_REGION": REGION,
        "LAMBDA_EXECUTOR": "local",
        # Docker must not be used even where it is installed.
        "DOCKER_HOST": f"unix://{folder}/no-docker.sock",
        # These two listen on every interface whatever BIND_HOST says.
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _refuse_taken(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise Problem(
                f"port {port} of {HOST} cannot be used ({reason}); without --port a free one is found"
            ) from error


def _await(process: Leashed, port: int) -> None:
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit:
        if process.exit_status is not None:
            raise Problem(f"the emulator ended at once: {last_words(process.log)} (all of it: {process.log})")
        if _ready(port):
            return
        time.sleep(0.05)
    raise Problem(f"the emulator did not answer within {START_SECONDS:.0f} s; its output is in {process.log}")


def _ready(port: int) -> bool:
    connection = HTTPConnection(HOST, port, timeout=2)
    try:
        connection.request("GET", "/_ministack/ready")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
