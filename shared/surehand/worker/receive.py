"""Phases parse, validate and identify: from an SQS record to a message with its operation, or to a lasting no.

Nothing that a record contains can stop its neighbours: whatever goes wrong in here is that record's own end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from surehand.codes import code_of_type
from surehand.declare import Handler, Identity, NoKey, NotValid, operation_id
from surehand.declare.envelopes import Unwrapped, scheduled, unwrap
from surehand.declare.identity import bearer_id, fingerprint
from surehand.delivery import Delivery, Unreadable
from surehand.worker.origin import Origin, origin

if TYPE_CHECKING:
    from surehand.webhooks.unwrap import Fetch


@dataclass(frozen=True, slots=True)
class Notice:
    """Something about a delivery that decides nothing and must be told: a code, and a detail without payload values."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A delivery whose operation is known. *index* is its place in the event, from 0.

    *mark* is the fingerprint of a webhook's unsigned id: the operation under another mark is a suspected replay.
    *unsigned* is the slot that names the id's first bearer, and *notice* what comparing them has shown.
    """

    index: int
    delivery: Delivery
    payload: Any
    identity: Identity
    attributes: Mapping[str, str] = field(default_factory=dict)
    mark: str | None = None
    unsigned: str | None = None
    notice: Notice | None = None

    @property
    def lane(self) -> str | None:
        """The FIFO group that it must keep its place in, or None on a standard queue."""
        return self.delivery.group


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A delivery that failed permanently before its operation was known. *detail* names fields, never values.

    *origin* is where an exception of the user's own comes from: of a validator or a key function.
    """

    index: int
    delivery: Delivery | Unreadable
    phase: str
    code: str
    detail: str
    origin: Origin | None = None

    @property
    def lane(self) -> str | None:
        """The FIFO group, if the record has one."""
        return self.delivery.group


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """A webhook whose large body cannot be fetched at the moment: nothing runs, and the message is put back.

    *operation* is the id that its envelope names; None where the body must say. *detail* is a type of exception.
    """

    index: int
    delivery: Delivery
    operation: str | None
    tenant: str | None
    code: str = "provider.body"
    detail: str = ""


def receive(
    handler: Handler[Any], records: Sequence[Delivery | Unreadable], *, fetch: Fetch | None = None
) -> list[Message | Refused | Away]:
    """Turn records into messages, in order; each that cannot be is refused for itself.

    *fetch* returns the large bodies of webhooks, which are stored beside the queue.
    """
    return [_receive(handler, index, record, fetch) for index, record in enumerate(records)]


def _receive(
    handler: Handler[Any], index: int, record: Delivery | Unreadable, fetch: Fetch | None
) -> Message | Refused | Away:
    if isinstance(record, Unreadable):
        return Refused(index=index, delivery=record, phase="parse", code="input.malformed", detail=record.problem)
    phase = "validate"
    try:
        unwrapped = _unwrapped(handler, index, record, fetch)
        if isinstance(unwrapped, Away):
            return unwrapped
        payload = handler.payload.validate(unwrapped.body)
        phase = "identify"
        identity = handler.identify(payload, unwrapped.body, key=unwrapped.key, tenant=unwrapped.tenant)
    except NotValid as error:
        return Refused(index=index, delivery=record, phase=phase, code=error.code, detail=str(error))
    except NoKey as error:
        return Refused(index=index, delivery=record, phase=phase, code="input.key", detail=str(error))
    except UnicodeError:
        return Refused(index=index, delivery=record, phase=phase, code="input.malformed", detail="not Unicode text")
    except KeyboardInterrupt:  # the operator's own, while all is still to be begun
        raise
    except BaseException as error:  # noqa: BLE001 - of a validator or key function of the user's own; the type alone is safe to tell
        return Refused(
            index=index,
            delivery=record,
            phase=phase,
            code=code_of_type(error),
            detail=type(error).__name__,
            origin=origin(error),
        )
    mark = slot = None
    if unwrapped.unsigned_id is not None:
        mark = fingerprint(unwrapped.unsigned_id)
        slot = bearer_id(handler.name, unwrapped.tenant, unwrapped.unsigned_id)
        identity = replace(identity, fingerprints=(*identity.fingerprints, mark))
    return Message(
        index=index,
        delivery=record,
        payload=payload,
        identity=identity,
        attributes=_attributes(record, unwrapped),
        mark=mark,
        unsigned=slot,
    )


def _unwrapped(handler: Handler[Any], index: int, record: Delivery, fetch: Fetch | None) -> Unwrapped | Away:
    options = handler.options
    if options.timing is not None:
        return scheduled(options.timing.when, record)
    if options.webhook is None:
        return unwrap(options.envelope, record)
    from surehand.declare.verified import verified  # only webhook handlers pay for importing it
    from surehand.webhooks.unwrap import BodyAway

    try:
        return verified(handler, record, fetch)
    except BodyAway as away:
        known = options.key is None and options.tenant is None
        return Away(
            index=index,
            delivery=record,
            operation=operation_id(handler.name, away.tenant, (away.key,)) if known else None,
            tenant=away.tenant,
            detail=type(away.__cause__).__name__ if away.__cause__ is not None else "",
        )


def _attributes(record: Delivery, unwrapped: Unwrapped) -> Mapping[str, str]:
    return {**record.attributes, **unwrapped.attributes} if unwrapped.attributes else record.attributes
