"""A provider that is away for long, and a ledger that goes away: nothing is lost, and no effect goes unrecorded."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from botocore.exceptions import ReadTimeoutError

from surehand import Defer, Job, entrypoint, queue
from surehand.aws.dynamodb import CALLS, DynamoDBLedger
from surehand.ledger import Unavailable
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import world
from surehand.worker.renewals import MOST_RENEWALS, floor, spread
from tests.scenarios.hostile import stage
from tests.scenarios.kiosk import KIOSK, SCRIPT, Ticket, ids, lanes, numbered, plain, script
from tests.scenarios.test_protocol import crash, redeliver


@queue("one-by-one", key="number", group="lane", batch_size=1)
def one_by_one(ticket: Ticket, job: Job) -> object:
    """A FIFO queue with the fewest receives."""
    return SCRIPT.run(ticket, job)


@pytest.mark.parametrize("after", [timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=2), None])
def test_a_provider_that_is_away_for_a_day_dead_letters_nothing(after) -> None:
    def away_for_a_day(account, ticket, run):
        if account.simulation.clock.now() - began < timedelta(hours=24):
            raise Defer("provider.closed", after=after)

    with stage(plain, away_for_a_day) as (account, _):
        began = account.simulation.clock.now()
        tickets = numbered(plain, 20)
        account.deliver(plain, *tickets)
        assert len(account.sites["plain"].dead_letters) == 0
        assert {account.operation(plain, ticket).state for ticket in tickets} == {"succeeded"}
        assert {account.operation(plain, ticket).attempts for ticket in tickets} == {1}
        assert account.told.outcomes["renewed"] <= MOST_RENEWALS * len(tickets)


@pytest.mark.parametrize("after", [None, timedelta(0), timedelta(minutes=1), timedelta(hours=2)])
@pytest.mark.parametrize("handler", [lanes, one_by_one], ids=lambda handler: handler.name)
def test_on_fifo_a_day_of_waiting_is_bridged_by_visibility_alone(handler, after) -> None:
    def away_for_a_day(account, ticket, run):
        if account.simulation.clock.now() - began < timedelta(hours=24):
            raise Defer("provider.closed", after=after)

    with stage(handler, away_for_a_day) as (account, _):
        began = account.simulation.clock.now()
        tickets = numbered(handler, 4)
        account.deliver(handler, *tickets)
        assert account.told.outcomes["renewed"] == 0
        assert len(account.sites[handler.name].dead_letters) == 0
        assert {account.operation(handler, ticket).state for ticket in tickets} == {"succeeded"}


def test_the_waits_of_a_renewed_message_grow_beyond_any_give_up_after() -> None:
    """15 renewals of four receives each must outlast the longest retention that a queue can have."""
    assert sum((4 * floor(renewals) for renewals in range(MOST_RENEWALS + 1)), timedelta(0)) > timedelta(days=4)
    assert [floor(renewals) for renewals in (0, 1, 2, 15)] == [
        timedelta(0),
        timedelta(minutes=1),
        timedelta(minutes=2),
        timedelta(hours=4),
    ]


@pytest.mark.parametrize("receives", [1, 5, 50])
def test_the_waits_on_fifo_grow_so_that_the_receives_last_for_the_time_left(receives) -> None:
    """Each receive returns after its wait; with the last one the time is over, and not before."""
    waited, left = timedelta(0), timedelta(days=3)
    for remaining in range(receives, 0, -1):
        assert waited < timedelta(days=3)
        wait = spread(remaining, waited=waited, left=left, longest=timedelta(days=3))
        waited, left = waited + wait, left - wait
    assert abs(waited - timedelta(days=3)) < timedelta(minutes=1)
    assert spread(0, waited=waited, left=timedelta(hours=1), longest=timedelta(days=3)) == timedelta(hours=1)
    assert spread(0, waited=waited, left=-timedelta(hours=1), longest=timedelta(days=3)) == timedelta(0)


@pytest.mark.parametrize(("receives", "days"), [(7, 3), (47, 3), (47, 12), (26, 13)])
def test_the_waits_on_fifo_last_although_sqs_hides_a_message_for_half_a_day_at_most(receives, days) -> None:
    longest = timedelta(hours=12)
    waited, left = timedelta(0), timedelta(days=days)
    for remaining in range(receives, 0, -1):
        wait = min(longest, spread(remaining, waited=waited, left=left, longest=longest))
        waited, left = waited + wait, left - wait
    assert abs(left) < timedelta(minutes=1)


class Leaving:
    """A ledger that takes claims, and so many outcomes; then it is away, and each call takes three seconds."""

    def __init__(self, made, outcomes: int) -> None:
        self.made, self.left, self.calls = made, outcomes, 0

    def read(self, ids):
        return self.made.ledger.read(ids)

    def write(self, writes, *, now):
        if all(write.operation.state is State.LEASED for write in writes):
            return self.made.ledger.write(writes, now=now)
        if self.left >= len(writes):
            self.left -= len(writes)
            return self.made.ledger.write(writes, now=now)
        self.calls += 1
        self.made.clock.advance(timedelta(seconds=3))
        return [Unavailable("ReadTimeoutError")] * len(writes)


@pytest.mark.parametrize("handler", [plain, lanes], ids=lambda handler: handler.name)
def test_once_the_ledger_takes_no_outcome_nothing_more_is_begun_and_the_answer_comes_in_time(handler) -> None:
    """Each further run would be an effect without a record, and each further call seconds that Lambda does not have."""
    with world(KIOSK) as made, script() as told:
        ledger = Leaving(made, outcomes=2)
        event = made.event(handler, *(Ticket(number=str(number), lane=str(number)) for number in range(10)))
        with entrypoint.bound(replace(entrypoint.ports_of(handler), ledger=ledger)):
            assert ids(handler(event, None)) == [one["messageId"] for one in event["Records"][2:]]
        assert told.numbers == ["0", "1", "2"]
        assert ledger.calls == 3
        assert {ending.outcome for ending in made.teller.endings[2:]} == {Outcome.UNCONFIRMED}
        assert {ending.code for ending in made.teller.endings[2:]} == {"ledger.unavailable"}
        lease = made.operation(handler, Ticket(number="9", lane="9")).lease_until
        assert lease is not None
        assert all(made.clock.now() + wait >= lease for wait in made.queues.hidden.values())


def test_an_outcome_that_the_ledger_does_not_take_is_not_tried_again_when_the_time_is_short() -> None:
    with world(KIOSK) as made, script(lambda ticket, job: made.clock.advance(timedelta(seconds=27))):
        ledger = Leaving(made, outcomes=0)
        with entrypoint.bound(replace(entrypoint.ports_of(plain), ledger=ledger)):
            plain(made.event(plain, *numbered(plain, 5)), None)
        assert ledger.calls == 1


def test_a_suspect_that_cannot_be_marked_does_not_run_and_nothing_behind_it_does() -> None:
    with world(KIOSK) as made, script() as told:
        events = [made.event(plain, ticket) for ticket in numbered(plain, 2)]
        for event in events:
            crash(made, plain, event)
        told.runs.clear()
        again = {"Records": [record for event in events for record in redeliver(event)["Records"]]}
        ledger = Leaving(made, outcomes=0)
        with entrypoint.bound(replace(entrypoint.ports_of(plain), ledger=ledger)):
            assert len(ids(plain(again, None))) == 2
        assert told.runs == []
        assert ledger.calls == 3


def test_an_outage_ends_a_claim_of_thousands_after_the_calls_that_are_on_their_way() -> None:
    calls = []

    class Away:
        meta = SimpleNamespace(events=SimpleNamespace(register=lambda *_, **__: None))

        def batch_execute_statement(self, **_):
            calls.append(1)
            raise ReadTimeoutError(endpoint_url="-")

    with world(KIOSK) as made, script() as told:
        ledger = DynamoDBLedger(Away(), "ledger", batched=True)
        event = made.event(plain, *numbered(plain, 2_000))
        with entrypoint.bound(replace(entrypoint.ports_of(plain), ledger=ledger)):
            assert len(ids(plain(event, None))) == 2_000
        assert told.runs == []
        assert len(calls) <= CALLS
