"""Phases parse, validate and identify: from an SQS record to a message with its operation, or to a lasting no.

Nothing that a record contains can stop its neighbours: whatever goes wrong in here is that record's own end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from surehand.codes import code_of_type
from surehand.declare import Handler, Identity, NoKey, NotValid
from surehand.declare.envelopes import Unwrapped, scheduled, unwrap
from surehand.delivery import Delivery, Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A delivery whose operation is known. *index* is its place in the event, from 0."""

    index: int
    delivery: Delivery
    payload: Any
    identity: Identity
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def lane(self) -> str | None:
        """The FIFO group that it must keep its place in, or None on a standard queue."""
        return self.delivery.group


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A delivery that failed permanently before its operation was known. *detail* names fields, never values."""

    index: int
    delivery: Delivery | Unreadable
    phase: str
    code: str
    detail: str

    @property
    def lane(self) -> str | None:
        """The FIFO group, if the record has one."""
        return self.delivery.group


def receive(handler: Handler[Any], records: Sequence[Delivery | Unreadable]) -> list[Message | Refused]:
    """Turn records into messages, in order; each that cannot be is refused for itself."""
    return [_receive(handler, index, record) for index, record in enumerate(records)]


def _receive(handler: Handler[Any], index: int, record: Delivery | Unreadable) -> Message | Refused:
    if isinstance(record, Unreadable):
        return Refused(index=index, delivery=record, phase="parse", code="input.malformed", detail=record.problem)
    phase = "validate"
    try:
        timing = handler.options.timing
        unwrapped = unwrap(handler.options.envelope, record) if timing is None else scheduled(timing.when, record)
        payload = handler.payload.validate(unwrapped.body)
        phase = "identify"
        identity = handler.identify(payload, unwrapped.body)
    except NotValid as error:
        return Refused(index=index, delivery=record, phase=phase, code=error.code, detail=str(error))
    except NoKey as error:
        return Refused(index=index, delivery=record, phase=phase, code="input.key", detail=str(error))
    except UnicodeError:
        return Refused(index=index, delivery=record, phase=phase, code="input.malformed", detail="not Unicode text")
    except Exception as error:  # noqa: BLE001 - a validator or key function of the user's own; the type alone is safe to tell
        return Refused(index=index, delivery=record, phase=phase, code=code_of_type(error), detail=type(error).__name__)
    return Message(
        index=index, delivery=record, payload=payload, identity=identity, attributes=_attributes(record, unwrapped)
    )


def _attributes(record: Delivery, unwrapped: Unwrapped) -> Mapping[str, str]:
    return {**record.attributes, **unwrapped.attributes} if unwrapped.attributes else record.attributes
