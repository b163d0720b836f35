"""One suite for every ledger: what compare-and-set promises holds in memory, on moto and on DynamoDB's engines."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from surehand.ledger import (
    Candidate,
    Claimed,
    IllegalTransition,
    Lease,
    NotClaimed,
    NotWritten,
    Operation,
    Standing,
    Wanted,
    Write,
    Written,
    claim,
    extended,
    settle,
    slots,
    started,
    write_surely,
)
from surehand.states import HELD, TRANSITIONS, State, legal
from tests.contracts.stores import STORES

pytestmark = pytest.mark.parametrize("ledger", STORES, indirect=True)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAYS = timedelta(days=30)
MINUTE = timedelta(minutes=1)


def wanted(key: str = "1", message: str = "m1", *, sent: datetime = NOW - MINUTE, body: str = "b", seen: bool = False):
    return Wanted(
        id=f'["orders",null,["{key}"]]',
        handler="orders",
        tenant=None,
        candidates=(Candidate(message, sent),),
        fingerprints=(body,),
        seen_before=seen,
    )


def lease(owner: str = "one", *, now: datetime = NOW) -> Lease:
    return Lease(owner=owner, until=now + MINUTE, retention=DAYS, version="v1")


def claimed(ledger, one=None, *, owner: str = "one", now: datetime = NOW) -> Operation:
    answer = claim(ledger, [one or wanted()], lease=lease(owner, now=now), now=now)[0]
    assert isinstance(answer, Claimed), answer
    return answer.operation


def settled(ledger, operation: Operation, state: State, *, now: datetime = NOW, **options):
    write = settle(operation, state, now=now, retention=DAYS, attempted=True, **options)
    return write_surely(ledger, [write], now=now)[0]


def read(ledger, key: str = "1") -> Operation | None:
    operation_id = wanted(key).id
    return ledger.read([operation_id]).get(operation_id)


def test_a_new_operation_is_claimed_with_fence_one(ledger) -> None:
    operation = claimed(ledger)
    assert (operation.fence, operation.state, read(ledger).state) == (1, State.LEASED, State.LEASED)


def test_what_is_written_is_read_back_as_it_was(ledger) -> None:
    operation = claimed(ledger, replace(wanted(), tenant="zürich\n\x01"))
    write = settle(
        operation,
        State.PERMANENTLY_FAILED,
        now=NOW,
        retention=DAYS,
        code="data.bad",
        result="0",
        not_before=NOW + MINUTE,
        attempted=True,
        message_id="m1",
        failed_ids=("m1", "m2"),
        note="because",
    )
    assert write_surely(ledger, [write], now=NOW) == [Written()]
    assert read(ledger) == write.operation


def test_an_operation_under_a_live_lease_is_in_progress_until_the_lease_ends(ledger) -> None:
    held = claimed(ledger)
    answer = claim(ledger, [wanted(message="m2")], lease=lease("two"), now=NOW)[0]
    assert isinstance(answer, NotClaimed)
    assert (answer.standing, answer.until) == (Standing.IN_PROGRESS, held.lease_until)


def test_an_expired_lease_is_taken_over_with_a_higher_fence(ledger) -> None:
    claimed(ledger)
    later = NOW + 2 * MINUTE
    answer = claim(ledger, [wanted(seen=True)], lease=lease("two", now=later), now=later)[0]
    assert isinstance(answer, Claimed)
    assert (answer.operation.fence, answer.operation.owner, answer.suspect) == (2, "two", True)


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.RETRYABLE_FAILED, State.PERMANENTLY_FAILED, State.PENDING])
def test_a_late_worker_s_settle_is_refused_and_changes_nothing(ledger, state) -> None:
    late = claimed(ledger)
    later = NOW + 2 * MINUTE
    current = claimed(ledger, wanted(seen=True), owner="two", now=later)
    assert isinstance(settled(ledger, late, state, now=later), NotWritten)
    assert read(ledger) == current


def test_a_late_worker_cannot_extend_or_mark(ledger) -> None:
    late = claimed(ledger)
    later = NOW + 2 * MINUTE
    current = claimed(ledger, wanted(seen=True), owner="two", now=later)
    extension = extended(late, until=later + MINUTE, now=later, retention=DAYS)
    assert isinstance(ledger.write([extension], now=later)[0], NotWritten)
    assert isinstance(ledger.write([started(late, now=later)], now=later)[0], NotWritten)
    assert read(ledger) == current


def test_the_holder_can_extend_its_lease(ledger) -> None:
    operation = claimed(ledger)
    assert ledger.write([extended(operation, until=NOW + 9 * MINUTE, now=NOW, retention=DAYS)], now=NOW) == [Written()]
    later = NOW + 5 * MINUTE
    answer = claim(ledger, [wanted(message="m2")], lease=lease("two", now=later), now=later)[0]
    assert isinstance(answer, NotClaimed)
    assert answer.standing is Standing.IN_PROGRESS


def test_a_release_makes_the_operation_claimable_at_once(ledger) -> None:
    operation = claimed(ledger)
    write = settle(operation, State.PENDING, now=NOW, retention=DAYS)
    assert write_surely(ledger, [write], now=NOW) == [Written()]
    again = claimed(ledger, wanted(seen=True), owner="two")
    assert (again.fence, again.attempts) == (2, 0)


def test_a_claim_whose_reply_was_lost_and_which_was_sent_twice_is_ours(ledger) -> None:
    first = claimed(ledger)
    write = Write(operation=first, previous=None)
    assert write_surely(ledger, [write], now=NOW) == [Written()]


def test_a_settle_whose_reply_was_lost_and_which_was_sent_twice_is_done(ledger) -> None:
    operation = claimed(ledger)
    write = settle(operation, State.SUCCEEDED, now=NOW, retention=DAYS, attempted=True)
    assert write_surely(ledger, [write], now=NOW) == [Written()]
    assert write_surely(ledger, [write], now=NOW) == [Written()]


def test_an_expired_item_that_was_not_deleted_counts_as_none_but_its_fence_continues(ledger) -> None:
    operation = claimed(ledger)
    settled(ledger, operation, State.SUCCEEDED)
    later = NOW + DAYS + MINUTE
    again = claimed(ledger, wanted(message="m2", body="other"), owner="two", now=later)
    assert (again.fence, again.attempts, again.message_ids) == (2, 0, ("m2",))


def test_a_settle_of_an_item_that_expired_meanwhile_is_refused(ledger) -> None:
    operation = claimed(ledger)
    assert isinstance(settled(ledger, operation, State.SUCCEEDED, now=NOW + DAYS + MINUTE), NotWritten)


def test_another_payload_under_the_same_key_is_a_conflict_and_changes_nothing(ledger) -> None:
    settled(ledger, claimed(ledger), State.SUCCEEDED)
    before = read(ledger)
    answer = claim(ledger, [wanted(message="m2", body="other")], lease=lease("two"), now=NOW)[0]
    assert isinstance(answer, NotClaimed)
    assert answer.standing is Standing.KEY_CONFLICT
    assert read(ledger) == before


def test_a_claim_before_its_time_is_deferred(ledger) -> None:
    settled(ledger, claimed(ledger), State.RETRYABLE_FAILED, not_before=NOW + 10 * MINUTE)
    answer = claim(ledger, [wanted(seen=True)], lease=lease("two"), now=NOW + 5 * MINUTE)[0]
    assert isinstance(answer, NotClaimed)
    assert (answer.standing, answer.until) == (Standing.DEFERRED, NOW + 10 * MINUTE)


def test_a_cancel_request_stands_in_the_way_of_every_write_that_does_not_know_it(ledger) -> None:
    operation = claimed(ledger)
    asked = replace(operation, cancel_requested=True)
    assert ledger.write([Write(operation=asked, previous=operation)], now=NOW) == [Written()]
    answer = settled(ledger, operation, State.RETRYABLE_FAILED)
    assert answer == NotWritten(asked)


def test_a_batch_is_claimed_and_settled_each_for_itself(ledger) -> None:
    settled(ledger, claimed(ledger, wanted("7")), State.SUCCEEDED)
    batch = [wanted(str(number)) for number in range(60)]
    answers = claim(ledger, batch, lease=lease("two"), now=NOW)
    applied = [index for index, answer in enumerate(answers) if isinstance(answer, NotClaimed)]
    assert applied == [7]
    writes = [
        settle(answer.operation, State.SUCCEEDED, now=NOW, retention=DAYS, attempted=True)
        for answer in answers
        if isinstance(answer, Claimed)
    ]
    assert write_surely(ledger, writes, now=NOW) == [Written()] * 59
    assert {operation.state for operation in ledger.read([one.id for one in batch]).values()} == {State.SUCCEEDED}


def test_slots_taken_in_one_batch_name_their_first_takers_to_every_later_one(ledger) -> None:
    first, second = (claimed(ledger, wanted(key), owner=key) for key in ("1", "2"))

    def take(slot: str, taker: Operation) -> Write:
        return slots.take(None, f'["orders",null,["!id","{slot}"]]', taker, until=NOW, now=NOW, retention=DAYS)

    for _ in range(2):  # a repetition whose answer was lost is our own write
        assert write_surely(ledger, [take("a", first), take("b", second)], now=NOW) == [Written(), Written()]
    later = write_surely(ledger, [take("a", second), take("b", first), take("c", first)], now=NOW)
    holders = [slots.holder(one.existing, NOW) if isinstance(one, NotWritten) else None for one in later]
    assert holders == [first.id, second.id, None]


def test_fifty_claimants_of_one_operation_have_one_winner(ledger) -> None:
    def race(number: int):
        return claim(ledger, [wanted(message=f"m{number}")], lease=lease(f"owner-{number}"), now=NOW)[0]

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(race, range(50)))
    winners = [answer for answer in answers if isinstance(answer, Claimed)]
    losers = [answer for answer in answers if isinstance(answer, NotClaimed)]
    assert len(winners) == 1
    assert {answer.standing for answer in losers} == {Standing.IN_PROGRESS}


def test_the_table_of_transitions_is_the_law(ledger) -> None:
    """Every pair: a legal one is written, any other is refused and leaves the item as it is."""
    for source, target in product([None, *State], State):
        key = f"{source}-{target}"
        before = None if source is None else _in_state(ledger, key, source)
        after = _operation(key, target, fence=1 if before is None else before.fence + 1)
        if legal(source, target):
            assert list(ledger.write([Write(operation=after, previous=before)], now=NOW)) == [Written()], key
            assert read(ledger, key) == after, key
        else:
            with pytest.raises(IllegalTransition):
                ledger.write([Write(operation=after, previous=before)], now=NOW)
            assert read(ledger, key) == before, key


def _operation(key: str, state: State, *, fence: int) -> Operation:
    return Operation(
        id=wanted(key).id,
        handler="orders",
        tenant=None,
        state=state,
        fence=fence,
        owner=f"owner-{fence}",
        claimed_at=NOW,
        started_at=NOW,
        expires_at=NOW + DAYS,
        lease_until=NOW + MINUTE if state in HELD else None,
    )


def _in_state(ledger, key: str, state: State) -> Operation:
    """Bring a new item into a state along the shortest legal way."""
    ways: dict[State, list[State]] = {}
    frontier: list[list[State]] = [[first] for first in TRANSITIONS[None]]
    while frontier:
        way = frontier.pop(0)
        if way[-1] not in ways:
            ways[way[-1]] = way
            frontier += [[*way, following] for following in TRANSITIONS[way[-1]]]
    previous = None
    for fence, step in enumerate(ways[state], start=1):
        operation = _operation(key, step, fence=fence)
        assert list(ledger.write([Write(operation=operation, previous=previous)], now=NOW)) == [Written()]
        previous = operation
    assert previous is not None
    return previous
