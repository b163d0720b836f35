"""`surehand dlq ls`: the service's dead-letter queues."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from surehand.declare import derived
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.move_tasks import active_task
from surehand_cli.dlq.queue import DeadLetterQueue, NoQueue, dead_letter_queue
from surehand_cli.terminal.moments import length
from surehand_cli.terminal.output import Output


@located
def ls(place: Place, output: Output) -> None:
    """List the dead-letter queues of the service: how many letters, how old, from where.

    Reads attributes only, so nothing is received and no age metric is blinded.

    Example: [bold]surehand dlq ls --stage prod[/bold]

    Exit status 1 if AWS cannot be reached or refuses, 2 if none of the queues is here.
    """
    rows, missing = [], []
    for name in _names(place):
        try:
            dead = dead_letter_queue(place, name)
        except NoQueue:
            missing.append(dead_letters_of(place, name))
            continue
        said = _record(place, dead)
        output.line(said)
        left = said["expires_in_seconds"]
        rows.append(
            (
                name,
                said["letters"],
                said["in_flight"],
                length(timedelta(seconds=said["oldest_seconds"])) if said["oldest_seconds"] is not None else None,
                length(timedelta(seconds=left)) if left is not None else None,
                ", ".join(source.name for source in dead.sources),
                said["move_task"],
            )
        )
    if not rows:
        raise NoQueue(
            f"none of the service's dead-letter queues is here ({', '.join(missing)}); is --stage right, and is the "
            "stage deployed in this account and Region?"
        )
    for name in missing:
        output.say(
            f"There is no queue '{name}' here: deploy the stage again; `surehand doctor` compares all.", "yellow"
        )
    output.table(("handler or queue", "letters", "in flight", "oldest", "expires in", "sources", "move task"), rows)


def _names(place: Place) -> list[str]:
    """Return what to list: every handler, and the queue of ticks that could not be delivered."""
    names = [handler.name for handler in place.service.handlers]
    if any(handler.options.timing is not None for handler in place.service.handlers):
        names.append(derived.tick_dead_letter_queue_name(place.service.name, place.stage))
    return names


def dead_letters_of(place: Place, name: str) -> str:
    """Return the physical name of what is listed as *name*."""
    handlers = {handler.name: handler for handler in place.service.handlers}
    if name not in handlers:
        return name
    return derived.dead_letter_queue_name(place.service.name, place.stage, handlers[name])


def _record(place: Place, dead: DeadLetterQueue) -> dict[str, Any]:
    queue = dead.queue
    oldest = _oldest(place, queue.name) if queue.depth else None
    return {
        "handler": dead.handler.name if dead.handler is not None else None,
        "queue": queue.arn,
        "letters": queue.depth,
        "in_flight": queue.in_flight,
        "oldest_seconds": oldest,
        "expires_in_seconds": queue.retention.total_seconds() - oldest if oldest is not None else None,
        "sources": [source.arn for source in dead.sources],
        "move_task": active_task(place.account.client("sqs"), queue.arn),
    }


def _oldest(place: Place, name: str) -> float | None:
    """Return the age of the oldest letter as CloudWatch has it, in seconds; None where it does not say.

    On a dead-letter queue the metric counts from the move, not from the first send.
    """
    now = place.waiting.now()
    try:
        answer = place.account.client("cloudwatch").get_metric_statistics(
            Namespace="AWS/SQS",
            MetricName="ApproximateAgeOfOldestMessage",
            Dimensions=[{"Name": "QueueName", "Value": name}],
            StartTime=now - timedelta(minutes=15),
            EndTime=now,
            Period=300,
            Statistics=["Maximum"],
        )
    except (ClientError, BotoCoreError):
        return None
    points = answer.get("Datapoints", ())
    return float(max(points, key=lambda point: point["Timestamp"])["Maximum"]) if points else None
