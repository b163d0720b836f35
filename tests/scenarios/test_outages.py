"""A provider that is away for long: waiting burns receives, so messages are renewed, and none becomes a dead letter."""

from __future__ import annotations

from datetime import timedelta

import pytest

from surehand import Defer
from surehand.worker.renewals import MOST_RENEWALS, floor
from tests.scenarios.hostile import stage
from tests.scenarios.kiosk import lanes, numbered, plain


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


def test_on_fifo_a_day_of_waiting_is_bridged_by_visibility_alone() -> None:
    def away_for_a_day(account, ticket, run):
        if account.simulation.clock.now() - began < timedelta(hours=24):
            raise Defer("provider.closed", after=timedelta(hours=2))

    with stage(lanes, away_for_a_day) as (account, _):
        began = account.simulation.clock.now()
        tickets = numbered(lanes, 4)
        account.deliver(lanes, *tickets)
        assert account.told.outcomes["renewed"] == 0
        assert len(account.sites["lanes"].dead_letters) == 0
        assert {account.operation(lanes, ticket).state for ticket in tickets} == {"succeeded"}


def test_the_waits_of_a_renewed_message_grow_beyond_any_give_up_after() -> None:
    """15 renewals of four receives each must outlast the longest retention that a queue can have."""
    assert sum((4 * floor(renewals) for renewals in range(MOST_RENEWALS + 1)), timedelta(0)) > timedelta(days=4)
    assert [floor(renewals) for renewals in (0, 1, 2, 15)] == [
        timedelta(0),
        timedelta(minutes=1),
        timedelta(minutes=2),
        timedelta(hours=4),
    ]
