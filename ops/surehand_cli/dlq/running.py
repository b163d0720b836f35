"""A run in an account: its parts put together, and its end told."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from surehand.declare import VERSION, physical_name
from surehand_cli.account.place import Place
from surehand_cli.account.waiting import finishing
from surehand_cli.dlq import journal as journals
from surehand_cli.dlq.brakes import brake
from surehand_cli.dlq.breaker import Breaker
from surehand_cli.dlq.destination import Destination, Nowhere, ToFunction, ToQueue
from surehand_cli.dlq.evidence import status
from surehand_cli.dlq.execute import Ending, Run, Watching
from surehand_cli.dlq.folder import Folder, report
from surehand_cli.dlq.foreign import foreign
from surehand_cli.dlq.moving import Mover
from surehand_cli.dlq.pace import Bucket
from surehand_cli.dlq.plan import Plan
from surehand_cli.dlq.planning import LAMBDA
from surehand_cli.dlq.progress import Progress
from surehand_cli.dlq.queue import described
from surehand_cli.dlq.record import Record
from surehand_cli.problem import Problem, Refusal
from surehand_cli.terminal.output import Output
from surehand_cli.terminal.progress import counting

#: The progress line changes at most so often: counting a hundred thousand letters takes a while.
_SECONDS = 0.5


def execute(
    place: Place, output: Output, folder: Folder, plan: Plan, *, reason: str, resume: bool
) -> tuple[int, Mapping[str, Any]]:
    """Run a plan, or go on with it; return the exit status and the report.

    Raises:
        Refusal: The journal was edited.
        Problem: The journal cannot be written.
    """
    before = folder.reading() if resume else None
    if before is not None and before.broken is not None:
        raise Refusal(f"{folder.journal} was edited at line {before.broken}; what it says cannot be relied on")
    journal = journals.Journal(folder.journal, after=before)
    try:
        progress = Progress.of(plan, before.entries if before is not None else ())
        record = _Told(journal, progress, place.waiting, output=output)
        record.write(
            "resume" if resume else "begin",
            plan=plan.digest,
            actor=place.account.actor,
            reason=reason,
            git=_git(place.project.root),
            version=deployed_version(place, plan),
        )
        ending, why = _run(place, output, folder, plan, record)
        record.write("deployed", version=deployed_version(place, plan))
    except OSError as error:
        raise Problem(f"{folder.journal} cannot be written ({error.strerror}); nothing more was moved") from error
    finally:
        journal.close()
    said = report(folder, plan)
    _tell(output, folder, said, ending, why)
    return status(said), said


def deployed_version(place: Place, plan: Plan) -> str | None:
    """Return what is deployed for the letters' handler, or None where nobody can say."""
    handler = next((one.handler for one in plan.letters if one.handler is not None), None)
    if handler is None:
        return None
    name = physical_name(place.service.name, place.stage, handler)
    try:
        said = place.account.client("lambda").get_function_configuration(FunctionName=name)
    except (ClientError, BotoCoreError, NotImplementedError):
        return None
    version = said.get("Environment", {}).get("Variables", {}).get(VERSION)
    return str(version) if version else str(said.get("Version", "")) or None


class _Told(Record):
    """A record whose entries are JSON lines too, if asked for."""

    def __init__(self, *given: Any, output: Output) -> None:
        super().__init__(*given)
        self._output = output

    def write(self, kind: str, **said: Any) -> Mapping[str, Any]:
        entry = super().write(kind, **said)
        self._output.line(entry)
        return entry


def _run(place: Place, output: Output, folder: Folder, plan: Plan, record: Record) -> tuple[Ending, str | None]:
    client = place.account.client("sqs")
    options = plan.options
    breaker = Breaker()
    depth = described(client, plan.url).depth
    mover = Mover(
        client,
        plan.url,
        fifo=plan.fifo,
        depth=depth,
        destinations=_destinations(place, plan, run=folder.name),
        record=record,
        bucket=Bucket.full(float(options["rate"]), burst=10, now=place.waiting.now()),
        breaker=breaker,
        waiting=place.waiting,
        tell=output.say,
    )
    patience = options.get("patience")
    watching = Watching(
        patience=timedelta(seconds=patience) if patience is not None else None,
        brake=brake(
            place.account,
            place.waiting,
            alarms=tuple(options.get("alarms") or ()),
            backlog=options.get("backlog"),
            urls=tuple(url for url in plan.destinations.values() if url),
        ),
    )
    watched = plan.action == "redrive" and patience is not None and any(one.operation for one in plan.letters)
    with finishing(place.waiting), counting(output, "letters", len(plan.letters)) as shown:
        run = Run(
            mover,
            record,
            ledger=place.ledger if watched else None,
            breaker=breaker,
            watching=watching,
            waiting=place.waiting,
            report=_throttled(shown),
        )
        return run.execute()


def _destinations(place: Place, plan: Plan, *, run: str) -> dict[str | None, Destination]:
    served = bool(plan.options.get("served"))
    found: dict[str | None, Destination] = {None: Nowhere()}
    aside = {one.to for one in plan.letters if one.aside}
    for arn, url in plan.destinations.items():
        if LAMBDA in arn:
            found[arn] = ToFunction(place.account.client("lambda"), arn)
            continue
        plain = plan.action == "park" or arn in aside
        client = place.account.client("sqs")
        found[arn] = ToQueue(
            client,
            url or client.get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"],
            fifo=arn.endswith(".fifo"),
            run=run,
            unwrap=(lambda _: None) if plain else (lambda letter: foreign(letter, served=served)),
        )
    return found


def _throttled(shown: Callable[..., None]) -> Callable[[Record], None]:
    last = 0.0

    def tell(record: Record) -> None:
        nonlocal last
        if (now := time.monotonic()) - last < _SECONDS:
            return
        last = now
        counts = record.progress.counts()
        ok, applied = counts["succeeded"] + counts["moved"] + counts["canceled"], counts["already_applied"]
        note = f"ok {ok} · applied {applied} · failed {counts['failed'] + counts['retrying'] + counts['refused']}"
        shown(len(record.progress.mail) - len(record.progress.open), note)

    return tell


def _tell(output: Output, folder: Folder, said: Mapping[str, Any], ending: Ending, why: str | None) -> None:
    rows = [(code, outcome, count) for code, counts in said["by_code"].items() for outcome, count in counts.items()]
    output.table(("failed with", "outcome", "letters"), rows)
    output.line({"kind": "report", **{name: said[name] for name in ("run", "counts", "remaining", "digest")}})
    if ending is not Ending.DONE:
        output.say(f"{ending.value.capitalize()}: {why}.", "bold red" if ending is not Ending.INTERRUPTED else "bold")
    output.say(f"Evidence: {folder.path / 'report.md'}")
    if said["remaining"]:
        output.say(
            f"{said['remaining']} letters are still where they were. Go on with: surehand dlq resume {folder.name}"
        )


def _git(root: Path) -> str | None:
    """Return the commit that is checked out, marked if files differ from it; None outside a repository."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
