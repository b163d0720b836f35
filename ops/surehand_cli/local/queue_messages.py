"""Samples that are sent straight to a handler's queue."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from surehand_cli.local.deployed import Deployed
from surehand_cli.local.samples import Sent


def queue_message(handler: str, body: str, *, group: str | None = None) -> Callable[[Deployed], Sent]:
    """Return a sender of *body*, as it is. *group* is the message group on a FIFO queue."""

    def send(deployed: Deployed) -> Sent:
        url = deployed.queue(deployed.service[handler])
        if group is None:
            sent = deployed.sqs.send_message(QueueUrl=url, MessageBody=body)
        else:
            sent = deployed.sqs.send_message(
                QueueUrl=url, MessageBody=body, MessageGroupId=group, MessageDeduplicationId=str(uuid4())
            )
        return Sent(message_id=sent["MessageId"])

    return send
