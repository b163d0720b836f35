"""Samples that are sent straight to a handler's queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from surehand.declare.identity import NoKey
from surehand.declare.payload import NotValid
from surehand_cli.local.deployed import Deployed
from surehand_cli.local.samples import Sent
from surehand_cli.problem import Problem

if TYPE_CHECKING:
    from types_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef


@dataclass(frozen=True, slots=True)
class QueueMessage:
    """A message for the queue of *handler*. *body* is sent as it is; *group* is its message group on a FIFO queue."""

    handler: str
    body: str
    group: str | None = None

    def __call__(self, deployed: Deployed) -> Sent:
        """Send it."""
        (sent,) = send_together(deployed, [self])
        return sent


def send_together(deployed: Deployed, messages: Sequence[QueueMessage]) -> Sequence[Sent]:
    """Send messages by tens, in order, so that the emulator makes few batches of them and starts few functions.

    Raises:
        Problem: SQS refused one.
    """
    sent: dict[int, Sent] = {}
    for handler in dict.fromkeys(message.handler for message in messages):
        places = [place for place, message in enumerate(messages) if message.handler == handler]
        for begin in range(0, len(places), 10):
            entries = [_entry(place, messages[place]) for place in places[begin : begin + 10]]
            answer = deployed.sqs.send_message_batch(
                QueueUrl=deployed.queue(deployed.service[handler]), Entries=entries
            )
            for refused in answer.get("Failed", []):
                raise Problem(f"a sample for '{handler}' could not be sent: {refused['Code']}")
            for entry in answer["Successful"]:
                place = int(entry["Id"])
                operation = _operation(deployed, messages[place])
                sent[place] = Sent(message_id=entry["MessageId"], operation=operation)
    return [sent[place] for place in range(len(messages))]


def _operation(deployed: Deployed, message: QueueMessage) -> str | None:
    """Return the operation that a body names; None for one that names none, as samples of bad input."""
    handler = deployed.service[message.handler]
    try:
        return handler.identify(handler.payload.validate(message.body), message.body).operation
    except (NotValid, NoKey):
        return None


def _entry(place: int, message: QueueMessage) -> SendMessageBatchRequestEntryTypeDef:
    entry: SendMessageBatchRequestEntryTypeDef = {"Id": str(place), "MessageBody": message.body}
    if message.group is not None:
        entry["MessageGroupId"] = message.group
        entry["MessageDeduplicationId"] = str(uuid4())
    return entry
