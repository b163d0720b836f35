"""Queues that only record: what was sent, and when each message in flight shall come back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from surehand.errors import Refused
from surehand.queues import Outgoing, Visibility


class RecordingQueues:
    """The `Queues` of a test in which nothing is delivered by itself.

    `sent` maps a handler's name to its messages; `hidden` maps receipt handles to the visibility that was set last;
    `deleted` lists those of the messages that were deleted before the answer.
    """

    def __init__(self) -> None:
        self.sent: dict[str, list[Outgoing]] = defaultdict(list)
        self.hidden: dict[str, timedelta] = {}
        self.deleted: list[str] = []

    def set_visibility(self, handler: str, changes: Sequence[Visibility]) -> Sequence[Refused]:  # noqa: ARG002
        """See `Queues.set_visibility`."""
        self.hidden |= {change.receipt_handle: change.wait for change in changes}
        return ()

    def delete(self, handler: str, receipt_handles: Sequence[str]) -> Sequence[Refused]:  # noqa: ARG002
        """See `Queues.delete`."""
        self.deleted += receipt_handles
        return ()

    def send(self, handler: str, messages: Sequence[Outgoing]) -> Sequence[Refused]:
        """See `Queues.send`."""
        self.sent[handler] += messages
        return ()
