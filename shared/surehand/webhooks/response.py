"""What a sender is answered. Never a text of the request, but where a handshake's specification asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any

_FIXED = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Status, body and headers (lower-case names). Every response says `nosniff` and `no-store`."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def to_event(self) -> dict[str, Any]:
        """Return the response as Lambda answers HTTP APIs, function URLs and REST APIs alike."""
        return {
            "statusCode": self.status,
            "headers": {**_FIXED, **self.headers},
            "body": self.body,
            "isBase64Encoded": False,
        }


def text(status: int, body: str, content_type: str = "text/plain; charset=utf-8") -> HttpResponse:
    """Return a response with a body."""
    return HttpResponse(status, body, MappingProxyType({"content-type": content_type}))


def come_again(status: int, after: timedelta) -> HttpResponse:
    """Return the answer to our own failure: *status*, and `Retry-After` in whole seconds, at least one."""
    return HttpResponse(status, "", MappingProxyType({"retry-after": str(max(1, round(after.total_seconds())))}))
