"""What the ledger knows about a dead letter, and what a redrive would therefore come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from surehand.codes import failure_class
from surehand.declare import rejection_id
from surehand.ledger import Ledger, Operation
from surehand.states import State
from surehand_cli.dlq.identify import Identified
from surehand_cli.dlq.letter import Letter


class Verdict(StrEnum):
    """What a redrive of a letter would come to."""

    #: A real attempt with fresh attempts.
    RUNS = "runs again"
    #: The operation has succeeded: the message is only acknowledged.
    APPLIED = "no-op: already succeeded"
    #: The operation is canceled: the message is only acknowledged.
    CANCELED = "no-op: canceled"
    #: Another message of it is being processed or waits for its next attempt.
    IN_PROGRESS = "in progress"
    #: Nobody knows whether its effect happened; `surehand ledger resolve` first.
    HELD = "held: resolve first"
    #: The present declarations reject it too.
    INVALID = "rejected again"
    #: Its key belongs to another payload.
    CONFLICT = "key conflict again"
    #: It is of no declared handler, so the ledger cannot say.
    UNKNOWN = "unknown"


#: Verdicts of letters that a redrive only clears away.
NO_OPS = frozenset({Verdict.APPLIED, Verdict.CANCELED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A letter, what it is about and how the ledger has it. *operation* is the record that speaks about this letter."""

    letter: Letter
    identified: Identified | None
    operation: Operation | None
    verdict: Verdict

    @property
    def code(self) -> str | None:
        """The failure code: the ledger's, else what the present declarations give."""
        if self.operation is not None and self.operation.code is not None:
            return self.operation.code
        return self.identified.problem if self.identified is not None else None

    @property
    def failure_class(self) -> str | None:
        """The alarm class of the code."""
        return failure_class(self.code) if self.code is not None else None

    @property
    def tenant(self) -> str | None:
        """The tenant, where the payload names one."""
        return self.identified.tenant if self.identified is not None else None

    @property
    def operation_id(self) -> str | None:
        """The operation's id."""
        return self.identified.operation if self.identified is not None else None

    @property
    def state(self) -> str | None:
        """The ledger's state; None if it does not know the operation."""
        return self.operation.state.value if self.operation is not None else None

    @property
    def dead_at(self) -> datetime | None:
        """When the operation failed for good, as far as the ledger knows."""
        return dead_at(self.operation) if self.operation is not None else None


def dead_at(operation: Operation) -> datetime | None:
    """Return when the operation last became permanently failed or, without that, was seen as a dead letter."""
    told = None
    for entry in reversed(operation.history):
        if entry.state is State.PERMANENTLY_FAILED:
            return entry.at
        if entry.state is State.DEAD_LETTERED and told is None:
            told = entry.at
    return told


def join(letters: Sequence[tuple[Letter, Identified | None]], ledger: Ledger | None, *, now: datetime) -> list[Known]:
    """Ask the ledger about some letters, in one or two reads.

    Raises:
        LedgerUnavailable: It could not be read.
    """
    ids = list(dict.fromkeys(who.operation for _, who in letters if who is not None))
    found = dict(ledger.read(ids)) if ledger is not None and ids else {}
    conflicts = {
        letter.message_id: rejection_id(who.handler, letter.message_id)
        for letter, who in letters
        if who is not None and _conflicts(found.get(who.operation), who)
    }
    records = ledger.read(list(conflicts.values())) if ledger is not None and conflicts else {}
    joined = []
    for letter, who in letters:
        operation = found.get(who.operation) if who is not None else None
        if letter.message_id in conflicts:
            record = records.get(conflicts[letter.message_id])
            joined.append(Known(letter=letter, identified=who, operation=record, verdict=Verdict.CONFLICT))
        else:
            verdict = _verdict(operation, who, now)
            joined.append(Known(letter=letter, identified=who, operation=operation, verdict=verdict))
    return joined


def _conflicts(operation: Operation | None, who: Identified) -> bool:
    return (
        operation is not None
        and bool(operation.fingerprints)
        and bool(who.fingerprints)
        and not set(operation.fingerprints) & set(who.fingerprints)
    )


def _verdict(operation: Operation | None, who: Identified | None, now: datetime) -> Verdict:
    if who is None:
        return Verdict.UNKNOWN
    if who.problem is not None:
        return Verdict.INVALID
    if operation is None or operation.expired_at(now):
        return Verdict.RUNS
    if operation.state in (State.SUCCEEDED, State.COMPENSATED):
        return Verdict.APPLIED
    if operation.state is State.CANCELED:
        return Verdict.CANCELED
    if operation.needs_attention:
        return Verdict.HELD if operation.code == "effect.unknown" else Verdict.RUNS
    return Verdict.IN_PROGRESS if operation.leased_at(now) else Verdict.RUNS
