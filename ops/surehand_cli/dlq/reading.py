"""From what the command line says, a queue or a file, to letters with what the ledger knows of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from surehand.ledger import Ledger
from surehand.ledger.operating import Act
from surehand_cli.account.place import Place
from surehand_cli.account.waiting import finishing
from surehand_cli.dlq.known import Known, join
from surehand_cli.dlq.queue import DeadLetterQueue, dead_letter_queue
from surehand_cli.dlq.snapshot import Snapshot, opened
from surehand_cli.dlq.taking import Taken, take
from surehand_cli.problem import Problem
from surehand_cli.terminal.counting import counted
from surehand_cli.terminal.moments import length
from surehand_cli.terminal.output import Output
from surehand_cli.terminal.progress import counting

#: A snapshot is used again by the reading verbs while it is younger than this: every look raises receive counts, and
#: after three a standard queue leaves the message out of its age metric.
FRESH = timedelta(minutes=15)
#: Letters that are joined with the ledger at once: one BatchGetItem.
_AT_ONCE = 100

QueueName = Annotated[
    str, typer.Argument(metavar="QUEUE", help="A handler's name, or a dead-letter queue's name or URL.")
]
Source = Annotated[
    str,
    typer.Argument(metavar="QUEUE|SNAPSHOT", help="A handler's name, a queue's name or URL, or a snapshot's file."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Take a new snapshot even if there is one of the last minutes.")]


@dataclass(frozen=True, slots=True)
class Letters:
    """A snapshot, read with the ledger's present knowledge."""

    place: Place
    snapshot: Snapshot

    def known(self) -> Iterator[Known]:
        """Yield every letter in the snapshot's order, a hundred at a time in memory.

        Raises:
            LedgerUnavailable: The ledger could not be read.
        """
        now = self.place.waiting.now()
        letters = self.snapshot.letters()
        while part := list(itertools.islice(letters, _AT_ONCE)):
            ledger: Ledger | None = self.place.ledger if any(who is not None for _, who in part) else None
            yield from join(part, ledger, now=now)

    @property
    def served(self) -> bool:
        """Whether the queue is the dead-letter queue of a queue of SQS."""
        return bool(self.snapshot.header.get("sources"))


def letters_of(place: Place, output: Output, source: str, *, fresh: bool = False) -> Letters:
    """Open the snapshot that *source* names, or the latest one of that queue, or take one (telling nobody).

    Raises:
        Problem: There is neither such a file nor such a queue.
    """
    path = Path(source)
    if path.is_file():
        return Letters(place, opened(path))
    if path.suffix == ".jsonl" or (
        "/" in source.removeprefix("https://").removeprefix("http://") and not source.startswith("http")
    ):
        raise Problem(f"there is no file {source}")
    dead = dead_letter_queue(place, source)
    latest = None if fresh else _latest(place, dead.queue.name)
    if latest is not None:
        age = place.waiting.now() - latest.taken_at
        output.say(f"Reading the snapshot of {length(age)} ago ({latest.path}); --fresh takes a new one.", "dim")
        return Letters(place, latest)
    taken = snapshot_of(place, output, dead, tell=False)
    return Letters(place, opened(taken.path))


def snapshot_of(
    place: Place,
    output: Output,
    dead: DeadLetterQueue,
    *,
    tell: bool,
    path: Path | None = None,
    bodies: bool = True,
    most: int | None = None,
) -> Taken:
    """Take a snapshot and say what it has come to.

    Raises:
        Problem: The file exists or cannot be written.
    """
    now = place.waiting.now()
    if path is None:
        path = place.folder / "snapshots" / f"{dead.queue.name}-{now.strftime('%Y%m%dT%H%M%S%fZ')}.jsonl"
    telling = None
    if tell and dead.handler is not None:
        act = Act(actor=place.account.actor, reason=f"seen in {dead.queue.name}", now=now, retention=place.retention)
        telling = (place.ledger, act)
    with finishing(place.waiting), counting(output, "letters", dead.queue.depth) as shown:
        taken = take(
            place.account.client("sqs"),
            dead,
            path,
            waiting=place.waiting,
            bodies=bodies,
            telling=telling,
            report=lambda count, _: shown(count),
            **({"most": most} if most is not None else {}),
        )
    _say(output, dead, taken)
    return taken


def _say(output: Output, dead: DeadLetterQueue, taken: Taken) -> None:
    output.say(f"{counted(taken.count, 'letter')} of {dead.queue.name} → {taken.path}")
    if taken.told.written:
        output.say(f"The ledger was told of {taken.told.written} dead letters that it did not know as such.")
    if taken.told.refused is not None:
        output.say(f"The ledger was not told what was seen ({taken.told.refused}); reading goes on.", "yellow")
    if taken.behind and dead.queue.fifo:
        output.say(
            f"About {taken.behind} more stand behind these in their groups: SQS shows ten of a group at a time, until "
            "those are gone.",
            "yellow",
        )
    elif taken.behind:
        output.say(f"About {taken.behind} more were in flight elsewhere or are still to be looked at.", "yellow")


def _latest(place: Place, name: str) -> Snapshot | None:
    paths = sorted((place.folder / "snapshots").glob(f"{name}-[0-9]*.jsonl"))
    if not paths:
        return None
    snapshot = opened(paths[-1])
    if place.waiting.now() - snapshot.taken_at >= FRESH or snapshot.end is None:
        return None
    # A run since then has moved letters that the snapshot still lists.
    runs = [run.name.partition("-")[0] for run in (place.folder / "runs").glob(f"*-{name}-*")]
    taken = snapshot.taken_at.strftime("%Y%m%dT%H%M%S")
    return snapshot if all(run < taken for run in runs) else None
