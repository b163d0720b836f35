"""Who may claim an operation and what a claim and a settle make of it: the protocol's arithmetic at its boundaries."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from surehand.ledger import (
    Candidate,
    Claimed,
    Entry,
    Lease,
    NotClaimed,
    Operation,
    Standing,
    Wanted,
    Write,
    decide,
    extended,
    renewed,
    settle,
    started,
)
from surehand.ledger.claims import Proposal, is_redrive
from surehand.states import State
from tests.unit.operations import DAYS, HOUR, NOW, SECOND, an_operation

LEASE = Lease(owner="two", until=NOW + 32 * SECOND, retention=DAYS, give_up_after=3 * HOUR, version="v2")
HELD = [State.LEASED, State.PROCESSING]
FAILED = [State.PERMANENTLY_FAILED, State.DEAD_LETTERED]


def item(state: State, **known) -> Operation:
    """An operation that M1 brought two hours ago; its last claim was an hour ago, and its lease has ended."""
    made = an_operation(
        state,
        lease_until=NOW - HOUR + 32 * SECOND if state in HELD else None,
        attempts=2,
        fingerprints=("body", "fields"),
        history=(Entry(state=state, at=NOW - HOUR, fence=3, attempt=2, message_id="m1"),),
        code="provider.busy",
        version="v1",
    )
    return replace(made, **known)


def wanted(*candidates: Candidate, fingerprints: tuple[str, ...] = ("body", "other")) -> Wanted:
    return Wanted(
        id="o",
        handler="orders",
        tenant="t",
        candidates=candidates or (Candidate("m1", NOW - 2 * HOUR),),
        fingerprints=fingerprints,
    )


NEW = Candidate("m2", NOW - SECOND)


@pytest.mark.parametrize(
    ("known", "begun"),
    [
        ({}, False),
        ({"attempts": 1}, True),
        ({"marks": 1}, True),
        ({"code": "provider.closed"}, True),
        ({"history": (Entry(state=State.PENDING, at=NOW, fence=1, attempt=1, note="continued"),)}, True),
        ({"state": State.RETRYABLE_FAILED}, True),
    ],
)
def test_what_was_only_put_back_unstarted_has_all_its_time_before_it(known, begun) -> None:
    """On FIFO the head may wait for days, and its followers with it."""
    held = tuple(
        Entry(state=state, at=NOW, fence=1, attempt=1, note=note)
        for state, note in [(State.LEASED, None), (State.PENDING, "unstarted"), (State.LEASED, None)]
    )
    made = replace(item(State.PENDING, attempts=0, code=None, history=held), **known)
    assert claimed(made).operation.started_at == (made.started_at if begun else NOW)


def decided(existing: Operation | None, *candidates: Candidate, **options) -> Proposal | NotClaimed:
    return decide(existing, wanted(*candidates, **options), lease=LEASE, now=NOW)


def claimed(existing: Operation | None, *candidates: Candidate, **options) -> Claimed:
    made = decided(existing, *candidates, **options)
    assert isinstance(made, Proposal), made
    assert isinstance(made.then, Claimed), made
    assert made.write == Write(operation=made.then.operation, previous=existing)
    return made.then


def standing(existing: Operation, *candidates: Candidate, **options) -> Standing:
    made = decided(existing, *candidates, **options)
    assert isinstance(made, NotClaimed), made
    assert made.existing == existing
    return made.standing


def test_a_new_operation_is_written_with_everything_that_later_claims_need() -> None:
    made = claimed(None, Candidate("m2", NOW, "m1"), Candidate("m3", NOW, "m3"))
    assert made == Claimed(
        operation=Operation(
            id="o",
            handler="orders",
            tenant="t",
            state=State.LEASED,
            fence=1,
            owner="two",
            lease_until=LEASE.until,
            claimed_at=NOW,
            started_at=NOW,
            expires_at=NOW + DAYS,
            message_ids=("m1", "m2", "m3"),
            fingerprints=("body", "other"),
            history=(Entry(state=State.LEASED, at=NOW, fence=1, attempt=1, message_id="m2"),),
            version="v2",
        ),
        message_id="m2",
    )
    assert not made.suspect


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYABLE_FAILED])
def test_a_further_attempt_goes_on_from_what_is_known(state) -> None:
    existing = item(state, marks=1, failed_ids=("m0",), result="1", not_before=NOW)
    made = claimed(existing, Candidate("m1", NOW - 2 * HOUR, "m1"))
    assert made == Claimed(
        operation=replace(
            existing,
            state=State.LEASED,
            fence=4,
            owner="two",
            lease_until=LEASE.until,
            claimed_at=NOW,
            expires_at=NOW + DAYS,
            not_before=None,
            result=None,
            history=(
                *existing.history,
                Entry(state=State.LEASED, at=NOW, fence=4, attempt=3, message_id="m1"),
            ),
            version="v2",
        ),
        message_id="m1",
    )
    assert made.suspect
    assert not made.crashed


@pytest.mark.parametrize(
    ("state", "marks", "after"),
    [
        (State.LEASED, 0, 1),
        (State.LEASED, 1, 1),
        (State.LEASED, 2, 2),
        (State.PROCESSING, 0, 2),
        (State.PROCESSING, 1, 2),
        (State.PROCESSING, 2, 3),
    ],
)
def test_a_lapsed_lease_makes_a_suspect_and_a_lapsed_run_one_mark_more(state, marks, after) -> None:
    made = claimed(item(state, marks=marks))
    assert made.operation.marks == after
    assert made.lapsed is state
    assert made.operation.history[-1].note == "takeover"
    assert (made.operation.attempts, made.operation.started_at) == (2, NOW - 2 * HOUR)
    assert (made.suspect, made.crashed, made.poison) == (True, after > 1, after > 2)


@pytest.mark.parametrize("state", FAILED)
def test_a_redrive_starts_afresh(state) -> None:
    existing = item(state, marks=3, attempts=5, failed_ids=("m1",))
    made = claimed(existing, NEW)
    assert made.redrive
    assert made.lapsed is None
    assert made.operation == replace(
        existing,
        state=State.LEASED,
        fence=4,
        owner="two",
        lease_until=LEASE.until,
        claimed_at=NOW,
        started_at=NOW,
        expires_at=NOW + DAYS,
        attempts=0,
        marks=0,
        message_ids=("m1", "m2"),
        history=(
            *existing.history,
            Entry(state=State.LEASED, at=NOW, fence=4, attempt=1, message_id="m2", note="redrive"),
        ),
        version="v2",
    )


@pytest.mark.parametrize(
    ("state", "marks", "after"),
    [(State.LEASED, 0, 1), (State.LEASED, 2, 2), (State.PROCESSING, 0, 2), (State.PROCESSING, 2, 2)],
)
def test_a_redrive_that_finds_a_lapsed_lease_keeps_the_marks_short_of_poison(state, marks, after) -> None:
    made = claimed(item(state, marks=marks), NEW)
    assert (made.redrive, made.lapsed, made.operation.marks, made.operation.attempts) == (True, state, after, 0)
    assert made.operation.history[-1].note == "redrive"


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYABLE_FAILED, *FAILED])
@pytest.mark.parametrize(("marks", "decides", "after"), [
    (1, True, 0), (2, True, 2), (3, True, 2), (2, False, 0), (3, False, 0),
])  # fmt: skip
def test_a_redrive_keeps_what_says_that_a_run_s_end_is_unknown_where_a_policy_decides_about_it(
    state, marks, decides, after
) -> None:
    existing = item(state, marks=marks, failed_ids=("m1",), started_at=NOW - 4 * HOUR)
    made = decide(existing, wanted(NEW), lease=replace(LEASE, decides=decides), now=NOW)
    assert isinstance(made, Proposal)
    assert isinstance(made.then, Claimed)
    assert (made.then.redrive, made.then.operation.marks, made.then.operation.attempts) == (True, after, 0)


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYABLE_FAILED])
@pytest.mark.parametrize(("sent", "ago", "afresh"), [
    (NOW - HOUR + SECOND, 3 * HOUR + SECOND, True),
    (NOW - HOUR + SECOND, 3 * HOUR, False),
    (NOW - HOUR, 3 * HOUR + SECOND, False),
])  # fmt: skip
def test_what_was_on_its_way_when_an_operation_s_time_was_over_starts_it_afresh(state, sent, ago, afresh) -> None:
    """The last claim was an hour ago: what was sent before it has had its chance with it."""
    existing = item(state, started_at=NOW - ago)
    assert claimed(existing, Candidate("m2", sent)).redrive is afresh
    assert claimed(existing, Candidate("m2", sent, "m2")).redrive is afresh
    assert not claimed(existing, Candidate("m2", sent, "m1")).redrive
    assert not claimed(existing, Candidate("m2", sent, "m9")).redrive


@pytest.mark.parametrize(("existing", "waits"), [
    (item(State.PROCESSING), True), (item(State.LEASED), False), (item(State.LEASED, marks=2), True),
    (item(State.LEASED, code="effect.unanswered"), True), (item(State.DEAD_LETTERED, marks=1), False),
    (item(State.DEAD_LETTERED, marks=2), True),
])  # fmt: skip
def test_a_requested_cancel_waits_for_what_a_policy_says_of_a_run_whose_end_is_unknown(existing, waits) -> None:
    existing = replace(existing, cancel_requested=True)
    for decides in (False, True):
        made = decide(existing, wanted(), lease=replace(LEASE, decides=decides), now=NOW)
        assert isinstance(made, Proposal)
        assert made.write.operation.state is (State.LEASED if decides and waits else State.CANCELED)
        assert made.write.operation.cancel_requested is (decides and waits)


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYABLE_FAILED])
def test_a_requested_cancel_of_what_waits_is_left_to_its_holder(state) -> None:
    assert claimed(item(state, cancel_requested=True)).operation.cancel_requested


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("sent", [-SECOND, timedelta(0), SECOND])
def test_only_a_new_message_sent_after_the_last_claim_of_what_failed_or_died_is_a_redrive(state, known, sent) -> None:
    existing = item(state)
    message = Candidate("m1" if known else "m2", existing.claimed_at + sent)
    assert is_redrive(existing, message) is (state in FAILED + HELD and not known and sent > timedelta(0))


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYABLE_FAILED])
@pytest.mark.parametrize(("known", "ago", "afresh"), [
    (False, 3 * HOUR + SECOND, True), (False, 3 * HOUR, False), (True, 3 * HOUR + SECOND, False),
])  # fmt: skip
def test_what_is_sent_after_an_operation_s_time_was_over_starts_it_afresh(state, known, ago, afresh) -> None:
    existing = item(state, started_at=NOW - ago, marks=1)
    made = claimed(existing, Candidate("m1" if known else "m2", NOW))
    assert made.redrive is afresh
    expected = (0, 0, NOW) if afresh else (2, 1, NOW - ago)
    assert (made.operation.attempts, made.operation.marks, made.operation.started_at) == expected


@pytest.mark.parametrize("state", FAILED)
def test_what_was_sent_before_the_failing_claim_revives_nothing_however_old_the_operation(state) -> None:
    existing = item(state, started_at=NOW - 9 * HOUR, failed_ids=("m1",))
    made = decided(existing, Candidate("m2", existing.claimed_at))
    assert not (isinstance(made, Proposal) and isinstance(made.then, Claimed) and made.then.redrive)


def test_a_renewal_of_a_known_message_is_no_redrive() -> None:
    assert not is_redrive(item(State.PERMANENTLY_FAILED), Candidate("m2", NOW, "m1"))
    assert not is_redrive(item(State.PERMANENTLY_FAILED, message_ids=("m2",)), Candidate("m2", NOW, "m9"))


@pytest.mark.parametrize(
    ("existing", "candidates", "expected"),
    [
        (item(State.SUCCEEDED), (), Standing.ALREADY_APPLIED),
        (item(State.COMPENSATED), (NEW,), Standing.ALREADY_APPLIED),
        (item(State.CANCELED), (NEW,), Standing.CANCELED),
        (item(State.PERMANENTLY_FAILED), (), Standing.FAST_FORWARDED),
        (item(State.PERMANENTLY_FAILED), (Candidate("m2", NOW - HOUR),), Standing.FAST_FORWARDED),
        (item(State.DEAD_LETTERED, failed_ids=("m1",)), (), Standing.FAST_FORWARDED),
        (item(State.PENDING, failed_ids=("m1",)), (), Standing.FAST_FORWARDED),
        (item(State.PENDING, failed_ids=("m1",)), (Candidate("m2", NOW, "m1"),), Standing.FAST_FORWARDED),
        (item(State.LEASED, lease_until=NOW + SECOND), (NEW,), Standing.IN_PROGRESS),
        (item(State.PROCESSING, lease_until=NOW + SECOND), (), Standing.IN_PROGRESS),
    ],
)
def test_what_needs_no_run_is_answered_from_the_item(existing, candidates, expected) -> None:
    assert standing(existing, *candidates) is expected


@pytest.mark.parametrize("state", [state for state in State if state not in (State.LEASED, State.PROCESSING)])
def test_another_payload_is_a_conflict_in_every_state(state) -> None:
    assert standing(item(state), NEW, fingerprints=("x", "y")) is Standing.KEY_CONFLICT
    unseen = decided(item(state, fingerprints=()), NEW, fingerprints=("x", "y"))
    assert isinstance(unseen, Proposal) or unseen.standing is not Standing.KEY_CONFLICT


def test_one_equal_fingerprint_is_enough_and_the_first_ones_stay() -> None:
    assert claimed(item(State.PENDING), fingerprints=("x", "fields")).operation.fingerprints == ("body", "fields")
    assert claimed(item(State.PENDING, fingerprints=()), fingerprints=("x",)).operation.fingerprints == ("x",)


def test_a_lease_ends_at_its_moment_and_not_after_it() -> None:
    assert standing(item(State.LEASED, lease_until=NOW + timedelta(microseconds=1))) is Standing.IN_PROGRESS
    assert claimed(item(State.LEASED, lease_until=NOW)).lapsed is State.LEASED


@pytest.mark.parametrize(("ahead", "comes"), [(2 * SECOND, True), (2 * SECOND + timedelta(microseconds=1), False)])
def test_a_message_may_be_two_seconds_early_and_no_more(ahead, comes) -> None:
    existing = item(State.RETRYABLE_FAILED, not_before=NOW + ahead)
    made = decided(existing)
    if comes:
        assert isinstance(made, Proposal)
    else:
        assert made == NotClaimed(standing=Standing.DEFERRED, existing=existing, until=NOW + ahead)


def test_the_end_of_a_live_lease_is_told() -> None:
    made = decided(item(State.LEASED, lease_until=NOW + HOUR))
    assert isinstance(made, NotClaimed)
    assert made.until == NOW + HOUR


def test_of_several_messages_the_redriven_one_is_chosen_else_the_first_that_may_run() -> None:
    old = Candidate("m1", NOW - 2 * HOUR)
    assert claimed(item(State.DEAD_LETTERED, failed_ids=("m1",)), old, NEW).message_id == "m2"
    assert claimed(item(State.PENDING, failed_ids=("m1",)), old, NEW, Candidate("m3", NOW)).message_id == "m2"
    assert claimed(None, old, NEW).message_id == "m1"


def test_an_item_past_its_expiry_counts_as_none_but_its_fence_goes_on() -> None:
    existing = item(State.SUCCEEDED, expires_at=NOW, marks=2, failed_ids=("m1",))
    made = claimed(existing, fingerprints=("x",)).operation
    assert made == replace(claimed(None, fingerprints=("x",)).operation, fence=4, history=made.history)
    assert made.history == (Entry(state=State.LEASED, at=NOW, fence=4, attempt=1, message_id="m1"),)
    assert standing(item(State.SUCCEEDED, expires_at=NOW + SECOND)) is Standing.ALREADY_APPLIED


@pytest.mark.parametrize("state", HELD)
def test_a_requested_cancel_takes_effect_once_the_lease_has_ended(state) -> None:
    existing = item(state, cancel_requested=True)
    assert standing(replace(existing, lease_until=NOW + SECOND), NEW) is Standing.IN_PROGRESS
    made = decided(existing, NEW)
    assert isinstance(made, Proposal)
    assert isinstance(made.then, NotClaimed)
    assert made.then == NotClaimed(standing=Standing.CANCELED, existing=made.write.operation)
    assert made.write.operation == replace(
        existing,
        state=State.CANCELED,
        lease_until=None,
        cancel_requested=False,
        expires_at=NOW + DAYS,
        history=(
            *existing.history,
            Entry(state=State.CANCELED, at=NOW, fence=3, attempt=3, code="provider.busy", note="cancel"),
        ),
    )


def test_ids_are_kept_once_and_the_latest_twenty() -> None:
    existing = item(State.PENDING, message_ids=tuple(f"m{number}" for number in range(20)))
    made = claimed(existing, Candidate("m19", NOW), NEW, Candidate("new", NOW)).operation
    assert made.message_ids == (*(f"m{number}" for number in range(1, 20)), "new")


def test_the_history_keeps_its_first_line_and_the_latest_nineteen() -> None:
    lines = tuple(Entry(state=State.LEASED, at=NOW, fence=number, attempt=1) for number in range(20))
    made = claimed(item(State.PENDING, history=lines[:19])).operation
    assert made.history[:19] == lines[:19]
    made = claimed(item(State.PENDING, history=lines)).operation
    assert len(made.history) == 20
    assert made.history[:19] == (lines[0], *lines[2:])


MINE = replace(item(State.PROCESSING), lease_until=NOW + HOUR)


def test_a_settled_attempt_counts_and_clears_the_suspicion() -> None:
    mine = replace(MINE, marks=2)
    write = settle(
        mine, State.SUCCEEDED, now=NOW, retention=DAYS, result="7", attempted=True, message_id="m1", note="n"
    )
    assert write.previous is mine
    assert write.operation == replace(
        mine,
        state=State.SUCCEEDED,
        attempts=3,
        marks=0,
        lease_until=None,
        code=None,
        result="7",
        expires_at=NOW + DAYS,
        history=(
            *mine.history,
            Entry(state=State.SUCCEEDED, at=NOW, fence=3, attempt=3, message_id="m1", note="n"),
        ),
    )


def test_what_is_not_an_attempt_keeps_marks_and_attempts() -> None:
    mine = replace(MINE, marks=2)
    write = settle(mine, State.PENDING, now=NOW, retention=DAYS, code="c.d", not_before=NOW + HOUR)
    assert write.operation == replace(
        mine,
        state=State.PENDING,
        lease_until=None,
        code="c.d",
        not_before=NOW + HOUR,
        expires_at=NOW + DAYS,
        history=(*mine.history, Entry(state=State.PENDING, at=NOW, fence=3, attempt=3, code="c.d")),
    )


@pytest.mark.parametrize(("attempted", "attempts"), [(True, 1), (False, 0)])
def test_a_run_that_got_further_starts_its_count_anew(attempted, attempts) -> None:
    write = settle(replace(MINE, marks=2), State.PENDING, now=NOW, retention=DAYS, attempted=attempted, afresh=True)
    assert (write.operation.attempts, write.operation.marks) == (attempts, 0)
    assert write.operation.history[-1].attempt == 1


def test_what_is_held_for_an_operator_is_marked_no_more() -> None:
    mine = replace(MINE, marks=2)
    write = settle(mine, State.PERMANENTLY_FAILED, now=NOW, retention=DAYS, code="effect.unknown", held=True)
    assert (write.operation.attempts, write.operation.marks) == (2, 0)


def test_ids_that_failed_permanently_are_kept() -> None:
    mine = replace(MINE, failed_ids=("m0",))
    write = settle(mine, State.PERMANENTLY_FAILED, now=NOW, retention=DAYS, attempted=True, failed_ids=["m1", "m2"])
    assert write.operation.failed_ids == ("m0", "m1", "m2")
    assert write.operation.message_ids == ("m1", "m2")


def test_what_stays_held_keeps_its_lease_and_a_requested_cancel() -> None:
    mine = replace(MINE, cancel_requested=True)
    write = settle(mine, State.PROCESSING, now=NOW, retention=DAYS)
    assert (write.operation.lease_until, write.operation.cancel_requested) == (NOW + HOUR, True)
    assert settle(mine, State.PENDING, now=NOW, retention=DAYS).operation.cancel_requested is True
    assert settle(mine, State.RETRYABLE_FAILED, now=NOW, retention=DAYS).operation.cancel_requested is True
    assert settle(mine, State.PERMANENTLY_FAILED, now=NOW, retention=DAYS).operation.cancel_requested is False
    assert settle(mine, State.SUCCEEDED, now=NOW, retention=DAYS).operation.cancel_requested is False
    assert settle(MINE, State.PROCESSING, now=NOW, retention=DAYS).operation.cancel_requested is False


def test_a_prolonged_lease_moves_when_the_item_is_forgotten_too() -> None:
    write = extended(MINE, until=NOW + 2 * HOUR, now=NOW, retention=2 * DAYS)
    assert write == Write(operation=replace(MINE, lease_until=NOW + 2 * HOUR, expires_at=NOW + 2 * DAYS), previous=MINE)


def test_a_run_is_announced_under_its_attempt() -> None:
    mine = replace(MINE, state=State.LEASED)
    write = started(mine, now=NOW)
    assert write.operation == replace(
        mine,
        state=State.PROCESSING,
        history=(*mine.history, Entry(state=State.PROCESSING, at=NOW, fence=3, attempt=3)),
    )


def test_a_duplicate_renews_its_operation_once_half_of_the_retention_is_gone() -> None:
    assert renewed(item(State.SUCCEEDED, expires_at=NOW + DAYS / 2 + SECOND), now=NOW, retention=DAYS) is None
    existing = item(State.SUCCEEDED, expires_at=NOW + DAYS / 2)
    write = renewed(existing, now=NOW, retention=DAYS)
    assert write is not None
    assert write.operation == replace(existing, expires_at=NOW + DAYS)
