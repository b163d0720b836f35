"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from bench.figures import Figure


def machine() -> Figure:
    """Return processor, cores, load and versions."""
    return Figure(
        name="machine",
        values={
            "processor": _processor(),
            "cores": os.cpu_count() or 1,
            "load": round(os.getloadavg()[0], 2),
            "python": platform.python_version(),
            "boto3": version("boto3"),
            "pydantic": version("pydantic"),
            "powertools": version("aws_lambda_powertools"),
        },
    )


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
