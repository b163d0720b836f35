"""From a selection to a plan: where each letter goes, and what stays for which reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from surehand_cli.account.place import Place
from surehand_cli.dlq.foreign import foreign
from surehand_cli.dlq.known import Known
from surehand_cli.dlq.plan import VALID, Action, Plan, Planned, leaves_out, planned
from surehand_cli.dlq.queue import DeadLetterQueue, Queue
from surehand_cli.dlq.reading import Letters
from surehand_cli.dlq.selector import Selection, Selector

#: Functions are invoked, everything else is a queue.
LAMBDA = ":lambda:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a plan is to be made of. *to* overrides where letters go; *parked* takes those in the way, if given."""

    action: Action
    selector: Selector
    options: Mapping[str, Any]
    to: Queue | None = None
    parked: Queue | None = None
    include_held: bool = False


@dataclass(slots=True)
class _Sorting:
    letters: list[Planned] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    urls: dict[str, str] = field(default_factory=dict)


def make_plan(place: Place, dead: DeadLetterQueue, letters: Letters, wanted: Wanted) -> Plan:
    """Return the plan for the letters that are meant.

    Raises:
        Problem: The selector or the snapshot cannot be read.
        LedgerUnavailable: The ledger could not be read.
    """
    sorting = _Sorting()
    for known, aside in _meant(letters.known(), Selection(wanted.selector), wanted, fifo=dead.queue.fifo):
        if aside and wanted.parked is not None:
            sorting.urls[wanted.parked.arn] = wanted.parked.url
            sorting.letters.append(planned(known, to=wanted.parked.arn, aside=True))
            continue
        _sort(dead, known, wanted, sorting, served=letters.served)
    now = place.waiting.now()
    return Plan(
        action=wanted.action,
        stage=place.stage,
        service=place.service.name,
        queue=dead.queue.arn,
        url=dead.queue.url,
        destinations=sorting.urls,
        selector=wanted.selector.to_json(),
        options={**wanted.options, "served": letters.served},
        actor=place.account.actor,
        created_at=now.isoformat(timespec="seconds"),
        expires_at=(now + VALID).isoformat(timespec="seconds"),
        snapshot={
            "at": letters.snapshot.header["at"],
            "letters": (letters.snapshot.end or {}).get("count"),
            "complete": letters.snapshot.complete,
        },
        letters=tuple(sorting.letters),
        left_out=dict(sorting.left_out),
    )


def _meant(known: Iterable[Known], selection: Selection, wanted: Wanted, *, fifo: bool) -> Iterator[tuple[Known, bool]]:
    """Yield the letters that are meant and, where they may be parked, those that stand in the way in a FIFO group."""
    waiting: dict[str, list[Known]] = {}
    for one in known:
        if selection.takes(one):
            yield from ((before, True) for before in waiting.pop(one.letter.group or "", ()))
            yield one, False
        elif fifo and wanted.parked is not None:
            waiting.setdefault(one.letter.group or "", []).append(one)


def _sort(dead: DeadLetterQueue, known: Known, wanted: Wanted, sorting: _Sorting, *, served: bool) -> None:
    if (why := leaves_out(known, action=wanted.action, include_held=wanted.include_held)) is not None:
        sorting.left_out[why] += 1
        return
    if wanted.action == "purge":
        sorting.letters.append(planned(known, to=None))
        return
    if wanted.to is not None:
        sorting.urls[wanted.to.arn] = wanted.to.url
        sorting.letters.append(planned(known, to=wanted.to.arn))
        return
    arn, why = _destination(dead, known, served=served)
    if arn is None:
        sorting.left_out[why] += 1
        return
    sorting.urls.setdefault(arn, next((source.url for source in dead.sources if source.arn == arn), ""))
    sorting.letters.append(planned(known, to=arn))


def _destination(dead: DeadLetterQueue, known: Known, *, served: bool) -> tuple[str | None, str]:
    """Return the ARN that a letter came from, or was meant for, or else why nobody knows."""
    if (who := foreign(known.letter, served=served)) is not None:
        return (None, f"{who.service}: {who.refusal}") if who.refusal else (who.target, "")
    arns = [source.arn for source in dead.sources]
    if known.letter.source is not None:
        return known.letter.source, ""
    if len(arns) == 1:
        return arns[0], ""
    if not arns:
        return None, "no queue has this one as its dead-letter queue; name a destination with --to"
    return None, "it does not say which of several queues it came from; name one with --to"
