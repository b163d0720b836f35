"""Large bodies: which fit into a message, which are compressed, and which are stored and claimed by the worker.

SQS takes 1 MiB per message and per batch and bills by 64 KiB; an event source mapping hands over at most 6 MB.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
"""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass
from datetime import UTC, datetime

from surehand.webhooks.envelope import Envelope, encode, inline, stored
from surehand.webhooks.ports import Stored

#: Bytes of message body up to which the event travels in the message: 200 KiB.
LARGEST_MESSAGE = 200 * 1024


@dataclass(frozen=True, slots=True)
class Inline:
    """The event fits: *text* is the whole message body, *encoding* how the event's body stands in it."""

    text: str
    encoding: str


@dataclass(frozen=True, slots=True)
class Claim:
    """The event does not fit: store the body under *key* first, then send `message` of where it is.

    The key is made of source, day and digest, so a retry overwrites the same object.
    """

    envelope: Envelope
    key: str

    def message(self, where: Stored) -> str:
        """Return the message body."""
        return encode(self.envelope, stored(where))


def plan_body(envelope: Envelope, *, now: datetime, largest: int = LARGEST_MESSAGE) -> Inline | Claim:
    """Decide how an event travels. *now* is aware; *largest* is in bytes of message body, which is ASCII."""
    plain = inline(envelope.body)
    # A text of n characters is never shorter than n in JSON, so the large ones need not be written to be measured.
    if len(plain["data"]) <= largest:
        text = encode(envelope, plain)
        if len(text) <= largest:
            return Inline(text, str(plain["encoding"]))
    packed = gzip.compress(envelope.body, compresslevel=6, mtime=0)
    if len(packed) * 4 // 3 <= largest:
        text = encode(envelope, {"encoding": "gzip+base64", "data": base64.b64encode(packed).decode("ascii")})
        if len(text) <= largest:
            return Inline(text, "gzip+base64")
    day = now.astimezone(UTC)
    return Claim(envelope, f"{envelope.source}/{day:%Y/%m/%d}/{envelope.sha256}")
