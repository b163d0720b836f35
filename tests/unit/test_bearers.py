"""Whose an unsigned id was first, message by message: what is compared, at what cost, and what is told without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from surehand.declare import Identity
from surehand.delivery import Delivery
from surehand.ledger import (
    Answer,
    Claimed,
    NotClaimed,
    NotWritten,
    Operation,
    Standing,
    Unavailable,
    Write,
    slots,
)
from surehand.states import State
from surehand.testing import MemoryLedger
from surehand.worker.bearers import compare_ids
from surehand.worker.plan import Step
from surehand.worker.receive import Message, Notice, Refused
from tests.unit.operations import DAYS, NOW, an_operation

ONE, TWO, FIRST = (replace(an_operation(State.LEASED), id=name) for name in ("one", "two", "first"))
DELIVERY = Delivery(message_id="m", receipt_handle="h", body="", receive_count=1, sent_at=NOW, received_at=NOW)
REFUSED = Refused(index=7, delivery=DELIVERY, phase="validate", code="input.schema", detail="n")


class Ledger(MemoryLedger):
    """Counts what it is asked to write, and answers *instead* of writing if that is given."""

    def __init__(self, *items: Operation, instead: Answer | None = None) -> None:
        super().__init__()
        self.items = {one.id: one for one in items}
        self.instead = instead
        self.written: list[list[str]] = []

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        self.written.append([write.operation.id for write in writes])
        if self.instead is not None:
            return [self.instead] * len(writes)
        return super().write(writes, now=now)


def message(unsigned: str | None, index: int = 0) -> Message:
    identity = Identity(operation="one", tenant=None, group=None, fingerprints=("f",))
    return Message(index=index, delivery=DELIVERY, payload=None, identity=identity, unsigned=unsigned)


def step(operation: Operation, *messages: Message | Refused) -> Step:
    first, *copies = messages
    return Step(message=first, copies=tuple(copies), answer=Claimed(operation=operation, message_id="m"))


def compared(ledger: MemoryLedger, *steps: Step) -> list[list[Notice | None]]:
    """The notices of each step's messages."""
    ports: Any = SimpleNamespace(ledger=ledger, clock=SimpleNamespace(now=lambda: NOW), retention=DAYS)
    after = compare_ids(steps, ports=ports)
    unnoticed = [[replace(m, notice=None) if isinstance(m, Message) else m for m in one.all] for one in after]
    assert unnoticed == [list(one.all) for one in steps]
    return [[m.notice if isinstance(m, Message) else None for m in one.all] for one in after]


def bears(slot: str, bearer: Operation, **known: Any) -> Operation:
    return replace(slots.take(None, slot, bearer, until=NOW, now=NOW, retention=DAYS).operation, **known)


def conflict(holder: str) -> Notice:
    return Notice("input.id_conflict", f"the id was first that of {holder}")


UNKNOWN = NotClaimed(standing=Standing.UNAVAILABLE, reason="ThrottlingException")
APPLIED = NotClaimed(standing=Standing.ALREADY_APPLIED, existing=TWO)


def test_without_unsigned_ids_the_ledger_is_asked_nothing() -> None:
    ledger = Ledger()
    assert compared(ledger, step(ONE, message(None), REFUSED)) == [[None, None]]
    assert ledger.written == []


def test_the_ids_of_a_batch_are_remembered_with_one_call() -> None:
    ledger = Ledger()
    assert compared(ledger, step(ONE, message("a")), step(TWO, message("b", 1))) == [[None], [None]]
    assert ledger.written == [["a", "b"]]
    assert {name: slots.holder(slot, NOW) for name, slot in ledger.items.items()} == {"a": "one", "b": "two"}


def test_each_message_and_copy_is_told_of_its_own_id() -> None:
    ledger = Ledger(bears("a", FIRST))
    copies = (message(None, 1), message("b", 2), message("a", 3), REFUSED)
    assert compared(ledger, step(ONE, message("a"), *copies)) == [
        [conflict("first"), None, None, conflict("first"), None]
    ]


def test_within_a_batch_the_earlier_operation_has_the_id() -> None:
    assert compared(Ledger(), step(ONE, message("a")), step(TWO, message("a", 1))) == [[None], [conflict("one")]]


def test_what_was_answered_without_a_run_is_compared_too() -> None:
    done = Step(message=message("a"), answer=APPLIED)
    assert compared(Ledger(bears("a", FIRST)), done) == [[conflict("first")]]
    assert compared(Ledger(bears("a", TWO)), done) == [[None]]


def test_a_message_that_could_not_be_claimed_takes_no_id_and_is_told_of_nothing() -> None:
    ledger = Ledger()
    unknown = Step(message=message("a"), answer=UNKNOWN)
    assert compared(ledger, unknown, step(TWO, message("b", 1))) == [[None], [None]]
    assert ledger.written == [["b"]]


@pytest.mark.parametrize(("left", "now_held_by"), [(timedelta(0), "one"), (timedelta.resolution, "first")])
def test_an_id_that_has_been_forgotten_goes_to_its_next_bearer(left, now_held_by) -> None:
    ledger = Ledger(bears("a", FIRST, expires_at=NOW + left))
    assert compared(ledger, step(ONE, message("a"))) == [[None if now_held_by == "one" else conflict("first")]]
    assert slots.holder(ledger.items["a"], NOW) == now_held_by


def test_a_ledger_that_is_away_is_not_waited_for_a_second_time() -> None:
    ledger = Ledger(instead=Unavailable("ThrottlingException"))
    unchecked = Notice("ledger.id_unchecked", "ThrottlingException")
    assert compared(ledger, step(ONE, message("a"))) == [[unchecked]]
    assert ledger.written == [["a"]]


def test_an_id_that_is_no_longer_there_to_be_looked_at_is_told_as_unchecked() -> None:
    ledger = Ledger(instead=NotWritten(None))
    assert compared(ledger, step(ONE, message("a"))) == [[Notice("ledger.id_unchecked", "contended")]]
