"""What plan, redrive, park and purge have in common: make or read the plan, check, show."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated, Any

import typer

from surehand.ledger import Ledger
from surehand_cli.account.place import Place
from surehand_cli.dlq.checks import Check, gather, objections, unknowns
from surehand_cli.dlq.identify import Identified
from surehand_cli.dlq.known import NO_OPS, Known, join
from surehand_cli.dlq.letter import Letter
from surehand_cli.dlq.plan import Plan, Planned, changed
from surehand_cli.dlq.planning import LAMBDA
from surehand_cli.dlq.queue import dead_letter_queue, described, queue_url
from surehand_cli.problem import Refusal
from surehand_cli.terminal.counting import counted
from surehand_cli.terminal.output import Output

_PANEL = "How"
Rate = Annotated[str, typer.Option("--rate", help="At most so many letters: 5/s, 300/m.", rich_help_panel=_PANEL)]
Patience = Annotated[
    int,
    typer.Option("--patience", min=1, help="Seconds to wait for outcomes in the ledger.", rich_help_panel=_PANEL),
]
Unwatched = Annotated[
    bool,
    typer.Option("--unwatched", help="No canaries and no look at outcomes.", rich_help_panel=_PANEL),
]
Alarms = Annotated[
    list[str] | None,
    typer.Option("--stop-on-alarm", help="Stop when this CloudWatch alarm is on.", rich_help_panel=_PANEL),
]
Backlog = Annotated[
    int | None,
    typer.Option(
        "--max-backlog", min=1, help="Stop when more messages wait at the destination.", rich_help_panel=_PANEL
    ),
]
Despite = Annotated[
    list[Check] | None,
    typer.Option("--despite", help="Go on although this check objects.", rich_help_panel=_PANEL),
]
IncludeHeld = Annotated[
    bool,
    typer.Option("--include-held", help="Also letters whose effect nobody knows.", rich_help_panel=_PANEL),
]
To = Annotated[
    str | None,
    typer.Option("--to", help="Another destination than where the letters came from.", rich_help_panel=_PANEL),
]
Reason = Annotated[str | None, typer.Option("--reason", help="Why; it stands in the evidence.")]
Yes = Annotated[bool, typer.Option("--yes", help="Confirm on a guarded stage.")]
Confirm = Annotated[str | None, typer.Option("--confirm", help="The phrase that a refusal names.")]

_AT_ONCE = 100


def run_options(
    *, rate: float, patience: int | None, alarms: list[str] | None = None, backlog: int | None = None
) -> dict[str, Any]:
    """Return the options that a plan carries."""
    return {"rate": rate, "patience": patience, "alarms": list(alarms or ()), "backlog": backlog}


def check(place: Place, output: Output, plan: Plan, *, despite: Iterable[Check], strict: bool) -> None:
    """Say what speaks against the run; with *strict* refuse it then.

    Raises:
        Refusal: Something speaks against it that `--despite` does not name.
    """
    client = place.account.client("sqs")
    dead = dead_letter_queue(place, plan.url)
    targets = [
        described(client, url or queue_url(client, arn)) for arn, url in plan.destinations.items() if LAMBDA not in arn
    ]
    facts = gather(place, dead, targets, consumed=plan.action == "redrive")
    ignored = set(despite)
    found = [one for one in objections(facts) if one.check not in ignored]
    for one in found:
        output.say(f"Objection ({one.check}): {one.text}.", "red")
    for text in unknowns(facts):
        output.say(f"Not checked: {text}.", "dim")
    if found and strict:
        raise Refusal(f"{found[0].text}; --despite {found[0].check} goes on all the same")


def drift(place: Place, plan: Plan) -> list[str]:
    """Return what has changed in the ledger since the plan was made.

    Raises:
        LedgerUnavailable: The ledger could not be read.
    """
    present: dict[str, Known] = {}
    for part in _parts(plan.letters):
        letters = [(_letter(one), _identified(one)) for one in part]
        ledger: Ledger | None = place.ledger if any(who is not None for _, who in letters) else None
        present |= {one.letter.message_id: one for one in join(letters, ledger, now=place.waiting.now())}
    return list(changed(plan, present, place.waiting.now()))


def show(output: Output, plan: Plan) -> None:
    """Say what a plan would do."""
    counts = plan.counts()
    groups: dict[tuple[str | None, str | None, str], int] = {}
    for one in plan.letters:
        key = (one.code, one.tenant, "parked: in the way" if one.aside else one.verdict)
        groups[key] = groups.get(key, 0) + 1
    rows = sorted(((*key, count) for key, count in groups.items()), key=lambda row: -row[3])
    output.table(
        ("code", "tenant", f"a {plan.action}" if plan.action != "redrive" else "a redrive", "letters"), rows[:50]
    )
    output.line(
        {
            "kind": "plan",
            "digest": plan.digest,
            "action": plan.action,
            "queue": plan.queue,
            "destinations": sorted(plan.destinations),
            "letters": len(plan.letters),
            "counts": counts,
            "left_out": dict(plan.left_out),
            "expires_at": plan.expires_at,
        }
    )
    target = ", ".join(arn.rpartition(":")[2] for arn in plan.destinations) or "nowhere (they are deleted)"
    if not plan.letters:
        target = "nothing to move"
    output.say(f"{counted(len(plan.letters), 'letter')} of {plan.name} → {target}. Plan {plan.digest[:12]}.", "bold")
    no_ops = sum(counts["verdict"].get(verdict.value, 0) for verdict in NO_OPS)
    if no_ops:
        output.say(f"{no_ops} of them are no-ops: their operations are final, so they are only acknowledged.")
    for why, count in plan.left_out.items():
        output.say(f"{count} stay where they are: {why}.", "yellow")
    if not plan.snapshot.get("complete", True):
        output.say("The snapshot does not hold every letter of the queue; plan again after this run.", "yellow")


def _parts(letters: Iterable[Planned]) -> Iterator[list[Planned]]:
    source = iter(letters)
    while part := list(itertools.islice(source, _AT_ONCE)):
        yield part


def _letter(one: Planned) -> Letter:
    return Letter(
        message_id=one.id,
        sha256=one.sha256,
        sent_at=datetime.fromisoformat(one.sent_at),
        receive_count=1,
        group=one.group,
    )


def _identified(one: Planned) -> Identified | None:
    """Fingerprints are not in the plan: whether the key conflicts was decided when it was made."""
    if one.operation is None or one.handler is None:
        return None
    return Identified(operation=one.operation, handler=one.handler, tenant=one.tenant)
