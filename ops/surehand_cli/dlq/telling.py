"""Telling the ledger what was seen in a dead-letter queue (rule P2).

When a process dies on a message's last receive, no code of ours runs: the ledger would believe for ever that somebody
holds the operation. Only the dead-letter queue's content tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from surehand.declare import rejection_id
from surehand.ledger import Ledger, Unavailable, Write, Written, write_surely
from surehand.ledger.operating import Act, dead_lettered
from surehand_cli.dlq.known import Known, Verdict


@dataclass(slots=True)
class Told:
    """How many records were written, and why telling ended early, if it did."""

    written: int = 0
    refused: str | None = None


def tell(ledger: Ledger, known: Sequence[Known], act: Act, told: Told) -> None:
    """Write `dead_lettered` for letters that are in flight with us, so that nobody moves them meanwhile.

    An operation that is final, or that runs under another message now, stays as it is. Once the ledger refuses a
    write for want of permission, nothing more is tried.
    """
    if told.refused is not None:
        return
    writes: dict[str, Write] = {}
    for one in known:
        if one.identified is None:
            continue
        conflict = one.verdict is Verdict.CONFLICT
        operation = (
            rejection_id(one.identified.handler, one.letter.message_id) if conflict else one.identified.operation
        )
        decided = dead_lettered(
            one.operation,
            act,
            operation_id=operation,
            handler=one.identified.handler,
            tenant=None if conflict else one.identified.tenant,
            message_ids=[one.letter.message_id],
        )
        if isinstance(decided, Write):
            writes.setdefault(operation, decided)
    if not writes:
        return
    for answer in write_surely(ledger, list(writes.values()), now=act.now):
        if isinstance(answer, Written):
            told.written += 1
        elif isinstance(answer, Unavailable):
            told.refused = answer.reason
            return
