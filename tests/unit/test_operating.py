"""What operators and the dead-letter commands write, field by field, and what they are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from surehand.ledger import Entry, Operation, Write
from surehand.ledger.operating import Act, NotDone, cancel, dead_lettered, release, resolve
from surehand.states import State
from tests.unit.operations import DAYS, HOUR, NOW, SECOND, an_operation

ACT = Act(actor="ann", reason="said so", now=NOW, retention=DAYS)
HELD = [State.LEASED, State.PROCESSING]
NAMES = {"operation_id": "o", "handler": "orders", "tenant": "t"}


def item(state: State, **known) -> Operation:
    made = an_operation(
        state,
        lease_until=NOW - SECOND if state in HELD else None,
        attempts=2,
        history=(Entry(state=state, at=NOW - HOUR, fence=3, attempt=2),),
        code="provider.busy",
        not_before=None if state in HELD else NOW + HOUR,
    )
    return replace(made, **known)


def changed(existing: Operation, state: State, **known) -> Operation:
    """What every act of an operator does to an item: a higher fence, so that a late worker changes nothing."""
    code = known.get("code", existing.code)
    attempts = known.get("attempts", existing.attempts)
    line = Entry(state=state, at=NOW, fence=4, attempt=attempts, code=code, note="ann: said so")
    return replace(
        existing,
        state=state,
        fence=4,
        owner="operator/ann",
        lease_until=None,
        expires_at=NOW + DAYS,
        cancel_requested=False,
        history=(*existing.history, line),
        **known,
    )


def created(state: State, fence: int = 1, **known) -> Operation:
    return Operation(
        id="o",
        handler="orders",
        tenant="t",
        state=state,
        fence=fence,
        owner="operator/ann",
        claimed_at=NOW,
        started_at=NOW,
        expires_at=NOW + DAYS,
        history=(Entry(state=state, at=NOW, fence=fence, attempt=0, note="ann: said so"),),
        **known,
    )


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYABLE_FAILED, State.DEAD_LETTERED, *HELD])
def test_what_nobody_holds_is_canceled_at_once(state) -> None:
    existing = item(state)
    assert cancel(existing, ACT, **NAMES) == Write(operation=changed(existing, State.CANCELED), previous=existing)


@pytest.mark.parametrize("state", HELD)
def test_a_live_lease_gets_a_request(state) -> None:
    existing = item(state, lease_until=NOW + SECOND)
    line = Entry(state=state, at=NOW, fence=3, attempt=2, code="provider.busy", note="ann: said so")
    asked = replace(existing, cancel_requested=True, history=(*existing.history, line))
    assert cancel(existing, ACT, **NAMES) == Write(operation=asked, previous=existing)


def test_an_operation_is_canceled_in_advance() -> None:
    assert cancel(None, ACT, **NAMES) == Write(operation=created(State.CANCELED), previous=None)
    expired = item(State.SUCCEEDED, expires_at=NOW)
    assert cancel(expired, ACT, **NAMES) == Write(operation=created(State.CANCELED, 4), previous=expired)


@pytest.mark.parametrize(
    ("existing", "done", "why"),
    [
        (item(State.CANCELED), True, "already"),
        (item(State.LEASED, cancel_requested=True, lease_until=NOW + HOUR), True, "already"),
        (item(State.SUCCEEDED), False, "it is succeeded, and that is final"),
        (item(State.COMPENSATED), False, "it is compensated, and that is final"),
        (item(State.PERMANENTLY_FAILED), False, "failed permanently"),
    ],
)
def test_what_cannot_be_canceled_is_said(existing, done, why) -> None:
    said = cancel(existing, ACT, **NAMES)
    assert isinstance(said, NotDone)
    assert (said.done, why in said.why) == (done, True)


@pytest.mark.parametrize(
    ("state", "marks", "after"),
    [(State.LEASED, 0, 1), (State.LEASED, 2, 2), (State.PROCESSING, 0, 2), (State.PROCESSING, 2, 3)],
)
def test_a_release_gives_a_dead_holder_s_operation_back_as_a_suspect(state, marks, after) -> None:
    existing = item(state, marks=marks)
    expected = Write(operation=changed(existing, State.PENDING, marks=after), previous=existing)
    assert release(existing, ACT) == expected


@pytest.mark.parametrize(
    ("existing", "done", "why"),
    [
        (None, False, "no such operation"),
        (item(State.LEASED, expires_at=NOW), False, "no such operation"),
        (item(State.PENDING), True, "nobody holds it: it is pending"),
        (item(State.LEASED, lease_until=NOW + 1.5 * SECOND), False, "live until 2026-01-05T12:00:01+00:00;"),
    ],
)
def test_what_cannot_be_released_is_said(existing, done, why) -> None:
    said = release(existing, ACT)
    assert isinstance(said, NotDone)
    assert (said.done, why in said.why) == (done, True)


def test_a_release_lets_a_cancel_that_was_requested_take_effect() -> None:
    existing = item(State.LEASED, cancel_requested=True)
    assert release(existing, ACT) == Write(operation=changed(existing, State.CANCELED), previous=existing)


@pytest.mark.parametrize("existing", [
    item(State.PROCESSING, cancel_requested=True),
    item(State.LEASED, cancel_requested=True, marks=2),
    item(State.LEASED, cancel_requested=True, code="effect.unanswered"),
])  # fmt: skip
def test_a_release_leaves_a_requested_cancel_to_what_is_known_of_a_run_by_the_next_delivery(existing) -> None:
    marks = 1 if existing.marks == 0 and existing.state is State.LEASED else 2
    expected = replace(changed(existing, State.PENDING, marks=marks), cancel_requested=True)
    assert release(existing, ACT) == Write(operation=expected, previous=existing)


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYABLE_FAILED, State.DEAD_LETTERED, *HELD])
def test_a_cancel_whose_request_still_waits_although_nobody_holds_it_is_done_at_once(state) -> None:
    existing = item(state, cancel_requested=True)
    assert cancel(existing, ACT, **NAMES) == Write(operation=changed(existing, State.CANCELED), previous=existing)


@pytest.mark.parametrize(
    ("state", "marks", "after"),
    [
        (State.LEASED, 0, 1), (State.LEASED, 2, 2), (State.PROCESSING, 0, 2), (State.PROCESSING, 2, 3),
        (State.PENDING, 2, 2), (State.PERMANENTLY_FAILED, 0, 0),
    ],
)  # fmt: skip
def test_a_dead_letter_is_marked_by_a_lapsed_lease_as_a_release_is(state, marks, after) -> None:
    write = dead_lettered(item(state, marks=marks), ACT, **NAMES, message_ids=["m1"])
    assert isinstance(write, Write)
    assert write.operation.marks == after


def test_a_dead_letter_keeps_a_cancel_that_was_requested() -> None:
    existing = item(State.LEASED, cancel_requested=True, marks=1)
    write = dead_lettered(existing, ACT, **NAMES, message_ids=["m1"])
    assert isinstance(write, Write)
    assert write.operation == replace(changed(existing, State.DEAD_LETTERED), cancel_requested=True)
    resolved = resolve(write.operation, ACT, applied=False)
    assert isinstance(resolved, Write)
    assert resolved.operation.cancel_requested is False


@pytest.mark.parametrize("state", [State.PERMANENTLY_FAILED, State.DEAD_LETTERED])
def test_a_failed_operation_is_resolved_either_way(state) -> None:
    existing = item(state, marks=3)
    applied = Write(operation=changed(existing, State.SUCCEEDED), previous=existing)
    assert resolve(existing, ACT, applied=True) == applied
    fresh = changed(existing, State.PENDING, attempts=0, marks=0, started_at=NOW, code=None, not_before=None)
    assert resolve(existing, ACT, applied=False) == Write(operation=fresh, previous=existing)


@pytest.mark.parametrize(
    ("existing", "applied", "done", "why"),
    [
        (None, True, False, "no such operation"),
        (item(State.PERMANENTLY_FAILED, expires_at=NOW), True, False, "no such operation"),
        (item(State.SUCCEEDED), True, True, "succeeded already"),
        (item(State.SUCCEEDED), False, False, "succeeded already"),
        (item(State.PENDING), True, False, "it is pending; only failed"),
        (item(State.CANCELED), True, False, "it is canceled; only failed"),
    ],
)
def test_what_cannot_be_resolved_is_said(existing, applied, done, why) -> None:
    said = resolve(existing, ACT, applied=applied)
    assert isinstance(said, NotDone)
    assert (said.done, why in said.why) == (done, True)


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYABLE_FAILED, State.PERMANENTLY_FAILED, *HELD])
def test_a_dead_letter_is_recorded_with_its_ids_and_keeps_the_moment_of_the_last_claim(state) -> None:
    existing = item(state, marks=2)
    marks = 3 if state is State.PROCESSING else 2
    expected = changed(existing, State.DEAD_LETTERED, message_ids=("m1", "m2"), marks=marks)
    assert expected.claimed_at == NOW - HOUR
    assert dead_lettered(existing, ACT, **NAMES, message_ids=["m1", "m2"]) == Write(
        operation=expected, previous=existing
    )


def test_a_dead_letter_of_an_unknown_operation_is_recorded() -> None:
    made = Write(operation=created(State.DEAD_LETTERED, message_ids=("m2",)), previous=None)
    assert dead_lettered(None, ACT, **NAMES, message_ids=["m2"]) == made
    expired = item(State.SUCCEEDED, expires_at=NOW)
    made = Write(operation=created(State.DEAD_LETTERED, 4, message_ids=("m2",)), previous=expired)
    assert dead_lettered(expired, ACT, **NAMES, message_ids=["m2"]) == made


@pytest.mark.parametrize(
    ("existing", "done"),
    [
        (item(State.DEAD_LETTERED), True),
        (item(State.SUCCEEDED), True),
        (item(State.CANCELED), True),
        (item(State.LEASED, lease_until=NOW + SECOND), False),
    ],
)
def test_what_needs_no_record_of_its_dead_letter_is_said(existing, done) -> None:
    said = dead_lettered(existing, ACT, **NAMES, message_ids=["m2"])
    assert isinstance(said, NotDone)
    assert said.done is done


def test_the_latest_twenty_ids_are_kept() -> None:
    existing = item(State.PENDING, message_ids=tuple(f"m{number}" for number in range(20)))
    write = dead_lettered(existing, ACT, **NAMES, message_ids=["m19", "new"])
    assert isinstance(write, Write)
    assert write.operation.message_ids == (*(f"m{number}" for number in range(1, 20)), "new")


def test_the_first_line_of_a_history_stays_and_a_reason_has_an_end() -> None:
    lines = tuple(Entry(state=State.PENDING, at=NOW, fence=number, attempt=1) for number in range(20))
    act = replace(ACT, reason="x" * 300)
    write = cancel(item(State.PENDING, history=lines), act, **NAMES)
    assert isinstance(write, Write)
    assert write.operation.history[:-1] == (lines[0], *lines[2:])
    assert write.operation.history[-1].note == "ann: " + "x" * 195
    write = cancel(item(State.PENDING, history=lines[:19]), act, **NAMES)
    assert isinstance(write, Write)
    assert len(write.operation.history) == 20
