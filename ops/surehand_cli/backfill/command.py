"""`surehand backfill`: send the ticks of a range that the ledger does not know as done."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from surehand import Handler
from surehand.aws.queues import SQSQueues
from surehand.declare import moment_text, queue_name
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.account.waiting import finishing
from surehand_cli.backfill.due import MOST, Due, Standing, counted, due, timing_of
from surehand_cli.backfill.sending import Sender
from surehand_cli.dlq.confirming import GUARDED
from surehand_cli.dlq.journal import Journal, read
from surehand_cli.dlq.pace import rate_of
from surehand_cli.problem import Problem, Refusal
from surehand_cli.terminal.moments import HELP, moment
from surehand_cli.terminal.output import Output
from surehand_cli.terminal.progress import counting

#: Fewer ticks than this are listed one by one.
_LISTED = 40


@located
def backfill(
    place: Place,
    output: Output,
    schedule: Annotated[str, typer.Argument(help="The schedule's name.")],
    *,
    begin: Annotated[str, typer.Option("--from", help=f"The first moment: {HELP}.")],
    end: Annotated[str | None, typer.Option("--to", help="The moment before which it ends; default: now.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Ticks that have failed too, with fresh attempts.")] = False,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="Ticks older than the ledger remembers too; they may have run.")
    ] = False,
    rate: Annotated[str, typer.Option("--rate", help="Ticks sent: 1/s, 30/m.")] = "1/s",
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Ticks sent and not ended, at most.")] = 5,
    most: Annotated[int, typer.Option("--max", min=1, help="Refuse a range with more ticks.")] = MOST,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the plan; this is the default.")] = False,
    execute: Annotated[bool, typer.Option("--execute", help="Send them. Without this nothing changes.")] = False,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; it stays in the journal.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="No further question on a guarded stage.")] = False,
) -> None:
    """Send the ticks of a range that the ledger does not know as done.

    The ticks are those of the expression that is declared [bold]today[/bold]; if it was another one in that time, they
    are not the ticks that were due then. Sent ticks are never too late, and wait for their turn instead of being
    skipped. A journal in `.surehand` records each before it leaves; the same command goes on after an interruption.

    Example: [bold]surehand backfill invoice-export --from 2026-11-01T00:00Z --to 2026-11-08T00:00Z[/bold]

    Exit status 1 if a tick that was sent has failed, 3 if it was interrupted.
    """
    if dry_run and execute:
        raise Problem("--dry-run and --execute exclude each other")
    handler = _handler(place, schedule)
    per_second = rate_of(rate)
    now = place.waiting.now()
    start, until = moment(begin, now=now) or now, moment(end, now=now) or now
    found = due(handler, place.ledger, start=start, end=until, now=now, remembered=place.retention, most=most)
    more = {Standing.FAILED: failed, Standing.FORGOTTEN: forgotten}
    wanted = {Standing.MISSING, Standing.SKIPPED, *(one for one, asked in more.items() if asked)}
    journal = _journal_path(place, handler, found)
    before = _sent_before(journal)
    chosen = [one for one in found if one.standing in wanted and one.operation_id not in before]
    _show(output, handler, found, chosen, before=len(before))
    if not execute or not chosen:
        output.say("Changes made: none." + ("" if execute or not chosen else " Add --execute --reason '…' to send."))
        return
    _confirm(place, chosen, reason=reason, yes=yes)
    _send(place, output, handler, chosen, journal=journal, reason=str(reason).strip(), rate=per_second, at_once=at_once)


def _handler(place: Place, name: str) -> Handler[Any]:
    try:
        return place.service[name]
    except KeyError as error:
        raise Problem(str(error.args[0])) from None


def _show(output: Output, handler: Handler[Any], found: Sequence[Due], chosen: Sequence[Due], *, before: int) -> None:
    when = timing_of(handler).when
    output.say(f"'{handler.name}' fires by {when.expression} ({when.timezone}), as it is declared today.")
    sending = {one.operation_id for one in chosen}
    for one in found:
        output.line(
            {
                "tick": moment_text(one.tick.at),
                "operation": one.operation_id,
                "standing": one.standing.value,
                "code": one.known.code if one.known is not None else None,
                "send": one.operation_id in sending,
            }
        )
    if len(found) <= _LISTED:
        output.table(
            ("tick", "standing", ""),
            [(one.tick.at, one.standing.value, "send" if one.operation_id in sending else "") for one in found],
        )
    counts = ", ".join(f"{count} {standing}" for standing, count in counted(found).items()) or "none"
    again = f" {before} were sent before, by the journal of this range." if before else ""
    output.say(f"Ticks that were due: {len(found)}, of them {counts}. To be sent: {len(chosen)}.{again}")


def _confirm(place: Place, chosen: Sequence[Due], *, reason: str | None, yes: bool) -> None:
    if not (reason and reason.strip()):
        raise Refusal("--execute needs --reason: it stays in the journal")
    if place.stage in GUARDED and not yes:
        raise Refusal(f"'{place.stage}' is guarded: add --yes to send {len(chosen)} ticks")


def _send(
    place: Place,
    output: Output,
    handler: Handler[Any],
    chosen: Sequence[Due],
    *,
    journal: Path,
    reason: str,
    rate: float,
    at_once: int,
) -> None:
    url = place.account.client("sqs").get_queue_url(QueueName=queue_name(place.service.name, place.stage, handler))
    after = read(journal) if journal.exists() else None
    with closing(Journal(journal, after=after)) as book:
        actor = place.account.actor
        book.write("begun", place.waiting.now(), actor=actor, reason=reason, schedule=handler.name, ticks=len(chosen))
        sender = Sender(
            handler=handler,
            ledger=place.ledger,
            queues=SQSQueues(place.account.client("sqs"), lambda _: str(url["QueueUrl"])),
            journal=book,
            waiting=place.waiting,
            plan=journal.stem,
            note=f"backfill: {actor}: {reason}"[:200],
            rate=rate,
            at_once=at_once,
        )
        with finishing(place.waiting), counting(output, "ticks", len(chosen)) as shown:
            sender.send(chosen, shown=shown)
            sender.follow(shown=shown)
        ended = Counter(state.value for state in sender.ended.values())
        book.write("done", place.waiting.now(), ended=dict(ended), open=len(sender.open), stopped=place.waiting.stopped)
    told = ", ".join(f"{count} {state}" for state, count in ended.items()) or "none yet"
    output.say(f"Sent: {len(sender.open) + len(sender.ended)} of {len(chosen)}. Ended: {told}. Journal: {journal}")
    output.line({"sent": len(sender.open) + len(sender.ended), "ended": dict(ended), "journal": str(journal)})
    if place.waiting.stopped:
        raise typer.Exit(3)
    if set(ended) - {"succeeded", "canceled", "compensated"}:
        raise typer.Exit(1)


def _journal_path(place: Place, handler: Handler[Any], found: Sequence[Due]) -> Path:
    """One journal for each first and last tick of a schedule, so that the same command finds what it has done."""
    ends = [found[0].operation_id, found[-1].operation_id] if found else []
    facts = [place.service.name, place.stage, handler.name, *ends]
    digest = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:10]
    return place.folder / f"backfill-{handler.name}-{digest}.jsonl"


def _sent_before(journal: Path) -> frozenset[str]:
    """Return what an earlier run has sent: the ledger may not know it yet, and the ledger would absorb a duplicate."""
    if not journal.exists():
        return frozenset()
    return frozenset(str(entry["operation"]) for entry in read(journal).entries if entry.get("kind") == "sent")
