"""How the inventory writes what AWS takes, and what is the same for every function of ours."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

#: What the function's `Runtime` and `Architectures` are in our own constructs.
RUNTIME, ARCHITECTURE = "python3.13", "arm64"


def function(
    name: str, handler: str, *, timeout: timedelta, memory: int, environment: dict[str, str]
) -> dict[str, Any]:
    """Return a function's settings. *handler* is where it stands in Python; *memory* is in MB."""
    return {
        "name": name,
        "handler": handler,
        "runtime": RUNTIME,
        "architecture": ARCHITECTURE,
        "timeout_seconds": seconds(timeout),
        "memory_mb": memory,
        "log_group": f"/aws/lambda/{name}",
        "tracing": "Active",
        "environment": environment,
    }


def queue_url(name: str) -> str:
    """Return the URL of a queue, as far as it is known before a deployment."""
    return f"https://sqs.{{region}}.amazonaws.com/{{account}}/{name}"


def seconds(length: timedelta) -> int:
    """Return whole seconds."""
    return int(length.total_seconds())
