"""Taking a snapshot: look at every letter once, write it down, tell the ledger, and release the letters again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from surehand.ledger import Ledger
from surehand.ledger.operating import Act
from surehand_cli.account.waiting import Waiting
from surehand_cli.dlq.identify import identify
from surehand_cli.dlq.known import join
from surehand_cli.dlq.queue import DeadLetterQueue
from surehand_cli.dlq.scan import MOST_IN_FLIGHT, Received, Scan, release
from surehand_cli.dlq.snapshot import FORMAT, Writer, writing
from surehand_cli.dlq.telling import Told, tell


@dataclass(slots=True)
class Taken:
    """What a snapshot has come to. *complete*: as far as SQS's counts tell, everything is in it."""

    path: Path
    count: int = 0
    complete: bool = True
    told: Told = field(default_factory=Told)
    behind: int = 0


def take(
    client: Any,
    dead: DeadLetterQueue,
    path: Path,
    *,
    waiting: Waiting,
    bodies: bool = True,
    most: int = MOST_IN_FLIGHT,
    telling: tuple[Ledger, Act] | None = None,
    report: Callable[[int, int], None] = lambda *_: None,
) -> Taken:
    """Write a snapshot of a dead-letter queue to *path*.

    *telling* is the ledger to tell what was seen (rule P2) and who does so.

    Raises:
        Problem: The file exists or cannot be written.
        LedgerUnavailable, ClientError, BotoCoreError: The ledger or SQS could not be reached.
    """
    taken = Taken(path)
    queue = dead.queue
    with writing(path, bodies=bodies) as writer, tempfile.TemporaryFile("w+", encoding="utf-8") as handles:
        at = waiting.now()
        writer.header(
            {
                "queue": queue.arn,
                "url": queue.url,
                "at": at.isoformat(timespec="milliseconds"),
                "depth": queue.depth,
                "handler": dead.handler.name if dead.handler is not None else None,
                "sources": [source.arn for source in dead.sources],
                "bodies": bodies,
            }
        )
        scan = Scan(client, queue.url, depth=queue.depth, waiting=waiting)
        try:
            for batch, new in scan.batches():
                _remember(handles, batch)
                _write(writer, dead, new, telling=telling, told=taken.told, now=at)
                taken.count += len(new)
                report(taken.count, queue.depth)
                if taken.count >= most:
                    break
        finally:
            release(client, queue.url, _remembered(handles, waiting.now()))
        taken.behind = max(0, queue.depth - taken.count)
        taken.complete = taken.behind == 0 and not waiting.stopped
        writer.end({"count": taken.count, "complete": taken.complete, "format": FORMAT})
    return taken


def _write(
    writer: Writer,
    dead: DeadLetterQueue,
    new: list[Received] | Any,
    *,
    telling: tuple[Ledger, Act] | None,
    told: Told,
    now: datetime,
) -> None:
    letters = [one.letter for one in new]
    identified = [(letter, identify(letter, dead.handler) if dead.handler is not None else None) for letter in letters]
    for letter, who in identified:
        writer.letter(letter, who)
    if telling is not None and told.refused is None and identified:
        ledger, act = telling
        tell(ledger, join(identified, ledger, now=now), act, told)


def _remember(handles: TextIO, batch: list[Received] | Any) -> None:
    """Handles are long, and a large queue has many: they wait on disk."""
    handles.writelines(json.dumps([one.handle, one.until.timestamp()]) + "\n" for one in batch)


def _remembered(handles: TextIO, now: datetime) -> Iterator[str]:
    handles.seek(0)
    for line in handles:
        handle, until = json.loads(line)
        if until > now.timestamp():
            yield handle
