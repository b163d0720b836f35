"""Phase acknowledge: the answer to Lambda, and when each message that stays comes back.

The failure list is all message ids less those durably done, never "those that we saw fail".
Source: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surehand.declare import Handler
from surehand.declare.derived import longest_wait
from surehand.delivery import Delivery, Unreadable
from surehand.queues import Queues, Visibility
from surehand.worker.endings import Ending

Response = dict[str, Any]


def response(records: Sequence[Delivery | Unreadable], endings: Mapping[int, Ending]) -> Response:
    """Return the partial batch response: every id, once, of which not every record may be deleted."""
    kept = dict.fromkeys(
        record.message_id
        for index, record in enumerate(records)
        if (ending := endings.get(index)) is None or not ending.deleted
    )
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in kept]}


def set_visibilities(handler: Handler[Any], queues: Queues, endings: Sequence[Ending]) -> Sequence[tuple[Ending, str]]:
    """Tell SQS when each kept message comes back, and return those that it did not take, with its code."""
    changes: list[tuple[Ending, Visibility]] = []
    for ending in endings:
        handle = ending.delivery.receipt_handle
        if not ending.deleted and ending.wait is not None and handle is not None:
            changes.append((ending, Visibility(receipt_handle=handle, wait=min(ending.wait, longest_wait(handler)))))
    if not changes:
        return ()
    refused = queues.set_visibility(handler.name, [change for _, change in changes])
    return [(changes[one.index][0], one.code) for one in refused]
