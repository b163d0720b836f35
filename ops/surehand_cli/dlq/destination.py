"""Where a letter goes: into a queue, to a function, or nowhere.

Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html (at most ten
entries and 1 MiB together; an answer of 200 may hold failed entries).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from surehand.declare.limits import LARGEST_MESSAGE
from surehand_cli.dlq.foreign import Foreign, foreign
from surehand_cli.dlq.letter import Letter

#: How often entries that SQS refused for a fault of its own are sent again.
_TRIES = 3


@dataclass(slots=True)
class Sent:
    """What became of a send: *moves* maps a letter's id to its copy's (None: it has none), *refused* to why not."""

    moves: dict[str, str | None] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


#: Says what a letter of another service carries, or None for an ordinary letter.
Unwrap = Callable[[Letter], Foreign | None]


class Destination(Protocol):
    """Takes up to ten letters at once. At most one of a FIFO group, so that none overtakes one that is refused."""

    def send(self, letters: Sequence[Letter]) -> Sent:
        """Deliver letters and say what became of each.

        Raises:
            ClientError, BotoCoreError: Nobody knows what became of them.
        """


class Nowhere:
    """The letters are only deleted."""

    def send(self, letters: Sequence[Letter]) -> Sent:
        """See `Destination.send`."""
        return Sent(moves={letter.message_id: None for letter in letters})


class ToQueue:
    """A queue of SQS."""

    def __init__(self, client: Any, url: str, *, fifo: bool, run: str, unwrap: Unwrap = lambda _: None) -> None:
        """*unwrap* recognises foreign letters, of which only what they carry is delivered."""
        self._client = client
        self._url = url
        self._fifo = fifo
        self._run = run
        self._unwrap = unwrap

    def send(self, letters: Sequence[Letter]) -> Sent:
        """See `Destination.send`."""
        done = Sent()
        for chunk in _chunks(letters):
            self._send({str(index): letter for index, letter in enumerate(chunk)}, done)
        return done

    def _send(self, letters: dict[str, Letter], done: Sent) -> None:
        for _ in range(_TRIES):
            entries = [
                {"Id": entry, **outgoing(letter, fifo=self._fifo, run=self._run, unwrap=self._unwrap)}
                for entry, letter in letters.items()
            ]
            answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
            bodies = {entry["Id"]: entry["MessageBody"] for entry in entries}
            for one in answer.get("Successful", ()):
                letter = letters.pop(one["Id"])
                if one.get("MD5OfMessageBody") not in (None, _md5(bodies[one["Id"]])):
                    done.refused[letter.message_id] = "the copy's digest differs"
                else:
                    done.moves[letter.message_id] = one["MessageId"]
            for one in answer.get("Failed", ()):
                code = str(one.get("Code", "Unknown"))
                if one.get("SenderFault"):
                    done.refused[letters.pop(one["Id"]).message_id] = code
                else:
                    done.refused[letters[one["Id"]].message_id] = code
            if not letters:
                break
        for moved in done.moves.keys() & done.refused.keys():
            del done.refused[moved]


class ToFunction:
    """A Lambda function, invoked asynchronously with the letter's payload."""

    def __init__(self, client: Any, arn: str) -> None:
        self._client = client
        self._arn = arn

    def send(self, letters: Sequence[Letter]) -> Sent:
        """See `Destination.send`."""
        done = Sent()
        for letter in letters:
            who = foreign(letter, served=False)
            payload = (who.payload if who is not None else letter.body) or ""
            answer = self._client.invoke(FunctionName=self._arn, InvocationType="Event", Payload=payload.encode())
            if answer.get("StatusCode") == 202:
                done.moves[letter.message_id] = answer.get("ResponseMetadata", {}).get("RequestId")
            else:
                done.refused[letter.message_id] = f"status {answer.get('StatusCode')}"
        return done


def outgoing(letter: Letter, *, fifo: bool, run: str, unwrap: Unwrap = lambda _: None) -> dict[str, Any]:
    """Return the entry of a letter's copy: same body, attributes, group and trace.

    No attribute is added, since a message may have ten and the letter may have all of them. On FIFO the deduplication
    id is unique per run, so that SQS's five minutes swallow nothing that was redriven before, and stable within it, so
    that a crash between send and record is absorbed.
    """
    body, attributes = letter.body or "", letter.attributes
    if (who := unwrap(letter)) is not None:
        body, attributes = who.payload or "", {}
    entry: dict[str, Any] = {"MessageBody": body}
    if attributes:
        entry["MessageAttributes"] = {name: dict(value) for name, value in attributes.items()}
    if letter.group is not None:
        entry["MessageGroupId"] = letter.group
    if fifo:
        entry["MessageDeduplicationId"] = hashlib.sha256(f"{run}{letter.message_id}".encode()).hexdigest()
    trace = without_lineage(letter.trace)
    if trace:
        entry["MessageSystemAttributes"] = {"AWSTraceHeader": {"DataType": "String", "StringValue": trace}}
    return entry


def without_lineage(trace: str | None) -> str | None:
    """Return an X-Ray header without its `Lineage`, by which Lambda's detection of recursive loops counts hops.

    Source: https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
    """
    if trace is None:
        return None
    return ";".join(part for part in trace.split(";") if not part.startswith("Lineage="))


def weight(letter: Letter) -> int:
    """Return the bytes that SQS counts: body, and attribute names, types and values."""
    size = len((letter.body or "").encode("utf-8", "surrogatepass"))
    for name, value in letter.attributes.items():
        size += len(name.encode()) + sum(_length(part) for part in value.values())
    return size


def _length(part: object) -> int:
    return len(part) if isinstance(part, bytes) else len(str(part).encode())


def _md5(body: str) -> str:
    return hashlib.md5(body.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _chunks(letters: Sequence[Letter]) -> Iterator[list[Letter]]:
    chunk: list[Letter] = []
    size = 0
    for letter in letters:
        if chunk and (len(chunk) == 10 or size + weight(letter) > LARGEST_MESSAGE):
            yield chunk
            chunk, size = [], 0
        chunk.append(letter)
        size += weight(letter)
    if chunk:
        yield chunk


#: A destination for each ARN that a plan names; None is where purged letters go.
Destinations = Mapping[str | None, Destination]
