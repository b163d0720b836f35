"""The declaration of a handler that producers send messages to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Never, Protocol, TypeVar, overload

from surehand.backoff import Backoff
from surehand.declare.handler import Handler
from surehand.declare.identity import Fields
from surehand.declare.options import Envelope, OnUnknown, Options, check_name, refuse_unknown
from surehand.declare.several import several
from surehand.errors import DeclarationError
from surehand.job import Job

P = TypeVar("P")


class Declare(Protocol):
    """What a declaration returns: it takes the plain function and makes it a `Handler` of its payload type."""

    @overload
    def __call__(self, function: Callable[[P, Job], object], /) -> Handler[P]: ...
    @overload
    def __call__(self, function: Callable[[P], object], /) -> Handler[P]: ...


def queue(
    name: str,
    *,
    key: Fields | Callable[[Any], object],
    tenant: Fields | None = None,
    group: Fields | None = None,
    envelope: Envelope = "none",
    timeout: timedelta = timedelta(seconds=30),
    max_attempts: int = 5,
    backoff: Backoff = Backoff(),
    give_up_after: timedelta = timedelta(days=3),
    on_unknown: OnUnknown = "retry",
    sends_to: Sequence[Handler[Any] | str] = (),
    batch_size: int = 10,
    batch_window: timedelta = timedelta(0),
    parallel: int = 1,
    max_concurrency: int = 10,
    retention: timedelta = timedelta(days=4),
    memory: int = 512,
    **misspelt: Never,
) -> Declare:
    """Declare a function as the handler of a queue.

    Args:
        name: Identity for ever: of queue, ledger keys and alarms. Lower-case letters, digits, hyphens; at most 40.
        key: The attributes (dotted for nested ones) that name one piece of work, or a function of the payload that
            returns them. Part of the ledger's key and of log lines: no personal data.
        tenant: The attributes that name the customer. Part of the operation's id; on a standard queue also the
            MessageGroupId, so that SQS treats tenants fairly.
        group: Makes the queue FIFO; messages of one group (within a tenant) are processed in order.
        envelope: Unwrap SNS notifications (not raw ones) or EventBridge events around the payload.
        timeout: Lambda's limit for a whole batch, 1 s to 15 min.
        max_attempts: Runs that end in Retry, Unknown or an exception before the message is a dead letter.
        backoff: The waits between attempts.
        give_up_after: Bounds all attempts and deferrals together, from the first claim; less than *retention*, which
            counts from the sending and bounds them, too.
        on_unknown: After an interruption or `Unknown`: "retry" with the same key, "hold" for an operator, or a
            function (payload, job) that asks the provider and returns True (applied), False (not) or None (hold).
        sends_to: The handlers that this one sends to; gives it their queue URLs and the permission.
        batch_size: Records in one invocation; 1 to 10, or to 10,000 with a window on a standard queue.
        batch_window: How long Lambda gathers a batch; 0 to 300 s, not on FIFO.
        parallel: Records of a batch that run at once (threads; for async functions, tasks of one event loop). On
            FIFO: groups at once.
        max_concurrency: Invocations at once, 2 to 1,000.
        retention: How long SQS keeps a message, 60 s to 13 days.
        memory: MB, 128 to 10,240.

    Raises:
        DeclarationError: At import, if any of this cannot work.
    """
    check_name(name, "Handler")
    known = [*sorted(queue.__kwdefaults__ or {}), "key"]
    refuse_unknown(name, misspelt, known, what="queue()")
    if key is None:
        raise DeclarationError(
            f"Handler '{name}': a queue needs a key. Name the attributes that identify one piece of work, or use "
            "key=payload_hash() if nothing else does."
        )
    options = Options(
        key=key,
        tenant=tenant,
        group=group,
        envelope=envelope,
        timeout=timeout,
        max_attempts=max_attempts,
        backoff=backoff,
        give_up_after=give_up_after,
        on_unknown=on_unknown,
        sends_to=several(sends_to, "sends_to", of=f"Handler '{name}'"),
        batch_size=batch_size,
        batch_window=batch_window,
        parallel=parallel,
        max_concurrency=max_concurrency,
        retention=retention,
        memory=memory,
    )

    def declare(function: Callable[..., object], /) -> Handler[Any]:
        return Handler(function, name, "queue", options)

    return declare
