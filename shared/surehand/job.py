"""What a handler may know about the attempt it runs in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

from surehand.cursors import LocalCursors, read_value, write_value

C = TypeVar("C")


class JobCursors(Protocol):
    """Where an attempt's cursors are kept: the ledger, or the memory of a test."""

    def load(self, shard: str) -> str | None:
        """Return the JSON text that was saved last, or None.

        Raises:
            LedgerUnavailable: It could not be read.
        """

    def save(self, shard: str, text: str, writes: Sequence[Mapping[str, Any]]) -> None:
        """Keep a JSON text, and make the caller's own writes with it.

        Raises:
            BaseException: The run is over: it is continued elsewhere, or belongs to somebody else by now.
            LedgerUnavailable: It could not be saved.
            WritesRefused: One of the caller's own writes was refused; nothing was saved.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One attempt at an operation, as the handler's second argument.

    Attributes:
        operation: The operation's id: a JSON array of handler, tenant and key parts. Equal for every delivery,
            attempt and redrive of the same piece of work.
        tenant: The value of the declared tenant field, or None.
        attempt: Which attempt this is, from 1. Deferrals, hand-overs and unstarted deliveries do not count; a redrive
            starts again at 1.
        last_attempt: Whether a failure of this attempt is final (`max_attempts` is reached), unless it moves a cursor.
        interrupted: Whether an earlier attempt ended without an outcome (killed, timed out or `Unknown`), so that its
            effect may or may not have happened.
        deadline: When Lambda ends this invocation (aware, UTC). The handler is interrupted shortly before.
        sent_at: When the message was sent (aware, UTC; SQS's SentTimestamp).
        attributes: The message's string attributes, and what an envelope says of its id and type.
    """

    operation: str
    tenant: str | None
    attempt: int
    last_attempt: bool
    interrupted: bool
    deadline: datetime
    sent_at: datetime
    attributes: Mapping[str, str] = field(default_factory=dict)
    cursors: JobCursors = field(default_factory=LocalCursors, repr=False, compare=False)

    def key(self, effect: str) -> str:
        """Return the idempotency key for one effect of this operation: 64 hexadecimal characters.

        The same for every attempt, redrive and release of the operation, and for none other. Hand it to the provider
        with the request; *effect* tells several effects of one handler apart ("charge", "mail").
        """
        return hashlib.sha256(json.dumps([self.operation, effect], ensure_ascii=True).encode()).hexdigest()

    def cursor(self, of: type[C], *, shard: str = "") -> C | None:
        """Return the cursor that this operation saved last, as *of*; None if it has saved none.

        A cursor belongs to its operation: it outlives attempts, hand-overs and redrives, and is never carried over to
        another one. *of* is anything that pydantic can validate; *shard* tells several cursors apart.

        Raises:
            CursorUnreadable: What was saved is no *of* (its type has changed). Uncaught, it rejects the message with
                `schedule.cursor`: deploy a type that reads the old one too (`Old | New`), and redrive.
            LedgerUnavailable: It could not be read; uncaught, it is a failed attempt.
            ValueError: *shard* is longer than 100 characters.
        """
        text = self.cursors.load(_named(shard))
        return None if text is None else read_value(of, text)

    def save_cursor(self, value: object, *, shard: str = "", with_writes: Sequence[Mapping[str, Any]] = ()) -> None:
        """Save how far this operation has got. Call it behind each page, when the page's effects have happened.

        If the time left may not be enough for another page, this does not return: it leaves the handler, and the
        operation continues in a new invocation, within seconds and without counting an attempt. So does a save for
        which it is too late because another invocation has claimed the operation: nothing is saved then. Either way it
        is by a BaseException; `finally` blocks and `with` statements end as usual.

        Args:
            value: Anything that pydantic can write as JSON, up to 32 KiB, but not None.
            shard: Tells several cursors of one operation apart; at most 100 characters.
            with_writes: DynamoDB writes of your own in the same transaction, at most 98, in the form of the low-level
                client: `{"Put": {"TableName": …, "Item": …}}`, `Update`, `Delete` or `ConditionCheck`. The function
                needs the permission for them.

        Raises:
            TypeError: *value* is no JSON or too large, or *with_writes* has another form; nothing was written.
            ValueError: *shard* is longer than 100 characters; nothing was written.
            WritesRefused: A condition of *with_writes* was not met; neither they nor the cursor were written.
            LedgerUnavailable: Nobody knows whether it was saved; uncaught, it is a failed attempt.
        """
        text = write_value(value)
        self.cursors.save(_named(shard), text, _checked(with_writes))


_KINDS = frozenset({"Put", "Update", "Delete", "ConditionCheck"})
#: DynamoDB takes 100 actions in a transaction, and two of them are ours.
_MOST_WRITES = 98


def _named(shard: str) -> str:
    if len(shard) > 100:
        raise ValueError(f"a shard is named with at most 100 characters, not {len(shard)}")
    return shard


def _checked(writes: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    if len(writes) > _MOST_WRITES:
        raise TypeError(f"with_writes: {len(writes)} writes, and one transaction takes {_MOST_WRITES} of yours")
    for index, write in enumerate(writes):
        if not isinstance(write, Mapping) or len(write) != 1 or not _KINDS.issuperset(write):
            raise TypeError(f"with_writes[{index}] is no mapping with exactly one of {', '.join(sorted(_KINDS))}")
    return writes
