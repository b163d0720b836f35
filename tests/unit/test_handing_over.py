"""What the history of an operation says of runs that went on in another invocation, or that ran before."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from surehand.ledger import Entry
from surehand.states import State
from surehand.worker.handing_over import MOVED, UNMOVED, is_hand_over, ran_before, unmoved_in_a_row


def entry(state: State, note: str | None = None) -> Entry:
    return Entry(state=state, at=datetime(2026, 1, 5, tzinfo=UTC), fence=1, attempt=1, note=note)


LEASED, TAKEN = entry(State.LEASED), entry(State.LEASED, "takeover")
HANDED, STILL = entry(State.PENDING, MOVED), entry(State.PENDING, UNMOVED)
DEFERRED, RETRY = entry(State.PENDING, "deferred"), entry(State.RETRYABLE_FAILED)


@pytest.mark.parametrize(
    ("one", "is_one"),
    [(HANDED, True), (STILL, True), (DEFERRED, False), (RETRY, False), (entry(State.RETRYABLE_FAILED, MOVED), False)],
)
def test_a_hand_over_is_pending_with_a_note_of_the_cursor(one, is_one) -> None:
    assert is_hand_over(one) is is_one


@pytest.mark.parametrize(
    ("history", "ran"),
    [
        ((), False),
        ((RETRY,), False),
        ((LEASED,), False),
        ((TAKEN,), True),
        ((LEASED, DEFERRED, LEASED), False),
        ((LEASED, RETRY, LEASED), True),
        ((LEASED, entry(State.PROCESSING), entry(State.PENDING), LEASED), True),
        ((LEASED, entry(State.PROCESSING), entry(State.PENDING, "unstarted"), LEASED), False),
        ((LEASED, HANDED, LEASED), True),
        ((LEASED, entry(State.PROCESSING), RETRY), False),
        ((LEASED, TAKEN, DEFERRED, LEASED), True),
        ((LEASED, DEFERRED, LEASED, entry(State.PROCESSING)), False),
    ],
)
def test_the_code_ran_before_if_an_earlier_claim_was_used_or_lapsed(history, ran) -> None:
    assert ran_before(history) is ran


@pytest.mark.parametrize(
    ("history", "count"),
    [((), 0), ((STILL,), 1), ((STILL, RETRY, DEFERRED, STILL), 2), ((STILL, HANDED, STILL), 1), ((STILL, HANDED), 0)],
)
def test_hand_overs_without_a_move_are_counted_from_the_last_one_back(history, count) -> None:
    assert unmoved_in_a_row(history) == count
