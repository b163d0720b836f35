"""A handler gets what was sent, or the sender is told what would be lost on the way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, SecretStr, StringConstraints, field_serializer
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from surehand import DeclarationError, queue
from surehand.declare import NotValid
from surehand.declare.payload import PayloadType
from tests.unit.test_written import Card, First, Label, Row, Tags


class Written(Card):
    """One that is written as it is."""

    @field_serializer("card", when_used="json")
    def write(self, card: SecretStr) -> str:
        """Write it out."""
        return card.get_secret_value()


class Masked(BaseModel):
    """One that its author masks."""

    number: str

    @field_serializer("number")
    def mask(self, number: str) -> str:
        """Hide it."""
        return "*"


@dataclass
class Created:
    """One event."""

    number: str


@dataclass
class Deleted:
    """Another, with the same fields."""

    number: str


class Wide(Created):
    """A subclass."""


def sent(annotation: Any, payload: object) -> tuple[bytes, Any]:
    return PayloadType(annotation, of="it").send(payload)


@pytest.mark.parametrize(
    ("annotation", "payload", "said"),
    [
        (Card, Card(number="1", card=SecretStr("4111")), "the payload's card is secret and would be written masked"),
        (list[Card], [Card(number="1", card=SecretStr("4111"))], "a member of the payload's card is secret"),
        (dict, {"4111": SecretStr("4111")}, r"the payload's \? is secret"),
        (Masked, Masked(number="4111"), "the payload's number would be written, by its serializer, as another str"),
        (Created | Deleted, Deleted("4111"), "the payload is of type Deleted and would arrive as Created"),
        (Created, Wide("4111"), "the payload is of type Wide and would arrive as Created"),
    ],
)
def test_what_would_not_arrive_as_it_was_sent_is_refused_without_a_value_in_the_text(annotation, payload, said) -> None:
    with pytest.raises(NotValid, match=said) as refused:
        sent(annotation, payload)
    assert refused.value.code == "input.schema"
    assert "4111" not in str(refused.value)


@pytest.mark.parametrize(
    ("annotation", "payload"),
    [
        (Written, Written(number="1", card=SecretStr("4111"))),
        (Created | Deleted, Created("1")),
        (First, First(number="1", labels={Label("a")}, by_place={"x": {1}})),
        (Row, {"number": "1", "tags": {"a"}}),
        (Tags, Tags({"a"})),
    ],
)
def test_what_arrives_as_it_was_sent_is_sent(annotation, payload) -> None:
    assert sent(annotation, payload)[1] == payload


def test_plain_values_of_python_s_may_be_sent_as_their_json() -> None:
    assert sent(dict, {"at": date(2026, 1, 1), 3: (1, 2)})[1] == {"at": "2026-01-01", "3": [1, 2]}


def test_what_validation_makes_of_a_value_is_the_payload_s_own_business() -> None:
    class Padded(TypedDict):
        inner: Annotated[str, StringConstraints(strip_whitespace=True)]

    assert sent(Padded, {"inner": " x"})[1] == {"inner": "x"}


def test_a_field_that_is_never_written_is_refused_at_the_declaration() -> None:
    class Inner(BaseModel):
        note: str = Field(default="", exclude=True)

    class Outer(BaseModel):
        number: str
        inner: list[Inner] = []

    def handle(payload: Outer) -> None: ...

    handle.__annotations__["payload"] = Outer
    with pytest.raises(DeclarationError, match=r"Handler 'outer': the payload's field 'inner.note' has exclude=True"):
        queue("outer", key="number")(handle)
