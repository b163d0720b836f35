"""Which operation the words of a command mean: the type of the key's field decides, and no write guesses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from surehand import Service, payload_hash, queue
from surehand.ledger import Operation
from surehand.states import State
from surehand.testing import MemoryLedger
from surehand_cli.ledger.naming import meant, named
from surehand_cli.problem import Problem, Refusal
from tests.unit.operations import an_operation


class Colour(Enum):
    """An enum, whose value may be anything."""

    RED = 1


class Thing(BaseModel):
    """Fields of many types."""

    number: int
    text: str
    flag: bool
    unique: UUID
    either: int | str
    colour: Colour
    bounded: Annotated[str, Field(max_length=9)]


@dataclass
class Other:
    """Another member of a union."""

    number: str


def ids(*words: str, key: Any, annotation: Any = Thing) -> list[str]:
    def handle(payload) -> None: ...

    handle.__annotations__["payload"] = annotation
    service = Service.__new__(Service)
    object.__setattr__(service, "name", "s")
    object.__setattr__(service, "handlers", (queue("things", key=key)(handle),))
    return named(["things", *words], None, service=service)


@pytest.mark.parametrize(
    ("key", "word", "part"),
    [
        ("number", "17", "17"),
        ("number", "-3", "-3"),
        ("text", "17", '"17"'),
        ("text", "true", '"true"'),
        ("flag", "true", "true"),
        ("unique", "6F1C9B1E-0000-4000-8000-000000000001", '"6f1c9b1e-0000-4000-8000-000000000001"'),
        ("either", "o-17", '"o-17"'),
        (payload_hash(), "17", '"17"'),
    ],
)
def test_a_word_is_read_as_the_type_of_the_key_s_field_has_it(key, word, part) -> None:
    assert ids(word, key=key) == [f'["things",null,[{part}]]']


@pytest.mark.parametrize(
    ("key", "annotation"),
    [("either", Thing), ("colour", Thing), ("bounded", Thing), (str, Thing), ("number", Thing | Other), ("k", dict)],
)
def test_where_no_type_decides_a_number_may_be_text_too(key, annotation) -> None:
    assert set(ids("17", key=key, annotation=annotation)) == {'["things",null,["17"]]', '["things",null,[17]]'}


def test_a_word_that_the_key_s_field_cannot_have_is_refused() -> None:
    with pytest.raises(Problem, match=r"'o-17' is no value of the key's field 'number' \(int\)"):
        ids("o-17", key="number")


def test_a_key_of_several_fields_wants_a_word_for_each() -> None:
    assert ids("a", "17", key=("text", "number")) == ['["things",null,["a",17]]']
    with pytest.raises(Problem, match="the key of 'things' is text, number: 2 values, not 1"):
        ids("a", key=("text", "number"))


def known(*operations: str) -> MemoryLedger:
    ledger = MemoryLedger()
    for one in operations:
        ledger.items[one] = operation(one)
    return ledger


def operation(name: str) -> Operation:
    return an_operation(State.PENDING, id=name)


def test_a_write_is_for_the_one_that_the_ledger_knows_and_never_a_guess() -> None:
    assert meant(known("b"), ["a", "b"]) == ("b", operation("b"))
    assert meant(known(), ["a"]) == ("a", None)
    for ledger, said in ((known(), "knows none of a and b"), (known("a", "b"), "knows more than one of a and b")):
        with pytest.raises(Refusal, match=f"{said}; give the whole id"):
            meant(ledger, ["a", "b"])
