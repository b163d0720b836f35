"""`surehand send`: rows into a handler's queue."""

from __future__ import annotations

import itertools
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from surehand import Handler
from surehand.aws.queues import SQSQueues
from surehand.declare import queue_name
from surehand.states import State
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.account.waiting import finishing
from surehand_cli.dlq.confirming import GUARDED
from surehand_cli.dlq.journal import Journal, read
from surehand_cli.dlq.pace import rate_of
from surehand_cli.dlq.queue import queue_url
from surehand_cli.dlq.snapshot import private
from surehand_cli.problem import Problem, Refusal
from surehand_cli.send.rows import LISTED, Checked, Row, check, rows
from surehand_cli.send.sending import Sent
from surehand_cli.send.sending import send as send_rows
from surehand_cli.terminal.counting import counted
from surehand_cli.terminal.output import Output
from surehand_cli.terminal.progress import counting

_AT_ONCE = 100


@located
def send(
    place: Place,
    output: Output,
    handler: Annotated[str, typer.Argument(help="The handler's name.")],
    *,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="The rows; default: standard input.")] = None,
    resume: Annotated[str | None, typer.Option("--resume", help="Go on with this run.")] = None,
    execute: Annotated[bool, typer.Option("--execute", help="Send them. Without this nothing changes.")] = False,
    skip_invalid: Annotated[bool, typer.Option("--skip-invalid", help="Leave out lines that do not fit.")] = False,
    rate: Annotated[str, typer.Option("--rate", help="At most so many: 5/s, 300/m.")] = "50/s",
    reason: Annotated[str | None, typer.Option("--reason", help="Why; it stays in the journal.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="No further question on a guarded stage.")] = False,
) -> None:
    """Send rows, one JSON payload a line, to a handler's queue.

    Every line is validated and keyed before the first one leaves, by the handler's own declaration. A journal records
    each batch before it leaves; [bold]--resume[/bold] goes on with what was not sent.

    Examples: [bold]surehand send orders < rows.jsonl[/bold] (what would happen),
    [bold]surehand send orders -f rows.jsonl --execute --reason 'import of the old shop'[/bold]

    Exit status: 0 all sent, 2 nothing to send, 4 SQS refused some, 5 refused, 130 interrupted.
    """
    target = _handler(place, handler)
    per_second = rate_of(rate)
    folder = _folder(place, target, file, resume)
    path = folder / "rows.jsonl"
    checked = check(path, target)
    before = read(folder / "journal.jsonl") if resume is not None else None
    if before is not None and before.broken is not None:
        raise Refusal(f"the journal was edited at line {before.broken}; what it says cannot be relied on")
    sent = Sent.of(before.entries if before is not None else ())
    _show(place, output, target, checked, path, sent=len(sent.lines))
    go = execute or resume is not None
    try:
        _refuse(
            place, checked, go=go, skip_invalid=skip_invalid or resume is not None, reason=reason or resume, yes=yes
        )
    except Refusal:
        _forget(folder, resume)
        raise
    if not go:
        _forget(folder, resume)
        output.say("Changes made: none. Add --execute --reason '…' to send them.")
        raise typer.Exit(0 if checked.valid else 2)
    url = queue_url(place.account.client("sqs"), queue_name(place.service.name, place.stage, target))
    with closing(Journal(folder / "journal.jsonl", after=before)) as journal:
        journal.write(
            "resume" if resume is not None else "begin",
            place.waiting.now(),
            actor=place.account.actor,
            reason=(reason or "resumed").strip(),
            handler=target.name,
            rows=checked.digest,
        )
        with finishing(place.waiting), counting(output, "rows", checked.valid) as shown:
            why = send_rows(
                _fitting(path, target, checked),
                handler=target.name,
                fifo=target.options.fifo,
                queues=SQSQueues(place.account.client("sqs"), lambda _: url),
                journal=journal,
                sent=sent,
                rate=per_second,
                waiting=place.waiting,
                report=shown,
            )
        journal.write("end", place.waiting.now(), why=why, sent=len(sent.lines), refused=len(sent.refused))
    raise typer.Exit(_ended(output, folder, checked, sent, why))


def _handler(place: Place, name: str) -> Handler[Any]:
    try:
        found = place.service[name]
    except KeyError as error:
        raise Problem(str(error.args[0])) from None
    if found.trigger == "schedule":
        raise Refusal(f"'{name}' is a schedule: `surehand backfill {name} --from …` sends its ticks")
    return found


def _folder(place: Place, handler: Handler[Any], file: Path | None, resume: str | None) -> Path:
    """Return the run's folder with a copy of the rows in it: what is validated is what is sent, now and on resume."""
    runs = place.folder / "sends"
    if resume is not None:
        found = [Path(resume)] if Path(resume).is_dir() else sorted(runs.glob(f"{resume}*"))
        if len(found) != 1:
            raise Problem(f"{len(found)} runs are called {resume!r} in {runs}")
        return found[0]
    if file is None and sys.stdin.isatty():
        raise Problem("no rows: give them on standard input, or name a file with --file")
    folder = runs / f"{place.waiting.now().strftime('%Y%m%dT%H%M%S%fZ')}-{handler.name}"
    try:
        folder.mkdir(parents=True)
        with open(folder / "rows.jsonl", "wb", opener=private) as copy:
            if file is None:
                shutil.copyfileobj(sys.stdin.buffer, copy)
            else:
                with file.open("rb") as given:
                    shutil.copyfileobj(given, copy)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise Problem(f"{error.filename} cannot be read or written: {error.strerror}") from error
    return folder


def _forget(folder: Path, resume: str | None) -> None:
    if resume is None:
        shutil.rmtree(folder, ignore_errors=True)


def _show(place: Place, output: Output, handler: Handler[Any], checked: Checked, path: Path, *, sent: int) -> None:
    for one in checked.invalid:
        output.line({"kind": "invalid", "line": one.number, "code": one.code, "detail": one.detail})
    output.table(("line", "code", "why"), [(one.number, one.code, one.detail) for one in checked.invalid[:20]])
    more = "+" if len(checked.invalid) >= LISTED else ""
    done = _done(place, path, handler, checked)
    output.line(
        {
            "kind": "plan",
            "handler": handler.name,
            "rows": checked.valid,
            "invalid": len(checked.invalid),
            "same_operation": checked.twice,
            "conflicts": len(checked.conflicts),
            "already_final": done,
            "sent_before": sent,
        }
    )
    fit = counted(checked.valid, "row")
    output.say(f"{fit} for '{handler.name}', {len(checked.invalid)}{more} that {_do(checked)} not fit.", "bold")
    if sent:
        output.say(f"Sent before, by the journal: {sent}.")
    if done:
        output.say(f"Of an operation that is final already: {done}. Such a row would only be acknowledged.")
    if checked.twice:
        output.say(f"The same as an earlier row: {checked.twice}. Such an operation runs once.", "yellow")


def _do(checked: Checked) -> str:
    return "does" if len(checked.invalid) == 1 else "do"


def _fitting(path: Path, handler: Handler[Any], checked: Checked) -> Iterator[Row]:
    return (row for row in rows(path, handler) if isinstance(row, Row) and row.number not in checked.conflicts)


def _done(place: Place, path: Path, handler: Handler[Any], checked: Checked) -> int:
    final = (State.SUCCEEDED, State.CANCELED, State.COMPENSATED)
    ids = (row.identity.operation for row in _fitting(path, handler, checked))
    count = 0
    while part := list(itertools.islice(ids, _AT_ONCE)):
        count += sum(operation.state in final for operation in place.ledger.read(part).values())
    return count


def _refuse(place: Place, checked: Checked, *, go: bool, skip_invalid: bool, reason: str | None, yes: bool) -> None:
    if not go:
        return
    if checked.invalid and not skip_invalid:
        bad = counted(len(checked.invalid), "row")
        raise Refusal(f"{bad} {_do(checked)} not fit; correct the file, or leave such rows out with --skip-invalid")
    if not (reason and reason.strip()):
        raise Refusal("--execute needs --reason: it stays in the journal")
    if place.stage in GUARDED and not yes:
        raise Refusal(f"'{place.stage}' is guarded: add --yes to send {counted(checked.valid, 'row')}")


def _ended(output: Output, folder: Path, checked: Checked, sent: Sent, why: str | None) -> int:
    output.line({"kind": "end", "sent": len(sent.lines), "refused": len(sent.refused), "run": folder.name})
    for line, code in sorted(sent.refused.items())[:20]:
        output.say(f"line {line}: SQS refused it ({code})", "red")
    output.say(f"Sent {len(sent.lines)} of {counted(checked.valid, 'row')}. Journal: {folder / 'journal.jsonl'}")
    if len(sent.lines) == checked.valid:
        return 0 if checked.valid else 2
    output.say(f"{why or 'Not all were sent'}. Go on with: surehand send HANDLER --resume {folder.name}")
    return 130 if why == "interrupted" else 4
