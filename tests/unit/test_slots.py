"""A slot passes from one holder to the next, whatever their clocks say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from surehand.ledger import Operation, slots
from surehand.states import State
from surehand.testing import MemoryLedger

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def tick(name: str) -> Operation:
    return Operation(
        id=name,
        handler="nightly",
        tenant=None,
        state=State.LEASED,
        fence=1,
        owner="worker",
        claimed_at=NOW,
        started_at=NOW,
        expires_at=NOW + DAY,
        lease_until=NOW + DAY,
    )


@pytest.mark.parametrize("behind", [timedelta(0), timedelta(milliseconds=1), timedelta(minutes=1)], ids=str)
def test_a_freed_slot_can_be_taken_by_a_machine_whose_clock_is_behind(behind: timedelta) -> None:
    ledger = MemoryLedger()
    taken = slots.take(None, "slot", tick("one"), until=NOW + DAY, now=NOW - DAY, retention=DAY)
    ledger.write([taken, slots.free(taken.operation, now=NOW)], now=NOW)
    slot = ledger.read(["slot"])["slot"]
    early = NOW - behind
    assert slots.holder(slot, early) is None
    ledger.write([slots.take(slot, "slot", tick("two"), until=NOW + DAY, now=early, retention=DAY)], now=early)
    now_held = ledger.read(["slot"])["slot"]
    assert (slots.holder(now_held, early), now_held.fence) == ("two", 2)
