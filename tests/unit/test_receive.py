"""What becomes of a record before anything is known of its operation: a message, or a refusal that says why."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from surehand import queue
from surehand.declare.identity import Identity, fingerprint
from surehand.delivery import Delivery, Unreadable
from surehand.worker.receive import Message, Refused, receive

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


class Coded(BaseModel):
    """A payload with a validator of its own."""

    code: str
    octets: list[int] = [49]

    @field_validator("code")
    @classmethod
    def look_up(cls, value: str) -> str:
        """Break like code of a user's own."""
        if value == "interrupt":
            raise KeyboardInterrupt
        return {"fine": "fine", "bare": ""}[value]


def key(payload: Coded) -> str:
    """Return the text that the octets are, and nothing for what is bare."""
    return payload.code and bytes(payload.octets).decode()


@queue("coded", key=key, group="code")
def coded(payload: Coded) -> None:
    """Never runs here."""


def delivery(body: str, **known: Any) -> Delivery:
    return Delivery(
        message_id="m", receipt_handle="h", body=body, receive_count=1, sent_at=NOW, received_at=NOW, **known
    )


def second(record: Delivery | Unreadable) -> Any:
    """Return what became of a record behind one that is fine."""
    first, other = receive(coded, [delivery('{"code":"fine"}'), record])
    assert isinstance(first, Message)
    return other


def test_a_message_is_known_by_its_place_its_payload_its_identity_and_its_group() -> None:
    record = delivery('{"code":"fine"}', group="g", attributes={"a": "x"})
    message = second(record)
    assert message == Message(
        index=1,
        delivery=record,
        payload=Coded(code="fine"),
        identity=Identity(
            operation='["coded",null,["1"]]',
            tenant=None,
            group="fine",
            fingerprints=(fingerprint(record.body), fingerprint('{"code":"fine"}')),
        ),
        attributes={"a": "x"},
    )
    assert message.lane == "g"


@pytest.mark.parametrize(
    ("body", "phase", "code", "detail"),
    [
        ("{", "validate", "input.malformed", "the body is not JSON"),
        ("{}", "validate", "input.schema", "code: missing"),
        ('{"code":"bare"}', "identify", "input.key", "what the key function returned is empty"),
        ('{"code":"fine","octets":[255]}', "identify", "input.malformed", "not Unicode text"),
    ],
)
def test_a_body_that_names_no_work_is_refused_with_what_is_wrong_with_it(body, phase, code, detail) -> None:
    record = delivery(body, group="g")
    refused = second(record)
    assert refused == Refused(index=1, delivery=record, phase=phase, code=code, detail=detail)
    assert refused.lane == "g"


@pytest.mark.parametrize(
    ("body", "phase", "error", "where"),
    [
        ('{"code":"?"}', "validate", "KeyError", "Coded.look_up"),
        ('{"code":"fine","octets":[256]}', "identify", "ValueError", "key"),
    ],
)
def test_what_the_user_s_own_code_raises_is_refused_by_its_type_with_where_it_came_from(
    body, phase, error, where
) -> None:
    record = delivery(body)
    refused = second(record)
    expected = Refused(index=1, delivery=record, phase=phase, code=f"code.{error}", detail=error)
    assert replace(refused, origin=None) == expected
    assert refused.origin.raised_at[-1].endswith(f" {where}")


def test_a_record_that_cannot_be_read_is_refused_with_its_problem() -> None:
    broken = Unreadable(message_id="m", receipt_handle="h", receive_count=1, group="g", problem="no body")
    refused = second(broken)
    assert refused == Refused(index=1, delivery=broken, phase="parse", code="input.malformed", detail="no body")


def test_an_interruption_by_the_operator_is_no_refusal() -> None:
    with pytest.raises(KeyboardInterrupt):
        receive(coded, [delivery('{"code":"interrupt"}')])
