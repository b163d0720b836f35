"""A captured request: a Lambda event as JSON, or the plain text of an HTTP request."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from surehand.webhooks.rejection import Rejected
from surehand.webhooks.request import HttpRequest
from surehand_cli.problem import Problem


@dataclass(frozen=True, slots=True)
class Captured:
    """A request, and when it arrived if it says so."""

    request: HttpRequest
    at: datetime | None


def captured(file: Path) -> Captured:
    """Read a captured request.

    Raises:
        Problem: It is neither of the two forms.
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise Problem(f"{file} cannot be read: {type(error).__name__}") from None
    if raw.lstrip().startswith(b"{"):
        return _event(file, raw)
    head, separator, body = raw.partition(b"\r\n\r\n" if b"\r\n\r\n" in raw else b"\n\n")
    lines = head.decode("latin-1").splitlines()
    words = lines[0].split() if lines else []
    if not separator or len(words) < 2 or not words[1].startswith("/"):
        raise Problem(
            f"{file} is neither a Lambda event (JSON) nor an HTTP request: 'POST /hooks/NAME HTTP/1.1', headers, "
            "an empty line, the body byte for byte"
        )
    path, _, query = words[1].partition("?")
    fields = [line.partition(":") for line in lines[1:]]
    headers: dict[str, str] = {}
    for name, _, value in fields:
        lower = name.strip().lower()
        headers[lower] = f"{headers[lower]},{value.strip()}" if lower in headers else value.strip()
    return Captured(
        HttpRequest(method=words[0].upper(), path=path, raw_query=query, headers=headers, body=body), at=None
    )


def _event(file: Path, raw: bytes) -> Captured:
    try:
        event: Any = json.loads(raw)
        request = HttpRequest.from_event(event)
    except ValueError:
        raise Problem(f"{file} begins like JSON and is none") from None
    except Rejected as rejected:
        raise Problem(f"{file} is no event of an HTTP API, function URL or REST API: {rejected.detail}") from None
    context = event.get("requestContext", {})
    moment = context.get("timeEpoch", context.get("requestTimeEpoch"))
    return Captured(request, datetime.fromtimestamp(moment / 1000, UTC) if isinstance(moment, int) else None)
