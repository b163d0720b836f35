"""A slot passes from one holder to the next, whatever their clocks say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from surehand.ledger import Entry, Operation, Write, slots
from surehand.states import HELD, State
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


@pytest.mark.parametrize("state", State)
def test_only_what_is_held_without_ever_having_had_a_message_is_a_slot(state: State) -> None:
    """An operator may cancel what has not come yet: that has no message either, and is a piece of work."""
    assert replace(tick("one"), state=state).is_slot is (state in HELD)
    assert not replace(tick("one"), state=state, message_ids=("m1",)).is_slot


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


TAKER = replace(tick("one"), tenant="t", version="v1")


def taken(*, until: datetime = NOW + DAY, slot: Operation | None = None) -> Operation:
    write = slots.take(slot, "slot", TAKER, until=until, now=NOW, retention=3 * DAY)
    assert write.previous == slot
    return write.operation


def test_a_taken_slot_is_owned_by_the_operation_and_is_remembered_beyond_its_end() -> None:
    assert taken() == Operation(
        id="slot",
        handler="nightly",
        tenant=None,
        state=State.LEASED,
        fence=1,
        owner="one",
        lease_until=NOW + DAY,
        claimed_at=NOW,
        started_at=NOW,
        expires_at=NOW + 4 * DAY,
        history=(Entry(state=State.LEASED, at=NOW, fence=1, attempt=0),),
        version="v1",
    )


def test_a_slot_taken_behind_its_own_end_is_remembered_from_now_on() -> None:
    late = taken(until=NOW - DAY)
    assert (late.lease_until, late.expires_at) == (NOW - DAY, NOW + 3 * DAY)


def test_a_freed_slot_keeps_its_fence_and_says_when_it_was_freed() -> None:
    held = taken(slot=replace(taken(), fence=6))
    assert slots.free(held, now=NOW + DAY) == Write(
        operation=replace(
            held,
            state=State.SUCCEEDED,
            lease_until=None,
            expires_at=datetime(1970, 1, 1, tzinfo=UTC),
            history=(
                Entry(state=State.LEASED, at=NOW, fence=7, attempt=0),
                Entry(state=State.SUCCEEDED, at=NOW + DAY, fence=7, attempt=0),
            ),
        ),
        previous=held,
    )


def test_only_a_leased_slot_that_has_not_expired_is_held_also_behind_its_lease() -> None:
    held = taken()
    assert slots.holder(None, NOW) is None
    assert slots.holder(held, NOW) == slots.holder(held, NOW + 2 * DAY) == "one"
    assert slots.holder(held, held.expires_at) is None
    assert slots.holder(replace(held, state=State.PENDING), NOW) is None
