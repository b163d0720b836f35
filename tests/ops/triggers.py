"""A service with one handler of each trigger."""

from __future__ import annotations

from typing import Any

from surehand import Service, webhook
from tests.infra.timed_service import nightly
from tests.ops.depot import ship


@webhook("hooks", scheme="github")
def hooks(event: dict[str, Any]) -> None:
    """Take what GitHub sends."""


ALL = Service("all", (ship, nightly, hooks))
LONG = Service("a-service-of-many-words", (ship,))
