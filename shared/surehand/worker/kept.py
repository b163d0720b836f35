"""Until when SQS keeps a message: waiting beyond that would lose it in silence, without a dead letter.

`give_up_after` counts from the first claim, and SQS's retention from the sending; between them lies the time for which
the consumer was away, or a message waited behind the head of its group.
Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-lifecycle.html
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from surehand.declare import Handler, max_receive_count
from surehand.declare.options import Options
from surehand.delivery import Delivery, Unreadable
from surehand.ledger import Operation

#: What has ended is received so often, at most this far apart and a batch window, until SQS moves it; and some slack.
_RECEIVE, _SLACK = timedelta(seconds=10), timedelta(minutes=5)


def last_moment(handler: Handler[Any], deliveries: Iterable[Delivery | Unreadable]) -> datetime | None:
    """Return until when messages may wait: SQS can still move them to the dead-letter queue then, and not delete them.

    Of several copies the last one to be deleted counts. A renewal is a message of its own, with a time of its own (P7).
    """
    options = handler.options
    sent = [delivery.sent_at for delivery in deliveries if isinstance(delivery, Delivery)]
    if not sent:
        return None
    room = max_receive_count(handler) * (_RECEIVE + options.batch_window) + _SLACK
    return max(sent) + options.retention - min(room, options.retention / 4)


def within_retention(
    handler: Handler[Any], operation: Operation, deliveries: Iterable[Delivery | Unreadable]
) -> Options:
    """Return the options, with a `give_up_after` that ends before SQS deletes the operation's messages."""
    options = handler.options
    last = last_moment(handler, deliveries)
    if last is None or last - operation.started_at >= options.give_up_after:
        return options
    return replace(options, give_up_after=last - operation.started_at)
