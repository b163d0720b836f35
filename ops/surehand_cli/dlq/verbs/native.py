"""`surehand dlq native`: SQS's own move tasks, behind the same checks and with the same evidence."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.account.waiting import finishing
from surehand_cli.dlq import journal as journals
from surehand_cli.dlq.breaker import Breaker
from surehand_cli.dlq.confirming import confirm
from surehand_cli.dlq.evidence import status as exit_status
from surehand_cli.dlq.folder import begun, report
from surehand_cli.dlq.move_tasks import NoMoveTasks, cancel_task, start_task, tasks
from surehand_cli.dlq.native_run import follow
from surehand_cli.dlq.plan import Plan
from surehand_cli.dlq.planning import Wanted, make_plan
from surehand_cli.dlq.preparing import Confirm, Despite, Reason, Yes, check, run_options, show
from surehand_cli.dlq.progress import Progress
from surehand_cli.dlq.queue import dead_letter_queue
from surehand_cli.dlq.reading import QueueName, letters_of
from surehand_cli.dlq.record import Record
from surehand_cli.dlq.selector import Selector
from surehand_cli.dlq.watch import Watch
from surehand_cli.problem import Refusal
from surehand_cli.terminal.counting import counted
from surehand_cli.terminal.output import Output

app = typer.Typer(
    help="SQS's own move tasks: all of a queue, fast, without a canary.", no_args_is_help=True, rich_markup_mode="rich"
)
_INSTEAD = (
    "this endpoint has no move tasks (moto and the emulator have none); `surehand dlq redrive QUEUE --all` moves the "
    "letters from here"
)


@app.command("start")
@located
def start(
    place: Place,
    output: Output,
    queue: QueueName,
    *,
    rate: Annotated[int, typer.Option(min=1, max=500, help="Letters per second at most.")] = 50,
    go: Annotated[bool, typer.Option("--execute", help="Start the task. Without this nothing changes.")] = False,
    patience: Annotated[int, typer.Option(min=1, help="Seconds to wait for outcomes in the ledger.")] = 120,
    reason: Reason = None,
    yes: Yes = False,
    phrase: Confirm = None,
    despite: Despite = None,
) -> None:
    """Let SQS move every letter back to where it came from, and watch in the ledger what becomes of them.

    No selection and no canary: [bold]surehand dlq redrive[/bold] has both. Letters that SQS did not move there itself
    make the task fail (CouldNotDetermineMessageSource), so they are looked for first.

    Example: [bold]surehand dlq native start orders --execute --reason 'INC-17, fixed by 3f2a'[/bold]
    """
    dead = dead_letter_queue(place, queue)
    _known_here(place, dead.queue.arn)
    letters = letters_of(place, output, queue, fresh=go)
    wanted = Wanted(
        action="redrive",
        selector=Selector(all=True),
        options=run_options(rate=float(rate), patience=patience) | {"native": True},
        include_held=False,
    )
    plan = make_plan(place, dead, letters, wanted)
    show(output, plan)
    if not plan.letters:
        raise typer.Exit(2)
    if plan.left_out:
        raise Refusal("a move task takes every letter, and some should stay; use `surehand dlq redrive` for the others")
    check(place, output, plan, despite=despite or (), strict=go)
    if not go:
        output.say("Changes made: none. Add --execute --reason '…' to start the task.")
        return
    why = confirm(output, plan, reason=reason, yes=yes, phrase=phrase)
    raise typer.Exit(_execute(place, output, plan, rate=rate, reason=why, patience=timedelta(seconds=patience)))


@app.command("status")
@located
def status(place: Place, output: Output, queue: QueueName) -> None:
    """Show the latest move tasks of a queue. Their counts are approximate and late.

    Example: [bold]surehand dlq native status orders[/bold]
    """
    dead = dead_letter_queue(place, queue)
    found = _known_here(place, dead.queue.arn)
    for task in found:
        output.line({name: task.get(name) for name in _FIELDS})
    output.table(
        ("status", "moved", "of", "failure", "started"),
        (
            (
                task.get("Status"),
                task.get("ApproximateNumberOfMessagesMoved"),
                task.get("ApproximateNumberOfMessagesToMove"),
                task.get("FailureReason"),
                task.get("StartedTimestamp"),
            )
            for task in found
        ),
    )


@app.command("cancel")
@located
def cancel(place: Place, output: Output, queue: QueueName) -> None:
    """Stop the running move task of a queue. What it has moved stays moved.

    Example: [bold]surehand dlq native cancel orders[/bold]
    """
    dead = dead_letter_queue(place, queue)
    running = [task for task in _known_here(place, dead.queue.arn) if task.get("TaskHandle")]
    if not running:
        output.say("No move task is running.")
        raise typer.Exit(2)
    moved = cancel_task(place.account.client("sqs"), str(running[0]["TaskHandle"]))
    output.line({"kind": "canceled", "moved": moved})
    output.say(f"Canceled after about {counted(moved, 'letter')}.")


_FIELDS = (
    "Status",
    "SourceArn",
    "DestinationArn",
    "ApproximateNumberOfMessagesMoved",
    "ApproximateNumberOfMessagesToMove",
    "FailureReason",
    "StartedTimestamp",
)


def _known_here(place: Place, arn: str) -> list[dict[str, object]]:
    try:
        return [dict(task) for task in tasks(place.account.client("sqs"), arn)]
    except NoMoveTasks:
        raise Refusal(_INSTEAD) from None


def _execute(place: Place, output: Output, plan: Plan, *, rate: int, reason: str, patience: timedelta) -> int:
    folder = begun(place, plan)
    journal = journals.Journal(folder.journal)
    client = place.account.client("sqs")
    try:
        record = Record(journal, Progress.of(plan), place.waiting)
        record.write("begin", plan=plan.digest, actor=place.account.actor, reason=reason, native=True)
        record.write("sending", ids=[one.id for one in plan.letters])
        handle = start_task(client, plan.queue, rate=rate)
        watch = Watch(place.ledger, record, breaker=Breaker(), waiting=place.waiting)
        with finishing(place.waiting):
            ending, why = follow(client, plan, record, watch, handle=handle, patience=patience, waiting=place.waiting)
        record.write("end", ending=ending.value, why=why, counts=dict(record.progress.counts()))
    finally:
        journal.close()
    said = report(folder, plan)
    output.table(
        ("failed with", "outcome", "letters"),
        [(code, outcome, count) for code, counts in said["by_code"].items() for outcome, count in counts.items()],
    )
    output.line({"kind": "report", **{name: said[name] for name in ("run", "counts", "remaining", "digest")}})
    if why is not None:
        output.say(f"{ending.value.capitalize()}: {why}.", "bold red")
    output.say(f"Evidence: {folder.path / 'report.md'}")
    return exit_status(said)
