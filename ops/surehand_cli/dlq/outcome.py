"""What became of a letter that was moved: arithmetic on the ledger's records after the move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from surehand.declare import rejection_id
from surehand.ledger import Operation
from surehand.states import State
from surehand_cli.dlq.known import Verdict
from surehand_cli.dlq.progress import Became, Mail

#: Two machines' clocks differ by less than this.
_CLOCKS = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it, and the record that says so."""

    became: Became
    record: Operation | None = None


def records_of(mail: Mail) -> list[str]:
    """Return the ids of the ledger's records that may speak about a moved letter."""
    ids = [mail.planned.operation] if mail.planned.operation is not None else []
    if mail.planned.handler is not None and mail.new_id is not None:
        ids.append(rejection_id(mail.planned.handler, mail.new_id))
    return ids


def outcome(mail: Mail, records: Mapping[str, Operation]) -> Outcome | None:
    """Return what became of a letter, or None while nothing is known.

    SQS has given the copy a new id, and its own rejection (no operation, or a key conflict) is recorded under that.
    """
    planned = mail.planned
    if planned.aside or planned.handler is None or planned.operation is None:
        return Outcome(Became.MOVED)
    if mail.new_id is not None:
        rejection = records.get(rejection_id(planned.handler, mail.new_id))
        if rejection is not None and rejection.needs_attention:
            return Outcome(Became.FAILED, rejection)
    operation = records.get(planned.operation)
    if operation is None or planned.verdict == Verdict.CONFLICT:
        return None
    if operation.state in (State.SUCCEEDED, State.COMPENSATED):
        known_before = planned.verdict == Verdict.APPLIED or mail.begun_at is None
        return Outcome(Became.ALREADY_APPLIED if known_before else Became.SUCCEEDED, operation)
    if operation.state is State.CANCELED:
        return Outcome(Became.CANCELED, operation)
    if not _tried(mail, operation):
        return None
    if operation.needs_attention:
        return Outcome(Became.FAILED, operation)
    if operation.state is State.RETRYABLE_FAILED:
        return Outcome(Became.RETRYING, operation)
    return None


def _tried(mail: Mail, operation: Operation) -> bool:
    """Tell whether the operation was claimed by the copy. A move task does not say what id that has."""
    if mail.new_id is not None:
        return mail.new_id in operation.message_ids
    if mail.begun_at is None:
        return False
    return operation.claimed_at >= datetime.fromisoformat(mail.begun_at) - _CLOCKS
