"""What one step of a batch comes to beside its run: the ledger away, no time left, a mark that is refused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from surehand.declare import Identity
from surehand.delivery import Delivery
from surehand.ledger import Answer, Claimed, Operation, Unavailable, Write
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import MemoryLedger
from surehand.worker import Invocation
from surehand.worker.attempts import Attempts
from surehand.worker.plan import Step
from surehand.worker.receive import Message
from surehand.worker.settlers import InlineSettler
from tests.scenarios.kiosk import Ticket, plain, script

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class Away(MemoryLedger):
    """Takes nothing, and counts how often it was asked."""

    calls = 0

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        self.calls += 1
        return [Unavailable("ThrottlingException")] * len(writes)


def attempts(ledger: MemoryLedger, *, left: timedelta = MINUTE) -> Attempts:
    clock = SimpleNamespace(now=lambda: NOW)
    ports: Any = SimpleNamespace(clock=clock, random=Random(1), retention=HOUR, ledger=ledger, cursors=None, loop=None)
    settler = InlineSettler(ledger, ports.clock, until=NOW)
    return Attempts(plain, invocation=Invocation(owner="one", deadline=NOW + left), ports=ports, settler=settler)


def step(index: int, *, marks: int = 0) -> Step:
    """A claimed message; its lease ends in half a minute."""
    name = f"o{index}"
    delivery = Delivery(
        message_id=f"m{index}", receipt_handle="h", body="", receive_count=1, sent_at=NOW, received_at=NOW
    )
    identity = Identity(operation=name, tenant=None, group=None, fingerprints=("a",))
    operation = Operation(
        id=name, handler="plain", tenant=None, state=State.LEASED, fence=1, owner="one", lease_until=NOW + MINUTE / 2,
        claimed_at=NOW, started_at=NOW, expires_at=NOW + HOUR, marks=marks,
    )  # fmt: skip
    message = Message(index=index, delivery=delivery, payload=Ticket(number=name), identity=identity)
    return Step(message=message, answer=Claimed(operation=operation, message_id=f"m{index}"))


def test_several_at_once_are_waited_for_half_of_the_reserve() -> None:
    assert attempts(MemoryLedger()).grace == SECOND


@pytest.mark.parametrize("end", [Attempts.take, Attempts.leave])
def test_behind_an_outcome_that_the_ledger_did_not_take_nothing_runs_and_nothing_is_asked(end) -> None:
    ledger = Away()
    made = attempts(ledger)
    with script() as told:
        made.take(step(0))
        asked = ledger.calls
        end(made, step(1))
    assert told.numbers == ["o0"]
    assert ledger.calls == asked
    ending = made.endings[1]
    assert (ending.outcome, ending.code, ending.detail) == (
        Outcome.UNCONFIRMED,
        "ledger.unavailable",
        "ThrottlingException",
    )
    assert ending.wait == MINUTE / 2
