"""A declared function: what it is called, what it takes and what Lambda calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Generic, Literal, TypeVar

from surehand.declare.identity import (
    Fields,
    Identity,
    PayloadHash,
    bounded,
    fingerprint,
    free,
    joined,
    operation_id,
    parts_from,
    parts_of,
)
from surehand.declare.naming import check_fields, check_hashed
from surehand.declare.options import Options, check
from surehand.declare.payload import PayloadType
from surehand.declare.signature import TAKEN, payload_of
from surehand.errors import DeclarationError
from surehand.job import Job

P = TypeVar("P")

Trigger = Literal["queue", "schedule", "webhook"]


class Handler(Generic[P]):
    """One Lambda function, one queue and one dead-letter queue, made from a plain function.

    Call it as Lambda does, `handler(event, context)`; run the function itself with `handler.run(payload)`; put
    messages into its queue with `handler.send(payload)`. Hashable, by identity.
    """

    def __init__(
        self,
        function: Callable[..., object],
        name: str,
        trigger: Trigger,
        options: Options,
        *,
        payload: PayloadType[P] | None = None,
    ) -> None:
        check(name, options)
        self.name = name
        self.trigger: Trigger = trigger
        self.options = options
        self.function = function
        annotation, self.takes_job = payload_of(function, of=name)
        self.payload: PayloadType[P] = payload or PayloadType(annotation, of=name)
        self.is_async = inspect.iscoroutinefunction(function)
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__wrapped__ = function
        for what in ("key", "tenant", "group"):
            check_fields(name, what, getattr(options, what), self.payload.annotation)
        if isinstance(options.key, PayloadHash):
            check_hashed(name, options.key, self.payload)
        for taken in (self, function):
            setattr(taken, TAKEN, name)
        from surehand import entrypoint  # the one lazy import that the contracts allow: importing costs no AWS

        entrypoint.declared(self)

    def __repr__(self) -> str:
        return f"<Handler '{self.name}': {self.__module__}.{self.__qualname__}>"

    def __call__(self, event: Any, context: Any = None) -> dict[str, Any]:
        """Lambda's entry: process one SQS event.

        Returns:
            `{"batchItemFailures": [{"itemIdentifier": id}, …]}`: every message id of the event less those whose
            operation has durably succeeded or been canceled. SQS keeps the listed ones.

        Raises:
            UnreadableEvent: It is no SQS event, or a record has no message id; nothing ran.
            ConfigurationError: A `SUREHAND_*` variable is missing.
        """
        from surehand import entrypoint

        return entrypoint.handle(self, event, context)

    def run(self, payload: P, job: Job | None = None) -> object:
        """Call the function itself, without queue or ledger. *job* defaults to a first attempt of that payload.

        For an async function this returns its coroutine.
        """
        if not self.takes_job:
            return self.function(payload)
        return self.function(payload, job if job is not None else self.first_job(payload))

    def send(self, *payloads: P, delay: timedelta = timedelta(0)) -> None:
        """Put payloads into the handler's queue, by tens, each validated first.

        *delay* keeps standard messages back for 0 to 15 minutes. On FIFO the group is the declared one and the
        deduplication id is fresh: the ledger deduplicates.

        Raises:
            NotValid, NoKey: A payload does not fit or names no operation; nothing was sent.
            NotSent: SQS refused some; its `refused` says which. The others were accepted.
            ConfigurationError: The variable with the queue's URL is missing: declare `sends_to`.
        """
        from surehand import entrypoint

        entrypoint.send(self, payloads, delay)

    def identify(self, payload: P, body: str | bytes, *, key: str | None = None, tenant: str | None = None) -> Identity:
        """Return the operation that a validated payload belongs to.

        *key* and *tenant* are what the trigger names; declared fields take their place. A webhook's payload without
        its envelope has the key that the scheme's rule gives to its body.

        Raises:
            NoKey: A key, tenant or group field is missing, empty, of a type that cannot name an operation, or too
                long; or the key begins with "!".
            Exception: Whatever a key function of the user's own raises.
        """
        if self.options.tenant is not None:
            tenant = self._text(payload, self.options.tenant, "tenant")
        return Identity(
            operation=operation_id(self.name, bounded(tenant, "tenant"), free(self._key_parts(payload, body, key))),
            tenant=tenant,
            group=bounded(self._text(payload, self.options.group, "group"), "group"),
            fingerprints=(fingerprint(body), fingerprint(self.payload.declared(payload))),
        )

    def first_job(self, payload: P) -> Job:
        """Return the Job of a first attempt at *payload*, sent now, with the whole timeout left."""
        from surehand import entrypoint

        now = entrypoint.now()
        identity = self.identify(payload, self.payload.dump(payload))
        return Job(
            operation=identity.operation,
            tenant=identity.tenant,
            attempt=1,
            last_attempt=self.options.max_attempts == 1,
            interrupted=False,
            deadline=now + self.options.timeout,
            sent_at=now,
        )

    def _key_parts(self, payload: P, body: str | bytes, named: str | None) -> tuple[str | int | bool, ...]:
        key, receiving = self.options.key, self.options.webhook
        if key is None and receiving is not None:
            return (named if named is not None else receiving.key_of(self.name, body),)
        if key is None:
            raise DeclarationError(
                f"Handler '{self.name}' has no key; a {self.trigger} handler's trigger must give one."
            )
        if isinstance(key, PayloadHash):
            return (key.over(payload, self.payload.given(payload)),)
        return parts_from(key, payload) if callable(key) else parts_of(payload, key, what="key")

    def _text(self, payload: P, fields: Fields | None, what: str) -> str | None:
        return None if fields is None else joined(parts_of(payload, fields, what=what))
