"""Which operation a dead letter is about: by the same steps as the function itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surehand import Handler
from surehand.declare import rejection_id
from surehand.delivery import Delivery
from surehand.worker.receive import Away, Message, receive
from surehand_cli.dlq.letter import Letter, strings


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified:
    """The operation that a letter names, or, where it names none, the record of its rejection and why.

    *problem* is the failure code that the present declarations give it; *detail* names fields, never values.
    """

    operation: str
    handler: str
    tenant: str | None = None
    fingerprints: tuple[str, ...] = ()
    problem: str | None = None
    detail: str | None = None


def identify(letter: Letter, handler: Handler[Any]) -> Identified | None:
    """Return what a letter is about; None if its body was not kept, or lies elsewhere and alone would say it."""
    if letter.body is None:
        return None
    delivery = Delivery(
        message_id=letter.message_id,
        receipt_handle="none",
        body=letter.body,
        receive_count=letter.receive_count,
        sent_at=letter.sent_at,
        received_at=letter.sent_at,
        group=letter.group,
        trace=letter.trace,
        attributes=strings(letter),
        raw_attributes=_as_delivered(letter.attributes),
    )
    (one,) = receive(handler, [delivery])
    if isinstance(one, Message):
        return Identified(
            operation=one.identity.operation,
            handler=handler.name,
            tenant=one.identity.tenant,
            fingerprints=one.identity.fingerprints,
        )
    if isinstance(one, Away) and one.operation is not None:  # its large body lies in S3, and its envelope names it
        return Identified(operation=one.operation, handler=handler.name, tenant=one.tenant)
    if isinstance(one, Away):  # a webhook's large body, which is stored beside the queue and not fetched for a look
        if one.operation is None:
            return None
        return Identified(operation=one.operation, handler=handler.name, tenant=one.tenant)
    return Identified(
        operation=rejection_id(handler.name, letter.message_id),
        handler=handler.name,
        problem=one.code,
        detail=one.detail,
    )


def _as_delivered(attributes: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Lambda's events spell the names of an attribute's parts with a small first letter."""
    return {name: {key[0].lower() + key[1:]: part for key, part in value.items()} for name, value in attributes.items()}
