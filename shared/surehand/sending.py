"""`send`: payloads validated, keyed, grouped and measured before the first of them leaves."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from surehand.declare import Handler
from surehand.declare.limits import LARGEST_MESSAGE, LONGEST_DELAY
from surehand.errors import NotSent, SurehandError
from surehand.queues import Outgoing, Queues

#: SQS: what a MessageGroupId may hold, up to 128 characters.
_GROUP = re.compile(r"[A-Za-z0-9!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]{1,128}")


class TooLarge(SurehandError, ValueError):
    """A message is beyond SQS's 1 MiB. Nothing was sent. The text names its index and size, never its content."""


def send(handler: Handler[Any], payloads: Sequence[Any], *, delay: timedelta, queues: Queues) -> None:
    """Send payloads to a handler's queue.

    Raises:
        NotValid, NoKey: A payload does not fit, would arrive as another, or names no operation. Nothing was sent.
        TooLarge: A payload is beyond SQS's limit. Nothing was sent.
        ValueError: The delay is outside 0 to 15 minutes, or given on FIFO, where SQS takes none per message.
        NotSent: SQS refused some of them.
    """
    if not timedelta(0) <= delay <= LONGEST_DELAY:
        raise ValueError(f"delay={delay}: SQS delays a message by 0 to 15 minutes.")
    if delay and handler.options.fifo:
        raise ValueError(f"delay={delay}: a FIFO queue takes no delay per message; '{handler.name}' is FIFO.")
    messages = [outgoing(handler, payload, delay=delay) for payload in payloads]
    for index, message in enumerate(messages):
        size = len(message.body.encode())
        if size > LARGEST_MESSAGE:
            raise TooLarge(f"Payload #{index} to '{handler.name}' has {size:,} bytes; SQS takes {LARGEST_MESSAGE:,}.")
    refused = queues.send(handler.name, messages) if messages else ()
    if refused:
        raise NotSent(handler.name, refused, len(messages))


def outgoing(handler: Handler[Any], payload: Any, *, delay: timedelta = timedelta(0)) -> Outgoing:
    """Return the message of one payload.

    On FIFO the group is tenant and group, so that two tenants never share one, and the deduplication id is fresh:
    SQS's five minutes would swallow a corrected message or our own redrive, and the ledger deduplicates. On a
    standard queue the tenant alone is the group, which makes SQS's fair queues treat tenants apart.
    """
    body, arrived = handler.payload.send(payload)
    identity = handler.identify(arrived, body)
    if not handler.options.fifo:
        group = None if identity.tenant is None else group_id(identity.tenant)
        return Outgoing(body=_text(handler, body), group=group, delay=delay)
    parts = [part for part in (identity.tenant, identity.group) if part is not None]
    return Outgoing(body=body.decode(), group=group_id(*parts), deduplication=uuid.uuid4().hex)


def _text(handler: Handler[Any], body: bytes) -> str:
    """Return the message body: the payload itself, or the envelope that a webhook's handler expects around it."""
    if handler.options.webhook is None:
        return body.decode()
    from surehand.declare.verified import by_hand

    return by_hand(handler, handler.options.webhook, body)


def group_id(*parts: str) -> str:
    """Return a MessageGroupId for a tenant and a group: readable where SQS allows it, else a digest."""
    text = parts[0] if len(parts) == 1 else "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)
    if _GROUP.fullmatch(text):
        return text
    return "sha256-" + hashlib.sha256(text.encode()).hexdigest()
