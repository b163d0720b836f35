"""A letter as one line: for tables and for `--json`. No body, no attribute values."""

from __future__ import annotations

from typing import Any

from surehand_cli.dlq.foreign import Foreign, foreign
from surehand_cli.dlq.known import Known


def record(known: Known, *, served: bool) -> dict[str, Any]:
    """Return a letter as `--json` has it: the stable shape."""
    operation = known.operation
    who = foreign(known.letter, served=served)
    return {
        "id": known.letter.message_id,
        "operation": known.operation_id,
        "tenant": known.tenant,
        "state": known.state,
        "attempts": operation.attempts if operation is not None else None,
        "code": known.code,
        "class": known.failure_class,
        "verdict": told(known, who),
        "sent_at": known.letter.sent_at,
        "dead_at": known.dead_at,
        "version": operation.version if operation is not None else None,
        "group": known.letter.group,
        "receive_count": known.letter.receive_count,
        "sha256": known.letter.sha256,
        "problem": known.identified.detail if known.identified is not None else None,
        "foreign": who.explanation if who is not None else None,
    }


def told(known: Known, who: Foreign | None) -> str:
    """Return what a redrive would come to, in a few words."""
    if who is not None:
        return f"refused: {who.refusal}" if who.refusal else f"to {who.target}"
    return known.verdict.value


COLUMNS = ("message", "operation", "tenant", "state", "attempts", "code", "class", "sent", "a redrive")


def row(known: Known, *, served: bool) -> tuple[object, ...]:
    """Return a letter as a table's row."""
    said = record(known, served=served)
    return tuple(
        said[name] for name in ("id", "operation", "tenant", "state", "attempts", "code", "class", "sent_at", "verdict")
    )
