"""SQS's own move tasks, where the endpoint has them.

Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html (source: the
dead-letter queue of a queue of SQS; one active task per queue; at most 500 a second; no filter; a cancel does not undo)
and API_ListMessageMoveTasks.html (the ten latest; a handle only while RUNNING; counts are approximate and late).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from surehand_cli.account.session import is_missing


class NoMoveTasks(Exception):
    """The endpoint has no move tasks: moto and the emulator have not."""


def tasks(client: Any, arn: str) -> Sequence[Mapping[str, Any]]:
    """Return the latest move tasks of a queue, the newest first.

    Raises:
        NoMoveTasks: The endpoint does not know them.
        ClientError, BotoCoreError: SQS refused or could not be reached.
    """
    try:
        answer = client.list_message_move_tasks(SourceArn=arn, MaxResults=10)
    except (ClientError, NotImplementedError) as error:
        raise _read(error) from error
    results: Sequence[Mapping[str, Any]] = answer.get("Results", ())
    return results


def start_task(client: Any, arn: str, *, rate: int) -> str:
    """Start a task that moves every letter to the queue it came from, and return its handle.

    Raises:
        NoMoveTasks: The endpoint does not know them.
        ClientError, BotoCoreError: SQS refused or could not be reached.
    """
    try:
        return str(client.start_message_move_task(SourceArn=arn, MaxNumberOfMessagesPerSecond=rate)["TaskHandle"])
    except (ClientError, NotImplementedError) as error:
        raise _read(error) from error


def cancel_task(client: Any, handle: str) -> int:
    """Stop a task and return about how many letters it has moved.

    Raises:
        ClientError, BotoCoreError: It is not running any more, or SQS could not be reached.
    """
    return int(client.cancel_message_move_task(TaskHandle=handle).get("ApproximateNumberOfMessagesMoved", 0))


def active_task(client: Any, arn: str) -> str | None:
    """Return in a few words what task is moving letters of a queue now, or None; None also where nobody can say."""
    try:
        running = [task for task in tasks(client, arn) if task.get("Status") in ("RUNNING", "CANCELLING")]
    except (NoMoveTasks, ClientError, BotoCoreError):
        return None
    if not running:
        return None
    task = running[0]
    return (
        f"{task['Status']}: {task.get('ApproximateNumberOfMessagesMoved', 0)} of "
        f"{task.get('ApproximateNumberOfMessagesToMove', '?')} moved"
    )


def _read(error: Exception) -> Exception:
    return NoMoveTasks() if is_missing(error) else error
