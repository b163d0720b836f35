"""Sending rows by tens, each batch in the journal before it leaves and after SQS has answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from surehand.queues import Queues
from surehand_cli.account.waiting import Waiting
from surehand_cli.dlq.journal import Entry, Journal
from surehand_cli.dlq.pace import Bucket
from surehand_cli.send.rows import Row

_CALL = 10


@dataclass(slots=True)
class Sent:
    """Which lines have been sent, and which SQS refused and why."""

    lines: set[int] = field(default_factory=set)
    refused: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Sent:
        """Return what a journal says. Lines that were about to be sent count as not sent: the ledger absorbs a copy."""
        sent = cls()
        for entry in entries:
            if entry["kind"] == "sent":
                sent.lines.update(entry["lines"])
                for line in entry["lines"]:
                    sent.refused.pop(line, None)
            elif entry["kind"] == "refused":
                sent.refused |= {int(line): code for line, code in entry["lines"].items()}
        return sent


def send(
    rows: Iterable[Row],
    *,
    handler: str,
    fifo: bool,
    queues: Queues,
    journal: Journal,
    sent: Sent,
    rate: float,
    waiting: Waiting,
    report: Callable[[int], None],
) -> str | None:
    """Send the rows that are not sent yet; return why it ended early, or None.

    On FIFO a refusal ends it: what is behind must not overtake what was refused.
    """
    bucket = Bucket.full(rate, burst=_CALL, now=waiting.now())
    for batch in _batches((row for row in rows if row.number not in sent.lines), fifo=fifo):
        while (pause := bucket.wait_for(len(batch), waiting.now())) > timedelta(0) and not waiting.stopped:
            waiting.wait(pause)
        if waiting.stopped:
            return "interrupted"
        bucket.take(len(batch), waiting.now())
        journal.write("sending", waiting.now(), lines=[row.number for row in batch])
        refused = {batch[one.index].number: one.code for one in queues.send(handler, [row.message for row in batch])}
        accepted = [row.number for row in batch if row.number not in refused]
        if accepted:
            journal.write("sent", waiting.now(), lines=accepted)
        if refused:
            journal.write("refused", waiting.now(), lines={str(line): code for line, code in refused.items()})
        sent.lines.update(accepted)
        sent.refused = {line: code for line, code in sent.refused.items() if line not in sent.lines} | refused
        report(len(sent.lines))
        if refused and fifo:
            return "SQS refused a line, and on a FIFO queue nothing may overtake it"
    return None


def _batches(rows: Iterable[Row], *, fifo: bool) -> Iterator[Sequence[Row]]:
    """Cut into tens; on FIFO a batch holds one row of a group, so that none overtakes one that is refused."""
    batch: list[Row] = []
    groups: set[str | None] = set()
    for row in rows:
        if len(batch) == _CALL or (fifo and row.message.group in groups):
            yield batch
            batch, groups = [], set()
        batch.append(row)
        groups.add(row.message.group)
    if batch:
        yield batch
