"""Receiving dead letters: SQS has no peek, so what is looked at is held for a while and then released.

Facts that shape this (design reference "redrive", 4.3): a receive hides the message and raises its receive count; at
most 120,000 messages of a queue are in flight at once; of a FIFO group one receive returns at most 10 messages, and
the rest of the group cannot be reached until those are deleted or visible again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from surehand_cli.account.waiting import Waiting
from surehand_cli.dlq.letter import SYSTEM_ATTRIBUTES, Letter, received

#: The shortest and the longest time for which a scan hides what it looks at.
SHORTEST, LONGEST = timedelta(seconds=60), timedelta(minutes=30)
#: Messages that a scan looks at in a second, before it has measured it.
_PER_SECOND = 100
#: What was looked at stays hidden for so many times the rest of the pass, as measured.
_CAUTION = 3
#: Below AWS's limit of 120,000, which the consumers of the queue share.
MOST_IN_FLIGHT = 100_000
#: Long polling asks all of SQS's servers, short polling only some: so one empty answer says something.
_POLL_SECONDS = 1
#: Empty answers in a row after which a queue counts as empty, whatever its approximate counts say.
_EMPTIES = 3
_CALL = 10
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Received:
    """A letter in flight: its receipt handle, and when SQS shows it to others again."""

    letter: Letter
    handle: str
    until: datetime


def hiding(depth: int, *, seen: int = 0, elapsed: timedelta = timedelta(0), longest: timedelta = LONGEST) -> timedelta:
    """Return for how long to hide what is looked at next, so that the pass does not meet it again before its end.

    *seen* messages of about *depth* have taken *elapsed* so far.
    """
    rest = max(0, depth - seen)
    expected = elapsed * (rest / seen) if seen else timedelta(seconds=rest / _PER_SECOND)
    return min(longest, SHORTEST + _CAUTION * expected)


class Scan:
    """One pass over a queue of about *depth* messages. Remembers the ids it has seen, in 16 bytes each."""

    def __init__(self, client: Any, url: str, *, depth: int, waiting: Waiting, longest: timedelta = LONGEST) -> None:
        self._client = client
        self._url = url
        self._depth = depth
        self._longest = longest
        self._waiting = waiting
        self._began = waiting.now()
        self._received = 0
        self._seen: set[bytes] = set()
        self._repeats = 0

    @property
    def seen(self) -> int:
        """How many different messages it has met."""
        return len(self._seen)

    def batches(self) -> Iterator[tuple[Sequence[Received], Sequence[Received]]]:
        """Yield what is received and what of it is new, by up to ten, until the queue shows nothing new.

        A letter that comes again (its visibility has ended meanwhile) has a new handle.

        Raises:
            ClientError, BotoCoreError: SQS refused or could not be reached.
        """
        empties = 0
        while empties < _EMPTIES and not self._waiting.stopped:
            batch = self.receive()
            if not batch:
                empties += 1
                if self._visible() == 0:
                    return
                continue
            empties = 0
            new = [one for one in batch if self._is_new(one.letter.message_id)]
            self._repeats = 0 if new else self._repeats + 1
            yield batch, new
            if self._repeats > max(_EMPTIES, max(self.seen, self._depth) // _CALL):
                return

    def receive(self) -> list[Received]:
        """Receive up to ten messages.

        Raises:
            ClientError, BotoCoreError: SQS refused or could not be reached.
        """
        now = self._waiting.now()
        visibility = hiding(self._depth, seen=self._received, elapsed=now - self._began, longest=self._longest)
        answer = self._client.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=_CALL,
            VisibilityTimeout=int(visibility.total_seconds()),
            WaitTimeSeconds=_POLL_SECONDS,
            MessageSystemAttributeNames=list(SYSTEM_ATTRIBUTES),
            MessageAttributeNames=["All"],
        )
        messages = answer.get("Messages", ())
        self._received += len(messages)
        until = now + timedelta(seconds=int(visibility.total_seconds()))
        return [Received(received(message), message["ReceiptHandle"], until) for message in messages]

    def _is_new(self, message_id: str) -> bool:
        key = bytes.fromhex(message_id.replace("-", "")) if len(message_id) == 36 else message_id.encode()
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _visible(self) -> int:
        return count(self._client, self._url, "ApproximateNumberOfMessages")


def count(client: Any, url: str, name: str) -> int:
    """Return one of SQS's approximate counts of a queue."""
    answer = client.get_queue_attributes(QueueUrl=url, AttributeNames=[name])
    return int(answer.get("Attributes", {}).get(name, "0"))


def release(client: Any, url: str, handles: Iterable[str]) -> int:
    """Make messages visible again at once; return how many could not be (they come back by themselves).

    Many are released eight calls at a time.

    Raises:
        ClientError, BotoCoreError: SQS refused the call or could not be reached.
    """
    source = iter(handles)
    failed = 0
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while part := [call for _ in range(_AT_ONCE) if (call := list(itertools.islice(source, _CALL)))]:
            failed += sum(pool.map(lambda call: _show(client, url, call, timedelta(0)), part))
    return failed


def extend(client: Any, url: str, held: Sequence[Received], length: timedelta) -> list[str]:
    """Hide messages for *length* from now on; return the ids of those that could not be.

    Raises:
        ClientError, BotoCoreError: SQS refused the call or could not be reached.
    """
    lost = []
    for start in range(0, len(held), _CALL):
        chunk = held[start : start + _CALL]
        entries = _entries([one.handle for one in chunk], length)
        answer = client.change_message_visibility_batch(QueueUrl=url, Entries=entries)
        lost += [chunk[int(failed["Id"])].letter.message_id for failed in answer.get("Failed", ())]
    return lost


def _show(client: Any, url: str, handles: Sequence[str], length: timedelta) -> int:
    answer = client.change_message_visibility_batch(QueueUrl=url, Entries=_entries(handles, length))
    return len(answer.get("Failed", ()))


def _entries(handles: Sequence[str], length: timedelta) -> list[dict[str, Any]]:
    seconds = int(length.total_seconds())
    return [
        {"Id": str(index), "ReceiptHandle": handle, "VisibilityTimeout": seconds}
        for index, handle in enumerate(handles)
    ]
