"""Waiting to its end: never deleted by SQS in silence, never a dead letter early, and never at a follower's cost."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from surehand import Defer, Job, Retry, queue
from surehand.states import State
from tests.scenarios.hostile import stage
from tests.scenarios.kiosk import SCRIPT, Ticket, lanes, plain

SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)


@queue("single", key="number", group="lane", batch_size=1, max_attempts=1)
def single(ticket: Ticket, job: Job) -> object:
    """The fewest receives that a FIFO queue can have."""
    return SCRIPT.run(ticket, job)


@queue("single-long", key="number", group="lane", batch_size=1, give_up_after=12 * DAY, retention=13 * DAY)
def single_long(ticket: Ticket, job: Job) -> object:
    """As long as SQS can keep a message, one at a time."""
    return SCRIPT.run(ticket, job)


@queue("plain-long", key="number", give_up_after=12 * DAY, retention=13 * DAY)
def plain_long(ticket: Ticket, job: Job) -> object:
    """As long as SQS can keep a message, with renewals."""
    return SCRIPT.run(ticket, job)


def test_a_message_that_waited_long_for_its_first_run_is_a_dead_letter_before_sqs_deletes_it() -> None:
    """The consumer is away for 74 hours of the four days that SQS keeps a message."""

    def closed(account, ticket, run):
        raise Retry("provider.closed", after=11 * HOUR)

    with stage(plain, closed) as (account, _):
        account.sites["plain"].mapping.disable()
        account.send(plain, Ticket(number="1"))
        account.simulation.run(for_=74 * HOUR)
        account.sites["plain"].mapping.enable()
        account.drain()
        operation = account.operation(plain, Ticket(number="1"))
        assert (operation.state, operation.code) == (State.PERMANENTLY_FAILED, "provider.closed")
        assert len(account.sites["plain"].dead_letters) == 1
        assert account.witness.at_rest() == []


@pytest.mark.parametrize("fails", [False, True])
def test_a_message_that_sqs_is_about_to_delete_has_one_run(fails) -> None:
    def act(account, ticket, run):
        if fails:
            raise Retry("provider.busy")

    with stage(plain, act) as (account, _):
        account.sites["plain"].mapping.disable()
        account.send(plain, Ticket(number="1"))
        account.simulation.run(for_=96 * HOUR - timedelta(minutes=5))
        account.sites["plain"].mapping.enable()
        account.drain()
        operation = account.operation(plain, Ticket(number="1"))
        assert operation.attempts == 1
        assert operation.state is (State.PERMANENTLY_FAILED if fails else State.SUCCEEDED)
        assert account.witness.at_rest() == []


def test_on_fifo_what_waits_behind_a_waiting_head_is_a_dead_letter_before_sqs_deletes_it() -> None:
    def closed(account, ticket, run):
        if ticket.number == "2" or account.simulation.clock.now() - began < 65 * HOUR:
            raise Defer("provider.closed", after=6 * HOUR)

    with stage(single, closed) as (account, _):
        began = account.simulation.clock.now()
        account.deliver(single, Ticket(number="1"), Ticket(number="2"))
        assert account.operation(single, Ticket(number="1")).state is State.SUCCEEDED
        assert account.operation(single, Ticket(number="2")).state is State.PERMANENTLY_FAILED
        assert account.witness.at_rest() == []


@pytest.mark.parametrize("handler", [plain, lanes, single, plain_long, single_long], ids=lambda one: one.name)
def test_waiting_lasts_until_give_up_after_and_ends_with_its_reason(handler) -> None:
    def closed(account, ticket, run):
        raise Defer("provider.closed", after=30 * SECOND)

    with stage(handler, closed) as (account, _):
        began = account.simulation.clock.now()
        account.deliver(handler, Ticket(number="1"))
        operation = account.operation(handler, Ticket(number="1"))
        assert (operation.state, operation.code) == (State.PERMANENTLY_FAILED, "provider.closed")
        assert operation.history[-1].at - began > handler.options.give_up_after - HOUR
        assert account.witness.at_rest() == []


def test_on_fifo_a_waiting_head_leaves_its_followers_all_their_attempts() -> None:
    def closed(account, ticket, run):
        if ticket.number != "1" and run < 5:
            raise Retry("provider.busy", after=5 * SECOND)
        if ticket.number == "1" and account.simulation.clock.now() - began < 60 * HOUR:
            raise Defer("provider.closed", after=HOUR / 2)

    with stage(lanes, closed) as (account, _):
        began = account.simulation.clock.now()
        tickets = [Ticket(number=str(number)) for number in range(1, 11)]
        account.deliver(lanes, *tickets)
        assert Counter(account.operation(lanes, ticket).state for ticket in tickets) == {State.SUCCEEDED: 10}


def test_on_fifo_followers_that_never_ran_are_not_given_up_for_their_head_s_waiting() -> None:
    def closed(account, ticket, run):
        if ticket.number != "1":
            return
        if account.simulation.clock.now() - began < 72 * HOUR - 20 * SECOND:
            raise Defer("provider.closed", after=began + 72 * HOUR - 4 * SECOND)
        account.simulation.sleep(10 * SECOND)

    with stage(lanes, closed) as (account, _):
        began = account.simulation.clock.now()
        tickets = [Ticket(number=str(number)) for number in range(1, 6)]
        account.deliver(lanes, *tickets)
        assert Counter(account.operation(lanes, ticket).state for ticket in tickets) == {State.SUCCEEDED: 5}
