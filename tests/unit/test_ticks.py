"""Which tick may run: who holds the schedule, who waits for it, how long, and what that costs the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from surehand import Handler
from surehand.declare import slot_id, visibility_timeout
from surehand.delivery import Delivery
from surehand.errors import LedgerUnavailable
from surehand.ledger import Answer, Claimed, Entry, Operation, Write, slots
from surehand.outcomes import Outcome
from surehand.states import ATTENTION, FINAL, State
from surehand.testing import MemoryLedger
from surehand.worker.conclusion import Conclusion
from surehand.worker.endings import through_outage
from surehand.worker.ticks import Ticks
from tests.scenarios.clockwork import NOON, abreast, in_line, often

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
INSTANT = timedelta.resolution
RETENTION = timedelta(days=30)


class Ledger(MemoryLedger):
    """Counts what it is asked; *before_write* comes between a look and the write that follows it."""

    def __init__(self, *operations: Operation) -> None:
        super().__init__()
        self.items = {one.id: one for one in operations}
        self.asked: list[str] = []
        self.before_write: Callable[[Write], object] = lambda write: None

    def read(self, ids: Sequence[str]) -> dict[str, Operation]:
        self.asked.append("read")
        return super().read(ids)

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        self.asked.append("write")
        for write in writes:
            self.before_write(write)
        return super().write(writes, now=now)


class Away(Ledger):
    """Cannot be read."""

    def read(self, ids: Sequence[str]) -> dict[str, Operation]:
        raise LedgerUnavailable("ThrottlingException")


def entry(state: State, at: datetime = NOON, **known: Any) -> Entry:
    return Entry(state=state, at=at, fence=1, attempt=1, **known)


def tick(handler: Handler[Any], minutes: int = 0, **known: Any) -> Operation:
    """A tick as its first claim leaves it; its lease ends in a minute."""
    made = Operation(
        id=f'["{handler.name}",null,["{NOON + minutes * MINUTE:%Y-%m-%dT%H:%M:%SZ}"]]',
        handler=handler.name,
        tenant=None,
        state=State.LEASED,
        fence=1,
        owner="one",
        claimed_at=NOON,
        started_at=NOON,
        expires_at=NOON + RETENTION,
        lease_until=NOON + MINUTE,
        message_ids=("m1",),
        history=(entry(State.LEASED),),
    )
    return replace(made, **known)


def slot(handler: Handler[Any], holder: Operation, which: str = "!running") -> Operation:
    name = slot_id(handler.name, which)
    return slots.take(None, name, holder, until=NOON + HOUR, now=NOON, retention=RETENTION).operation


def ticks(handler: Handler[Any], ledger: MemoryLedger) -> Ticks:
    ports: Any = SimpleNamespace(ledger=ledger, random=Random(1), retention=RETENTION)
    timing = handler.options.timing
    assert timing is not None
    return Ticks(handler, timing, ports)


def held_back(
    made: Ticks, operation: Operation, now: datetime = NOON, *, redrive: bool = False, sent_at: datetime = NOON
) -> Conclusion | None:
    delivery = Delivery(
        message_id="m1", receipt_handle="h", body="", receive_count=3, sent_at=sent_at, received_at=NOON
    )
    return made.hold_back(Claimed(operation=operation, message_id="m1", redrive=redrive), delivery, now=now)


def ended(operation: Operation, state: State = State.SUCCEEDED) -> Operation:
    return replace(operation, state=state, lease_until=None)


SKIPPED = Conclusion(
    outcome=Outcome.CANCELED,
    state=State.CANCELED,
    code="schedule.overlap",
    attempted=False,
    note="while the tick of 2026-01-01T12:00:00Z ran",
)
WAITS = replace(SKIPPED, outcome=Outcome.DEFERRED, state=State.PENDING, wait=MINUTE)
CONTENDED = Conclusion(
    outcome=Outcome.UNSTARTED,
    state=State.PENDING,
    code="ledger.unavailable",
    wait=through_outage(3, Random(1)),
    attempted=False,
)

# ---- what it costs --------------------------------------------------------------------------------------------------


def test_ticks_that_may_overlap_cost_the_ledger_nothing() -> None:
    ledger = Ledger()
    made, one = ticks(abreast, ledger), tick(abreast)
    assert held_back(made, one) is None
    made.ended(ended(one), now=NOON)
    assert ledger.asked == []


def test_a_tick_that_nothing_stands_before_costs_a_look_and_two_writes() -> None:
    ledger = Ledger()
    made, one = ticks(often, ledger), tick(often)
    assert held_back(made, one) is None
    made.ended(ended(one), now=NOON)
    assert ledger.asked == ["read", "write", "write"]


def test_a_further_attempt_of_a_tick_takes_nothing_anew() -> None:
    one = tick(often)
    ledger = Ledger(slot(often, one))
    made = ticks(often, ledger)
    assert held_back(made, one) is None
    made.ended(ended(one), now=NOON)
    assert ledger.asked == ["read", "write"]


def test_in_a_queue_one_look_more_shows_that_nobody_waits() -> None:
    ledger = Ledger()
    assert held_back(ticks(in_line, ledger), tick(in_line)) is None
    assert ledger.asked == ["read", "read", "write"]


def test_a_place_in_the_queue_costs_a_look_and_a_write() -> None:
    one = tick(in_line)
    ledger = Ledger(one, slot(in_line, one))
    assert held_back(ticks(in_line, ledger), tick(in_line, 5)) == WAITS
    assert ledger.asked == ["read", "read", "read", "write"]  # of these the first two are the run and its operation


@pytest.mark.parametrize(("ago", "ends"), [(timedelta(days=3), False), (timedelta(days=4) - MINUTE, True)])
def test_a_tick_waits_no_longer_than_sqs_keeps_its_message(ago, ends) -> None:
    one = tick(in_line)
    waits = held_back(ticks(in_line, Ledger(one, slot(in_line, one))), tick(in_line, 5), sent_at=NOON - ago)
    assert waits is not None
    assert (waits.outcome is Outcome.EXHAUSTED) is ends
    assert (waits.code, waits.wait) == ("schedule.overlap", None if ends else MINUTE)


# ---- who holds it ---------------------------------------------------------------------------------------------------


def test_a_schedule_is_held_until_its_tick_must_be_given_up() -> None:
    ledger = Ledger()
    one = tick(often, started_at=NOON - MINUTE)
    held_back(ticks(often, ledger), one)
    [kept] = ledger.items.values()
    assert (kept.owner, kept.lease_until) == (one.id, NOON - MINUTE + often.options.give_up_after)


def test_who_takes_the_schedule_between_a_look_and_a_write_has_it() -> None:
    one, other = tick(often, 5), tick(often)
    ledger = Ledger(other)
    ledger.before_write = lambda write: ledger.items.setdefault(slot_id("often", "!running"), slot(often, other))
    assert held_back(ticks(often, ledger), one, NOON) == SKIPPED


@pytest.mark.parametrize(("handler", "which"), [(often, "!running"), (in_line, "!waiting")])
def test_a_tick_that_others_are_always_before_by_an_instant_is_put_back(handler, which) -> None:
    """They have ended by the time of the next look, so none of them is why it should be canceled."""
    running = tick(handler)
    ledger = Ledger(*([running, slot(handler, running)] if handler is in_line else []))

    def overtake(write: Write) -> None:
        gone, fence = tick(handler, 50), write.operation.fence
        ledger.items[slot_id(handler.name, which)] = replace(slot(handler, gone, which), fence=fence)

    ledger.before_write = overtake
    assert held_back(ticks(handler, ledger), tick(handler, 5)) == CONTENDED


@pytest.mark.parametrize("state", State)
def test_a_run_that_has_ended_holds_nothing_even_if_it_could_not_say_so(state: State) -> None:
    other = replace(tick(often), state=state)
    ledger = Ledger(other, slot(often, other))
    runs = held_back(ticks(often, ledger), tick(often, 5)) is None
    assert runs is (state in FINAL | ATTENTION)


@pytest.mark.parametrize("known", [None, {"expires_at": NOON}])
def test_a_run_that_the_ledger_has_forgotten_holds_nothing(known) -> None:
    other = tick(often)
    ledger = Ledger(slot(often, other), *([] if known is None else [replace(other, **known)]))
    assert held_back(ticks(often, ledger), tick(often, 5)) is None


LAST_WORD = NOON + 10 * MINUTE
GIVEN_UP = visibility_timeout(often) + HOUR


@pytest.mark.parametrize(
    ("known", "until"),
    [
        ({"history": ()}, NOON + GIVEN_UP),
        ({"history": (entry(State.LEASED), entry(State.PENDING, LAST_WORD))}, LAST_WORD + GIVEN_UP),
        ({"not_before": NOON + 2 * HOUR}, NOON + 2 * HOUR + GIVEN_UP),
        ({"not_before": NOON - HOUR}, NOON + GIVEN_UP),
    ],
)
def test_a_run_between_deliveries_is_given_up_an_hour_after_its_message_should_be_back(known, until) -> None:
    other = tick(often, state=State.PENDING, lease_until=None, **known)

    def runs(now: datetime) -> bool:
        return held_back(ticks(often, Ledger(other, slot(often, other))), tick(often, 600), now) is None

    assert (runs(until - INSTANT), runs(until)) == (False, True)


def test_a_live_lease_holds_the_schedule_however_long_ago_its_last_word_was() -> None:
    now = NOON + 2 * GIVEN_UP
    other = tick(often, lease_until=now + SECOND)
    ledger = Ledger(other, replace(slot(often, other), expires_at=now + RETENTION))
    assert held_back(ticks(often, ledger), tick(often, 120), now) == SKIPPED


# ---- who waits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "wait"),
    [
        (None, 15 * SECOND),
        (-HOUR, 15 * SECOND),
        (15 * SECOND, 15 * SECOND),
        (16 * SECOND, 16 * SECOND),
        (2 * MINUTE, 2 * MINUTE),
        (HOUR, 2 * MINUTE),
    ],
)
def test_a_waiting_tick_looks_again_when_the_lease_ends_within_15_seconds_and_two_minutes(left, wait) -> None:
    other = tick(in_line, lease_until=None if left is None else NOON + left)
    ledger = Ledger(other, slot(in_line, other))
    assert held_back(ticks(in_line, ledger), tick(in_line, 5)) == replace(WAITS, wait=wait)


@pytest.mark.parametrize(
    ("entries", "waits"),
    [
        ([entry(State.PENDING, code="schedule.overlap")], True),
        ([entry(State.RETRYABLE_FAILED, code="provider.busy")], True),
        ([entry(State.PENDING, note="unstarted")], False),
        ([entry(State.PENDING, code="ledger.unavailable")], False),
    ],
)
def test_only_what_has_waited_or_run_before_is_not_canceled_for_another_run(entries, waits) -> None:
    other = tick(often)
    one = tick(often, 5, history=(entry(State.LEASED), *entries, entry(State.LEASED)))
    assert held_back(ticks(often, Ledger(other, slot(often, other))), one) == (WAITS if waits else SKIPPED)


@pytest.mark.parametrize("waiting", [None, State.SUCCEEDED, State.PERMANENTLY_FAILED])
def test_the_place_of_a_tick_that_waits_no_more_is_free(waiting) -> None:
    running, before = tick(in_line), tick(in_line, 5)
    kept = [running, slot(in_line, running), slot(in_line, before, "!waiting")]
    ledger = Ledger(*kept, *([] if waiting is None else [ended(before, waiting)]))
    one = tick(in_line, 10)
    assert held_back(ticks(in_line, ledger), one) == WAITS
    assert ledger.items[slot_id("in-line", "!waiting")].owner == one.id


# ---- what becomes of it at the end ----------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["!running", "!waiting"])
@pytest.mark.parametrize("state", State)
def test_a_tick_that_has_ended_frees_what_it_held_in_any_invocation(which, state) -> None:
    one = tick(in_line)
    ledger = Ledger(slot(in_line, one, which))
    ticks(in_line, ledger).ended(ended(one, state), now=NOON)
    holder = slots.holder(ledger.items[slot_id("in-line", which)], NOON)
    assert holder == (None if state in FINAL | ATTENTION else one.id)


def test_a_tick_that_has_ended_leaves_what_others_hold() -> None:
    other = tick(in_line)
    kept = [slot(in_line, other, which) for which in ("!running", "!waiting")]
    ledger = Ledger(*kept)
    ticks(in_line, ledger).ended(ended(tick(in_line, 5)), now=NOON)
    assert list(ledger.items.values()) == kept


def test_the_end_of_a_tick_stands_also_if_the_ledger_cannot_be_asked_what_it_held() -> None:
    ticks(in_line, Away()).ended(ended(tick(in_line)), now=NOON)


def test_a_tick_is_put_back_while_the_ledger_cannot_be_asked_who_runs() -> None:
    assert held_back(ticks(often, Away()), tick(often)) == CONTENDED
