"""What the engine needs of queues and of time. Two implementations each: AWS's and the one in `surehand.testing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from surehand.errors import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One message to be sent. *attributes* have SQS's wire shape (`DataType`, `StringValue`, `BinaryValue`)."""

    body: str
    group: str | None = None
    deduplication: str | None = None
    delay: timedelta = timedelta(0)
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    trace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """A message in flight and how long it shall stay hidden from now on (0 to 12 h, whole seconds upwards)."""

    receipt_handle: str
    wait: timedelta


class Queues(Protocol):
    """The queues of a service, addressed by handler name."""

    def set_visibility(self, handler: str, changes: Sequence[Visibility]) -> Sequence[Refused]:
        """Set the remaining invisibility of messages in flight.

        Returns those that were not changed, with SQS's code: they come back when the queue's own visibility timeout
        ends. Never raises for an AWS error, since nothing depends on it but timing.
        """

    def delete(self, handler: str, receipt_handles: Sequence[str]) -> Sequence[Refused]:
        """Delete messages in flight at once, instead of by the answer to Lambda, and return those that were not.

        For messages whose fate is durable, before something runs that may take the process and its answer with it.
        """

    def send(self, handler: str, messages: Sequence[Outgoing]) -> Sequence[Refused]:
        """Send messages, by tens, and return those that SQS did not accept after retries.

        Raises:
            ConfigurationError: No URL is known for that handler's queue.
        """


class Clock(Protocol):
    """Time, injected: the real one lives in `entrypoint`, a settable one in `surehand.testing`."""

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
