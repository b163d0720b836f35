"""The few round trips of a claim, where the store's answers are as unhelpful as DynamoDB's can be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from surehand.errors import LedgerUnavailable
from surehand.ledger import (
    Candidate,
    Claimed,
    Lease,
    NotClaimed,
    NotWritten,
    Operation,
    Standing,
    Unavailable,
    Wanted,
    Write,
    claim,
    settle,
    write_surely,
)
from surehand.states import State
from surehand.testing import MemoryLedger

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAYS = timedelta(days=30)
LEASE = Lease(owner="one", until=NOW + timedelta(minutes=1), retention=DAYS)


def wanted(*keys: str, seen: bool = False) -> list[Wanted]:
    return [
        Wanted(
            id=key,
            handler="orders",
            tenant=None,
            candidates=(Candidate(f"m{key}", NOW),),
            fingerprints=("body",),
            seen_before=seen,
        )
        for key in keys
    ]


class Scripted(MemoryLedger):
    """A ledger in memory whose first answers are replaced: by another answer, after or instead of the write."""

    def __init__(self, *answers: object, after: bool = False) -> None:
        super().__init__()
        self.answers, self.after = list(answers), after
        self.reads: list[list[str]] = []
        self.writes: list[int] = []

    def read(self, ids: Sequence[str]) -> dict[str, Operation]:
        self.reads.append(list(ids))
        return super().read(ids)

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Any]:
        self.writes.append(len(writes))
        if not self.answers:
            return super().write(writes, now=now)
        if self.after:
            super().write(writes, now=now)
        return [self.answers.pop(0)] * len(writes)


def test_a_claim_that_the_client_repeated_after_a_lost_reply_is_ours() -> None:
    """DuplicateItem carries no item: whose it is shows only when it is read."""
    ledger = Scripted(NotWritten(None), after=True)
    answers = claim(ledger, wanted("1", "2"), lease=LEASE, now=NOW)
    assert [type(answer) for answer in answers] == [Claimed, Claimed]
    assert ledger.reads == [["1", "2"]]
    assert ledger.writes == [2]


def test_a_takeover_that_the_client_repeated_after_a_lost_reply_keeps_what_it_found() -> None:
    ledger = Scripted()
    claim(ledger, wanted("1"), lease=LEASE, now=NOW)
    later = NOW + timedelta(hours=1)
    ledger.answers, ledger.after = [NotWritten(None)], True
    lease = Lease(owner="two", until=later + timedelta(minutes=1), retention=DAYS)
    (answer,) = claim(ledger, wanted("1", seen=True), lease=lease, now=later)
    assert isinstance(answer, Claimed)
    assert (answer.lapsed, answer.operation.fence, answer.operation.owner) == (State.LEASED, 2, "two")


def test_another_worker_s_claim_is_no_claim_of_ours() -> None:
    ledger = Scripted(NotWritten(None))
    MemoryLedger.write(ledger, [claimed_by("other").write], now=NOW)
    (answer,) = claim(ledger, wanted("1"), lease=LEASE, now=NOW)
    assert isinstance(answer, NotClaimed)
    assert answer.standing is Standing.IN_PROGRESS


def claimed_by(owner: str):
    from surehand.ledger.claims import Proposal, decide

    made = decide(None, wanted("1")[0], lease=Lease(owner=owner, until=LEASE.until, retention=DAYS), now=NOW)
    assert isinstance(made, Proposal)
    return made


def test_an_expired_item_that_dynamodb_deletes_meanwhile_is_claimed_as_a_new_one() -> None:
    ledger = Scripted()
    claim(ledger, wanted("1"), lease=LEASE, now=NOW)
    later = NOW + DAYS + timedelta(hours=1)
    lease = Lease(owner="two", until=later + timedelta(minutes=1), retention=DAYS)

    class Deleting(Scripted):
        def write(self, writes, *, now):
            if not self.writes:
                self.items.clear()
                self.writes.append(0)
                return [NotWritten(None)]
            return super().write(writes, now=now)

    deleting = Deleting()
    deleting.items.update(ledger.items)
    (answer,) = claim(deleting, wanted("1", seen=True), lease=lease, now=later)
    assert isinstance(answer, Claimed)
    assert answer.operation.fence == 1


def test_a_claim_that_meets_another_writer_each_time_is_given_up_and_not_run() -> None:
    ledger = Scripted(*[NotWritten(None)] * 20)
    (answer,) = claim(ledger, wanted("1"), lease=LEASE, now=NOW)
    assert isinstance(answer, NotClaimed)
    assert (answer.standing, answer.reason) == (Standing.UNAVAILABLE, "contended")
    assert len(ledger.writes) == 4


def test_what_was_claimed_before_the_ledger_went_away_stays_claimed() -> None:
    class GoingAway(Scripted):
        def read(self, ids):
            raise LedgerUnavailable("ThrottlingException")

        def write(self, writes, *, now):
            answers = MemoryLedger.write(self, writes, now=now)
            return [NotWritten(None), *answers[1:]]

    answers = claim(GoingAway(), wanted("1", "2"), lease=LEASE, now=NOW)
    assert isinstance(answers[0], NotClaimed)
    assert (answers[0].standing, answers[0].reason) == (Standing.UNAVAILABLE, "ThrottlingException")
    assert isinstance(answers[1], Claimed)


def test_an_answer_that_is_unavailable_claims_nothing_and_names_the_reason() -> None:
    (answer,) = claim(Scripted(Unavailable("ReadTimeoutError")), wanted("1"), lease=LEASE, now=NOW)
    assert isinstance(answer, NotClaimed)
    assert (answer.standing, answer.reason) == (Standing.UNAVAILABLE, "ReadTimeoutError")


def settling(ledger: MemoryLedger) -> Write:
    (answer,) = claim(ledger, wanted("1"), lease=LEASE, now=NOW)
    assert isinstance(answer, Claimed)
    return settle(answer.operation, State.SUCCEEDED, now=NOW, retention=DAYS, attempted=True)


def test_a_settle_is_tried_three_times() -> None:
    ledger = Scripted()
    write = settling(ledger)
    ledger.answers, ledger.writes = [Unavailable("x")] * 2, []
    assert write_surely(ledger, [write], now=NOW) != [Unavailable("x")]
    assert ledger.items["1"].state is State.SUCCEEDED
    ledger = Scripted()
    write = settling(ledger)
    ledger.answers, ledger.writes = [Unavailable("x")] * 9, []
    assert write_surely(ledger, [write], now=NOW) == [Unavailable("x")]
    assert len(ledger.writes) == 3


def test_a_refused_settle_says_what_stands_in_its_way() -> None:
    ledger = Scripted()
    write = settling(ledger)
    other = claimed_by("other").write.operation
    ledger.items["1"] = other
    ledger.answers = [NotWritten(None)]
    assert write_surely(ledger, [write], now=NOW) == [NotWritten(other)]


def test_a_refused_settle_of_an_item_that_cannot_be_read_is_unconfirmed() -> None:
    class Blind(Scripted):
        def read(self, ids):
            raise LedgerUnavailable("ThrottlingException")

    ledger = Blind()
    write = settling(ledger)
    ledger.answers = [NotWritten(None)]
    assert write_surely(ledger, [write], now=NOW) == [Unavailable("ThrottlingException")]
