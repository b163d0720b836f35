"""What a write may make of an operation, and when somebody has it: the rules that every store shares."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from surehand.ledger import IllegalTransition, Operation, Write, is_own
from surehand.states import HELD, State
from tests.unit.operations import DAYS, HOUR, NOW, SECOND, an_operation

INSTANT = timedelta.resolution


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize(("until", "live"), [(None, False), (NOW, False), (NOW + INSTANT, True)])
def test_only_a_held_operation_is_leased_and_only_until_its_lease_ends(state, until, live) -> None:
    assert an_operation(state, lease_until=until).leased_at(NOW) is (live and state in HELD)


def test_a_write_stays_with_its_operation() -> None:
    one = an_operation(State.PENDING)
    with pytest.raises(IllegalTransition, match="id"):
        Write(operation=replace(one, id="another"), previous=one)
    with pytest.raises(IllegalTransition, match="id"):
        Write(operation=replace(one, id="another", state=State.LEASED, fence=4), previous=one)


@pytest.mark.parametrize("state", State)
def test_what_keeps_state_fence_and_owner_may_always_be_written(state) -> None:
    one = an_operation(state)
    extended = replace(one, expires_at=NOW + DAYS)
    assert Write(operation=extended, previous=one).operation == extended


@pytest.mark.parametrize(
    ("source", "target", "step", "refused"),
    [
        (State.PENDING, State.LEASED, 1, False),
        (State.PENDING, State.LEASED, 0, True),
        (State.PENDING, State.LEASED, -1, True),
        (State.LEASED, State.LEASED, 1, False),
        (State.LEASED, State.LEASED, 0, True),
        (State.LEASED, State.SUCCEEDED, 0, False),
        (State.LEASED, State.SUCCEEDED, -1, True),
        (State.PENDING, State.CANCELED, 0, False),
        (State.PENDING, State.CANCELED, -1, True),
    ],
)
def test_a_claim_raises_the_fence_and_nothing_lowers_it(source, target, step, refused) -> None:
    one = an_operation(source)
    after = replace(one, state=target, fence=one.fence + step, owner="two")
    if refused:
        with pytest.raises(IllegalTransition, match=f"fence cannot go from 3 to {3 + step}"):
            Write(operation=after, previous=one)
    else:
        assert Write(operation=after, previous=one).operation.fence == one.fence + step


def after_its_end(*, claimed_at_expiry: timedelta, target: State) -> tuple[Operation, Operation]:
    one = an_operation(State.SUCCEEDED, expires_at=NOW)
    return one, replace(one, state=target, fence=4, owner="two", claimed_at=NOW + claimed_at_expiry)


def test_what_has_expired_may_begin_anew_from_its_expiry_on() -> None:
    one, after = after_its_end(claimed_at_expiry=timedelta(0), target=State.LEASED)
    assert Write(operation=after, previous=one).revives
    one, after = after_its_end(claimed_at_expiry=-INSTANT, target=State.LEASED)
    with pytest.raises(IllegalTransition, match="succeeded → leased"):
        Write(operation=after, previous=one)


def test_what_has_expired_begins_only_as_what_never_was() -> None:
    one, after = after_its_end(claimed_at_expiry=HOUR, target=State.PROCESSING)
    with pytest.raises(IllegalTransition, match="succeeded → processing"):
        Write(operation=after, previous=one)


def test_a_write_whose_answer_was_lost_is_known_by_owner_fence_and_state() -> None:
    one = an_operation(State.LEASED)
    write = Write(operation=replace(one, state=State.SUCCEEDED), previous=one)
    assert is_own(write, write.operation)
    for other in ({"owner": "two"}, {"fence": 4}, {"state": State.CANCELED}):
        assert not is_own(write, replace(write.operation, **other))


def test_an_extension_that_was_refused_is_never_taken_for_written() -> None:
    """What stands there looks like ours, and it may be a requested cancel that refused it."""
    one = an_operation(State.LEASED, lease_until=NOW + SECOND)
    extension = Write(operation=replace(one, lease_until=NOW + HOUR), previous=one)
    assert not is_own(extension, replace(one, cancel_requested=True))
