"""A body without its values: what people may look over each other's shoulder at."""

from __future__ import annotations

import json


def outline(body: str) -> str:
    """Return the JSON of a body with every value replaced by what kind of value it is; names stay."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return f"<{len(body.encode('utf-8', 'surrogatepass'))} bytes that are not JSON>"
    return json.dumps(_outlined(value), indent=1, ensure_ascii=False)


def _outlined(value: object) -> object:
    if isinstance(value, dict):
        return {name: _outlined(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_outlined(inner) for inner in value[:3]] + ([f"<{len(value) - 3} more>"] if len(value) > 3 else [])
    if isinstance(value, str):
        return f"<text, {len(value)} characters>"
    if isinstance(value, bool) or value is None:
        return value
    return "<number>"
