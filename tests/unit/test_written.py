"""A message has one key and one fingerprint in every process and every version of the code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import pytest
from pydantic import (
    BaseModel,
    Field,
    RootModel,
    SecretBytes,
    SecretStr,
    computed_field,
)
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from surehand import DeclarationError, payload_hash, queue
from surehand.declare.payload import PayloadType


@dataclass(frozen=True)
class Label:
    """A member of a set."""

    text: str
    places: frozenset[str] = frozenset()


class First(BaseModel):
    """A payload as one deployment has it."""

    number: str
    labels: set[Label] = set()
    by_place: dict[str, set[int]] = {}


class Second(First):
    """The same in the next one."""

    note: str = ""
    more: list[str] = Field(default_factory=list)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def shown(self) -> str:
        """Nothing that a body says."""
        return self.number.upper()


@dataclass
class Older:
    """A dataclass as one deployment has it."""

    number: str


@dataclass
class Newer:
    """The same in the next one."""

    number: str
    note: str = ""
    more: list[str] = field(default_factory=list)


class Row(TypedDict):
    """A dict with a set in it."""

    number: str
    tags: set[str]


class Tags(RootModel[set[str]]):
    """A set that is a whole payload."""


BODY = """{"number": "1", "labels": [{"text": "a", "places": ["x", "y", "z"]}, {"text": "b"}, {"text": "c"}],
    "by_place": {"x": [3, 1, 2]}}"""

#: What a process makes of these bodies, whatever its hash seed.
SCRIPT = """
import test_written as them
from surehand import payload_hash
from surehand.declare.payload import PayloadType
for annotation, body in ((them.First, them.BODY), (them.Row, '{"number": "1", "tags": ["a", "b", "c", "d"]}'),
                         (them.Tags, '["a", "b", "c", "d"]'), (list[them.First], f"[{them.BODY}]")):
    kind = PayloadType(annotation, of="it")
    payload = kind.validate(body)
    print(kind.declared(payload), payload_hash().over(payload, kind.given(payload)))
print(payload_hash()(PayloadType(them.First, of="it").validate(them.BODY)))
"""


def hashed(annotation: Any, body: str, **options: Any) -> str:
    def handle(payload) -> None: ...

    handle.__annotations__["payload"] = annotation
    handler = queue("hashed", key=payload_hash(**options))(handle)
    return handler.identify(handler.payload.validate(body), body).operation


def test_a_set_gives_one_key_and_one_fingerprint_in_every_process() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
    assert said.pop().count("\n") == 5


@pytest.mark.parametrize(("one", "other", "body"), [(First, Second, BODY), (Older, Newer, '{"number": "1"}')])
def test_a_new_optional_field_leaves_the_keys_that_payload_hash_gives(one, other, body) -> None:
    assert hashed(one, body) == hashed(other, body)


def test_a_payload_hash_of_what_is_sent_is_that_of_a_body_without_the_defaults() -> None:
    body, _ = PayloadType(Second, of="it").send(Second(number="1"))
    assert json.loads(body)["note"] == ""
    assert hashed(Second, body.decode()) == hashed(Second, '{"number": "1"}')


def test_a_payload_hash_tells_payloads_apart_and_leaves_out_a_field_under_either_of_its_names() -> None:
    class Sent(BaseModel):
        sent_at: str = Field(alias="sentAt")

    one, other = '{"sentAt": "1"}', '{"sentAt": "2"}'
    assert hashed(Sent, one) != hashed(Sent, other)
    for name in ("sent_at", "sentAt"):
        assert hashed(Sent, one, exclude=name) == hashed(Sent, other, exclude=name)


class Noted(BaseModel):
    """A model that makes a value anew for each body without it."""

    day: date = Field(default_factory=date.today)
    number: str = ""


@dataclass
class Marked:
    """A dataclass that does."""

    mark: str = field(default_factory=lambda: uuid4().hex)
    other: str = Field(default_factory=lambda: uuid4().hex)
    third: Annotated[str, Field(default_factory=lambda: uuid4().hex)] = Field()


class Newest(BaseModel):
    """A model that has the same field without."""

    mark: str


class Around(BaseModel):
    """One of them inside."""

    noted: Noted


@pytest.mark.parametrize(
    ("annotation", "field"),
    [(Noted, "day"), (Marked, "mark"), (Marked, "other"), (Around, "noted.day"), (Marked | Newest, "mark")],
)
def test_a_field_that_is_made_anew_at_every_delivery_is_no_part_of_a_key(annotation, field) -> None:
    def handle(payload) -> None: ...

    handle.__annotations__["payload"] = annotation
    with pytest.raises(DeclarationError, match=r"Handler 'made': key=payload_hash\(\), but '.*' has a default_factory"):
        queue("made", key=payload_hash())(handle)
    for option in ("key", "tenant", "group"):
        with pytest.raises(DeclarationError, match=f"Handler 'made': .*'{field}' has a default_factory"):
            queue("made", **{"key": lambda payload: "1", option: field})(handle)


def test_a_field_that_is_made_anew_may_be_left_out_of_a_payload_hash() -> None:
    assert hashed(Noted, '{"number": "1"}', exclude="day")


class Card(BaseModel):
    """A payload with a secret."""

    number: str
    card: SecretStr
    octets: SecretBytes | None = None


@pytest.mark.parametrize("other", ['{"number":"1","card":"9999"}', '{"number":"1","card":"4111","octets":"x"}'])
def test_a_message_with_another_secret_is_another_payload(other) -> None:
    kind = PayloadType(Card, of="it")
    body = '{"number":"1","card":"4111"}'
    assert kind.declared(kind.validate(body)) != kind.declared(kind.validate(other))
    assert hashed(Card, body) != hashed(Card, other)
