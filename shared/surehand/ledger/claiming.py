"""Claim and settle against a ledger: the few round trips around the rules of `surehand.ledger.claims`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from surehand.errors import LedgerUnavailable
from surehand.ledger.claims import Claimed, Lease, NotClaimed, Proposal, Standing, Wanted, decide
from surehand.ledger.operation import Answer, Ledger, NotWritten, Operation, Unavailable, Write, Written, is_own

#: How often a claim that met another writer is decided anew. Each round meets a newer item, and the next answer is
#: nearly always "in progress"; a claim that is still refused then is put back like an unavailable one.
ROUNDS = 4
#: How often a write whose fate is unknown is repeated before it counts as unconfirmed. A write that had arrived is
#: recognised by its owner and fence.
TRIES = 3


def claim(ledger: Ledger, wanted: Sequence[Wanted], *, lease: Lease, now: datetime) -> list[Claimed | NotClaimed]:
    """Claim each wanted operation, and answer in order. Ids must differ.

    Messages that were received before are read first (one consistent read), since most of their answers need no write.
    A refusal may come from our own first write, whose reply was lost: the item then carries our owner and is ours.
    """
    answers: dict[int, Claimed | NotClaimed] = {}
    known: dict[str, Operation] = {}
    pending = dict(enumerate(wanted))
    refused: dict[int, Proposal] = {}
    unread = [one.id for one in wanted if one.seen_before]
    for _ in range(ROUNDS):
        try:
            _look(ledger, known, unread)
        except LedgerUnavailable as error:
            return _filled(answers, len(wanted), str(error))
        proposals: dict[int, Proposal] = {}
        for index, one in pending.items():
            existing = known.get(one.id)
            if index in refused and existing is not None and is_own(refused[index].write, existing):
                answers[index] = refused[index].then
                continue
            decided = decide(existing, one, lease=lease, now=now)
            if isinstance(decided, Proposal):
                proposals[index] = decided
            else:
                answers[index] = decided
        written = ledger.write([proposal.write for proposal in proposals.values()], now=now) if proposals else []
        unread, pending, refused = [], {}, {}
        for (index, proposal), answer in zip(proposals.items(), written, strict=True):
            if isinstance(answer, NotWritten):
                pending[index], refused[index] = wanted[index], proposal
                if answer.existing is None:
                    unread.append(wanted[index].id)
                else:
                    known[answer.existing.id] = answer.existing
            else:
                answers[index] = proposal.then if isinstance(answer, Written) else _unavailable(answer.reason)
        if not pending:
            break
    return _filled(answers, len(wanted), "contended")


def _look(ledger: Ledger, known: dict[str, Operation], ids: Sequence[str]) -> None:
    """Bring *known* up to date about these ids, also about items that are gone by now (DynamoDB's own expiry)."""
    if not ids:
        return
    for operation_id in ids:
        known.pop(operation_id, None)
    known.update(ledger.read(ids))


def write_surely(
    ledger: Ledger, writes: Sequence[Write], *, now: datetime, in_time: Callable[[], bool] = lambda: True
) -> list[Answer]:
    """Make writes that must not be lost for a passing fault: what is unavailable is tried again, at most thrice.

    A repetition of a write that had arrived answers `Written`. No waiting in between: the client has waited already,
    and the batch's time is short. *in_time* says whether there is any left for a repetition.
    """
    answers = list(ledger.write(writes, now=now))
    for _ in range(TRIES - 1):
        open_ = [index for index, answer in enumerate(answers) if isinstance(answer, Unavailable)]
        if not open_ or not in_time():
            break
        for index, answer in zip(open_, ledger.write([writes[i] for i in open_], now=now), strict=True):
            answers[index] = answer
    for index, answer in enumerate(answers):
        if isinstance(answer, NotWritten) and answer.existing is None:
            answers[index] = _seen(ledger, writes[index])
    return answers


def _seen(ledger: Ledger, write: Write) -> Answer:
    """Read what stands in the way of a refused write whose answer did not show it."""
    try:
        existing = ledger.read([write.operation.id]).get(write.operation.id)
    except LedgerUnavailable as error:
        return Unavailable(str(error))
    if existing is not None and is_own(write, existing):
        return Written()
    return NotWritten(existing)


def _unavailable(reason: str) -> NotClaimed:
    return NotClaimed(standing=Standing.UNAVAILABLE, reason=reason)


def _filled(answers: dict[int, Claimed | NotClaimed], count: int, reason: str) -> list[Claimed | NotClaimed]:
    return [answers.get(index) or _unavailable(reason) for index in range(count)]
