"""Following a move task: its counts, and in the ledger what becomes of the letters."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from surehand_cli.account.waiting import Waiting
from surehand_cli.dlq.execute import Ending
from surehand_cli.dlq.move_tasks import cancel_task, tasks
from surehand_cli.dlq.plan import Plan
from surehand_cli.dlq.record import Record
from surehand_cli.dlq.watch import Watch
from surehand_cli.terminal.counting import counted

#: Between two looks at the task.
_PAUSE = timedelta(seconds=2)


def follow(
    client: Any,
    plan: Plan,
    record: Record,
    watch: Watch,
    *,
    handle: str,
    patience: timedelta,
    waiting: Waiting,
) -> tuple[Ending, str | None]:
    """Wait for the task's end and then for the outcomes; an interruption cancels the task.

    A task mints new message ids and tells nobody which, so outcomes are read from the operations alone.

    Raises:
        NoMoveTasks, ClientError, BotoCoreError: SQS refused or could not be reached.
        LedgerUnavailable: The ledger could not be read.
    """
    while _running(client, plan.queue) and not waiting.stopped:
        waiting.wait(_PAUSE)
    if waiting.stopped:
        moved = cancel_task(client, handle)
        return Ending.INTERRUPTED, f"canceled after about {counted(moved, 'letter')}"
    latest = next(iter(tasks(client, plan.queue)), {})
    failure = latest.get("FailureReason")
    if failure:
        return Ending.BROKEN, f"the move task failed: {failure}"
    record.write("sent", moves={one.id: None for one in plan.letters})
    record.write("deleted", ids=[one.id for one in plan.letters])
    watch.until_settled(patience)
    return Ending.DONE, None


def _running(client: Any, arn: str) -> bool:
    return any(task.get("Status") in ("RUNNING", "CANCELLING") for task in tasks(client, arn))
