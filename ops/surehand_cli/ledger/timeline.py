"""An operation's history as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from surehand.codes import CODES, failure_class
from surehand.ledger import Operation
from surehand.states import State


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the timeline. *since* is the time from the line before."""

    at: datetime
    since: timedelta | None
    state: str
    attempt: int
    code: str | None
    message_id: str | None
    note: str | None


def timeline(operation: Operation) -> Iterator[Line]:
    """Yield the history in order. Long histories keep the first entry and the latest; the gap is not marked in them."""
    before: datetime | None = None
    for entry in operation.history:
        yield Line(
            at=entry.at,
            since=entry.at - before if before is not None else None,
            state=entry.state.value,
            attempt=entry.attempt,
            code=entry.code,
            message_id=entry.message_id,
            note=entry.note,
        )
        before = entry.at


def record(operation: Operation) -> dict[str, Any]:
    """Return an operation as JSON has it: the stable shape of `--json`."""
    return {
        "operation": operation.id,
        "handler": operation.handler,
        "tenant": operation.tenant,
        "state": operation.state.value,
        "attempts": operation.attempts,
        "code": operation.code,
        "class": failure_class(operation.code) if operation.code else None,
        "fence": operation.fence,
        "owner": operation.owner,
        "lease_until": operation.lease_until,
        "not_before": operation.not_before,
        "claimed_at": operation.claimed_at,
        "started_at": operation.started_at,
        "expires_at": operation.expires_at,
        "marks": operation.marks,
        "cancel_requested": operation.cancel_requested,
        "version": operation.version,
        "result": operation.result,
        "message_ids": operation.message_ids,
        "failed_ids": operation.failed_ids,
        "history": [
            {
                "at": line.at,
                "state": line.state,
                "attempt": line.attempt,
                "code": line.code,
                "message_id": line.message_id,
                "note": line.note,
            }
            for line in timeline(operation)
        ],
    }


def standing(operation: Operation, now: datetime) -> str:
    """Say in one sentence how the operation stands and what may come next."""
    if operation.expired_at(now):
        return "Forgotten: its record has expired, so it counts as unknown."
    if operation.is_slot:
        return f"No piece of work: it names the operation {operation.owner}."
    if operation.leased_at(now):
        canceling = " A cancel is requested and takes effect when it ends." if operation.cancel_requested else ""
        return f"Running, or about to: leased until {_clock(operation.lease_until)}.{canceling}"
    told: Mapping[State, str] = {
        State.PENDING: "Waiting for its message to come again.",
        State.LEASED: "Its holder's lease has ended without an outcome; the next delivery takes it over.",
        State.PROCESSING: "Its process died while the handler ran; the next delivery takes it over.",
        State.SUCCEEDED: "Done. Further messages of it are only acknowledged.",
        State.RETRYABLE_FAILED: f"Failed, and to be tried again at {_clock(operation.not_before)}.",
        State.PERMANENTLY_FAILED: "Failed for good; its message goes to the dead-letter queue.",
        State.DEAD_LETTERED: "Its message is in the dead-letter queue.",
        State.CANCELED: "Canceled. Further messages of it are only acknowledged.",
        State.COMPENSATED: "Done, and undone.",
    }
    text = told[operation.state]
    if held(operation):
        text = "Held: nobody knows whether its effect happened. `surehand ledger resolve` ends it."
    meaning = CODES.get(operation.code or "")
    return f"{text} {operation.code}: {meaning}" if meaning and operation.needs_attention else text


def held(operation: Operation) -> bool:
    """Tell whether the operation waits for an operator to say what became of its effect."""
    return operation.needs_attention and operation.code == "effect.unknown"


def _clock(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%SZ") if moment is not None else "once"
