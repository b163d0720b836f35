"""A fault at every point at which an invocation touches ledger, queue or effect; then delivery until quiet."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations
from random import Random

import pytest

from surehand import Cancel, Defer, Reject, Retry, Unknown
from surehand.states import State
from surehand.testing.simulator import Fault
from tests.scenarios.hostile import nothing, outcome_of, points, stage
from tests.scenarios.kiosk import Ticket, awaited, careful, lanes, numbered, plain, tenants

HANDLERS = [plain, tenants, lanes, careful, awaited]


def busy_first(account, ticket, run):
    if run == 1 and ticket.number == "1":
        raise Retry("provider.busy")


def closed_first(account, ticket, run):
    if run == 1 and ticket.number == "1":
        raise Defer("provider.closed", after=timedelta(minutes=20))


def unreadable_first(account, ticket, run):
    if run == 1 and ticket.number == "1":
        raise Unknown("effect.read_timeout")


def one_bad(account, ticket, run):
    if ticket.number == "1":
        raise Reject("data.no_such_account")


def one_declined(account, ticket, run):
    if ticket.number == "1":
        raise Cancel("data.declined")


def one_late(account, ticket, run):
    if run == 1 and ticket.number == "1":
        account.simulation.sleep(timedelta(minutes=1))


ACTS = [nothing, busy_first, closed_first, unreadable_first, one_bad, one_declined, one_late]


@pytest.mark.parametrize(
    ("handler", "act"),
    [
        pytest.param(
            handler,
            act,
            id=f"{handler.name}-{act.__name__}",
            # The longest by far: half a minute.
            marks=[pytest.mark.exhaustive] if (handler, act) == (lanes, one_bad) else [],
        )
        for handler in HANDLERS
        for act in ACTS
    ],
)
def test_one_fault_at_any_point_breaks_no_promise(handler, act):
    tickets = numbered(handler, 3)
    for crossing in points(handler, tickets, act):
        for fault in Fault:
            broken, _ = outcome_of(handler, tickets, act, {crossing.index: fault})
            assert broken == [], f"{fault} {crossing}"


@pytest.mark.parametrize("act", [nothing, busy_first, one_bad], ids=lambda act: act.__name__)
@pytest.mark.parametrize("handler", [plain, lanes, careful], ids=lambda handler: handler.name)
def test_two_faults_anywhere_break_no_promise(handler, act):
    """The second may strike the recovery from the first, so it is drawn beyond the golden run's end too."""
    tickets = numbered(handler, 2)
    count = len(points(handler, tickets, act))
    pairs = [
        {first: one, second: other}
        for first, second in combinations(range(2 * count), 2)
        for one in Fault
        for other in Fault
        if first < count
    ]
    # On FIFO a dead letter is received a hundred times before SQS moves it, and a schedule with one takes as long.
    for faults in Random(1).sample(pairs, 40 if (handler, act) == (lanes, one_bad) else 150):
        broken, _ = outcome_of(handler, tickets, act, faults)
        assert broken == [], str(faults)


@pytest.mark.parametrize("handler", [plain, lanes, awaited], ids=lambda handler: handler.name)
def test_whatever_one_fault_hits_every_operation_succeeds_in_the_end(handler):
    tickets = numbered(handler, 3)
    for crossing in points(handler, tickets, nothing):
        for fault in Fault:
            _, account = outcome_of(handler, tickets, nothing, {crossing.index: fault})
            states = {account.operation(handler, ticket).state for ticket in tickets}
            assert states == {State.SUCCEEDED}, f"{fault} {crossing}"


def test_a_hold_is_the_only_other_end_where_unknown_effects_are_held():
    tickets = numbered(careful, 3)
    for crossing in points(careful, tickets, nothing):
        for fault in Fault:
            _, account = outcome_of(careful, tickets, nothing, {crossing.index: fault})
            items = [account.operation(careful, ticket) for ticket in tickets]
            assert all(
                item.state is State.SUCCEEDED or (item.state, item.code) == (State.PERMANENTLY_FAILED, "effect.unknown")
                for item in items
            ), f"{fault} {crossing}"


@pytest.mark.parametrize("handler", [plain, lanes], ids=lambda handler: handler.name)
def test_a_message_that_kills_every_process_is_poison_and_its_neighbours_succeed(handler):
    tickets = numbered(handler, 5)

    def deadly_third(account, ticket, run):
        if ticket.number == "2":
            account.simulation.crossings.invocation.kill()
            account.simulation.sleep(timedelta(0))

    _, account = outcome_of(handler, tickets, deadly_third, {})
    deadly = account.operation(handler, tickets[2])
    assert (deadly.state, deadly.code) == (State.PERMANENTLY_FAILED, "crash.poison")
    others = {account.operation(handler, ticket).state for ticket in tickets if ticket.number != "2"}
    assert others == {State.SUCCEEDED}
    assert [letter.body for letter in account.sites[handler.name].dead_letters.messages] == [
        handler.payload.dump(Ticket(number="2")).decode()
    ]


def test_a_crash_on_the_last_receive_leaves_a_dead_letter_that_a_redrive_brings_to_its_end():
    """V2 and V3 of the protocol: the ledger still says leased, and the redriven message gets a real attempt."""
    redriven = []

    def dies(account, ticket, run):
        if not redriven:
            account.simulation.crossings.invocation.kill()
            account.simulation.sleep(timedelta(0))

    with stage(plain, dies) as (account, outside):
        account.deliver(plain, Ticket(number="1"))
        assert len(account.sites["plain"].dead_letters) == 1
        redriven.append(True)
        account.redrive(plain)
        assert account.operation(plain, Ticket(number="1")).state is State.SUCCEEDED
        assert account.witness.at_rest() == []
        assert list(outside.effects.values()) == [1]
