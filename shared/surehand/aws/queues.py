"""Queues on SQS: visibilities and sends, by tens.

Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
(a 200 answer may hold failed entries) and API_ChangeMessageVisibilityBatch.html.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from surehand.aws.clients import AWS_ERRORS, reason
from surehand.declare.limits import BATCH_CALL, LARGEST_MESSAGE, LONGEST_VISIBILITY
from surehand.errors import Refused
from surehand.queues import Outgoing, Visibility

#: How often entries that SQS refused for a fault of its own are sent again.
_TRIES = 3


class SQSQueues:
    """The `Queues` of a service. *url_of* returns the URL of a handler's queue or raises ConfigurationError."""

    def __init__(self, client: Any, url_of: Callable[[str], str]) -> None:
        self._client = client
        self._url_of = url_of

    def set_visibility(self, handler: str, changes: Sequence[Visibility]) -> Sequence[Refused]:
        """See `Queues.set_visibility`."""
        url = self._url_of(handler)
        refused: list[Refused] = []
        for start in range(0, len(changes), BATCH_CALL):
            entries = [
                {
                    "Id": str(start + offset),
                    "ReceiptHandle": change.receipt_handle,
                    "VisibilityTimeout": _seconds(change.wait),
                }
                for offset, change in enumerate(changes[start : start + BATCH_CALL])
            ]
            try:
                answer = self._client.change_message_visibility_batch(QueueUrl=url, Entries=entries)
            except AWS_ERRORS as error:
                refused += [Refused(start + offset, reason(error)) for offset in range(len(entries))]
            else:
                refused += [Refused(int(failed["Id"]), str(failed.get("Code"))) for failed in answer.get("Failed", ())]
        return refused

    def delete(self, handler: str, receipt_handles: Sequence[str]) -> Sequence[Refused]:
        """See `Queues.delete`."""
        url = self._url_of(handler)
        refused: list[Refused] = []
        for start in range(0, len(receipt_handles), BATCH_CALL):
            chunk = receipt_handles[start : start + BATCH_CALL]
            entries = [{"Id": str(start + offset), "ReceiptHandle": handle} for offset, handle in enumerate(chunk)]
            try:
                answer = self._client.delete_message_batch(QueueUrl=url, Entries=entries)
            except AWS_ERRORS as error:
                refused += [Refused(start + offset, reason(error)) for offset in range(len(entries))]
            else:
                refused += [Refused(int(failed["Id"]), str(failed.get("Code"))) for failed in answer.get("Failed", ())]
        return refused

    def send(self, handler: str, messages: Sequence[Outgoing]) -> Sequence[Refused]:
        """See `Queues.send`."""
        url = self._url_of(handler)
        refused: list[Refused] = []
        for chunk in _chunks([(str(index), _entry(str(index), message)) for index, message in enumerate(messages)]):
            refused += self._send(url, dict(chunk))
        return sorted(refused, key=lambda one: one.index)

    def _send(self, url: str, entries: dict[str, dict[str, Any]]) -> list[Refused]:
        """Send up to ten entries; those that failed on SQS's side are sent again, the sender's own faults are not."""
        final: list[Refused] = []
        last: dict[str, str] = {}
        for _ in range(_TRIES):
            try:
                answer = self._client.send_message_batch(QueueUrl=url, Entries=list(entries.values()))
            except AWS_ERRORS as error:
                last = dict.fromkeys(entries, reason(error))
                break  # the client has retried already
            failed = answer.get("Failed", ())
            final += [Refused(int(one["Id"]), str(one.get("Code"))) for one in failed if one.get("SenderFault")]
            last = {one["Id"]: str(one.get("Code")) for one in failed if not one.get("SenderFault")}
            entries = {entry_id: entries[entry_id] for entry_id in last}
            if not entries:
                break
        return [*final, *(Refused(int(entry_id), code) for entry_id, code in last.items())]


def size_of(message: Outgoing) -> int:
    """Return the bytes that SQS counts: body, attribute names, types and values."""
    size = len(message.body.encode("utf-8", "surrogatepass"))
    for name, value in message.attributes.items():
        size += len(name.encode()) + len(str(value.get("DataType", "")).encode())
        size += len(str(value.get("StringValue", "")).encode()) + len(value.get("BinaryValue", b""))
    return size


def _entry(entry_id: str, message: Outgoing) -> dict[str, Any]:
    entry: dict[str, Any] = {"Id": entry_id, "MessageBody": message.body}
    if message.group is not None:
        entry["MessageGroupId"] = message.group
    if message.deduplication is not None:
        entry["MessageDeduplicationId"] = message.deduplication
    if message.delay:
        entry["DelaySeconds"] = _seconds(message.delay)
    if message.attributes:
        entry["MessageAttributes"] = dict(message.attributes)
    if message.trace is not None:
        trace = {"DataType": "String", "StringValue": message.trace}
        entry["MessageSystemAttributes"] = {"AWSTraceHeader": trace}
    return entry


def _chunks(entries: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[Sequence[tuple[str, dict[str, Any]]]]:
    """Cut into calls of at most ten entries and 1 MiB together."""
    chunk: list[tuple[str, dict[str, Any]]] = []
    size = 0
    for entry_id, entry in entries:
        weight = _weight(entry)
        if chunk and (len(chunk) == BATCH_CALL or size + weight > LARGEST_MESSAGE):
            yield chunk
            chunk, size = [], 0
        chunk.append((entry_id, entry))
        size += weight
    if chunk:
        yield chunk


def _weight(entry: Mapping[str, Any]) -> int:
    return size_of(Outgoing(body=entry["MessageBody"], attributes=entry.get("MessageAttributes", {})))


def _seconds(length: timedelta) -> int:
    """Round up: a message that comes back early would be deferred again and burn a receive."""
    return min(math.ceil(max(timedelta(0), length).total_seconds()), int(LONGEST_VISIBILITY.total_seconds()))
