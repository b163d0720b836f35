"""Clients: built once per execution environment, with timeouts that leave room for an answer.

Made with botocore rather than boto3: `import boto3` pulls s3transfer and the resource layer, which nothing here uses.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import botocore
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.loaders import Loader
from botocore.session import get_session

#: What a call of ours may raise.
AWS_ERRORS = (BotoCoreError, ClientError)

#: A ledger call answers in single-digit milliseconds; one that takes longer than this is an outage, and waiting for it
#: would spend the batch's time. Two attempts: a lost reply is worth one repetition, and `owner` recognises it.
LEDGER = Config(
    # botocore composes its own anew for each request, twice: one part in twenty of a call.
    user_agent=f"surehand botocore/{botocore.__version__}",
    connect_timeout=1.0,
    read_timeout=1.5,
    retries={"total_max_attempts": 2, "mode": "standard"},
    max_pool_connections=32,
    tcp_keepalive=True,
)
QUEUES = Config(
    connect_timeout=1.0,
    read_timeout=3.0,
    retries={"total_max_attempts": 3, "mode": "standard"},
    max_pool_connections=16,
    tcp_keepalive=True,
)


class _Models(Loader):
    """botocore's loader without its tour through 400 services, which tells it only that ours exist."""

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002 - botocore's signature
        """Return the services that this package uses."""
        return ["dynamodb", "s3", "secretsmanager", "sqs"]


@lru_cache(maxsize=1)
def _models() -> _Models:
    """Parsed models and endpoints are shared by all clients of the process."""
    return _Models()


def client(service: str, config: Config) -> Any:
    """Return a low-level client; region, endpoint and credentials come from the environment as usual."""
    session = get_session()
    session.register_component("data_loader", _models())
    return session.create_client(service, config=config)


class Later:
    """A client that is built with its first call, from whatever thread: a happy path may never need it."""

    def __init__(self, build: Callable[[], Any]) -> None:
        self._build = build
        self._built: Any = None
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        """Return the client's own attribute."""
        with self._lock:
            if self._built is None:
                self._built = self._build()
        return getattr(self._built, name)


def reason(error: Exception) -> str:
    """Return AWS's error code, or the client's exception type: nothing that could hold a payload value."""
    if isinstance(error, ClientError):
        code = error.response.get("Error", {}).get("Code")
        return str(code) if code else "ClientError"
    return type(error).__name__
