"""Schedules that the simulator found, each told as shortly as it can be."""

from __future__ import annotations

from datetime import timedelta

from surehand import Reject
from surehand.states import State
from surehand.testing.simulator import Fault
from tests.scenarios.hostile import nothing, stage
from tests.scenarios.kiosk import Ticket, careful, plain

TICKET = Ticket(number="1")


def test_a_renewal_of_a_failed_message_is_not_taken_for_a_redrive():
    """Rejected; then the ledger is away for one read while the message waits for SQS to move it, and is renewed."""
    runs = []

    def reject(account, ticket, run):
        runs.append(run)
        raise Reject("data.no_such_account")

    reads = []

    def one_read_fails(crossing):
        reads.extend([crossing] if crossing.kind == "ledger.read" else [])
        return Fault.REFUSE if crossing.kind == "ledger.read" and len(reads) == 5 else None

    with stage(plain, reject) as (account, _):
        account.simulation.crossings.plan = one_read_fails
        account.deliver(plain, TICKET)
        assert account.told.outcomes["renewed"] == 1
        assert runs == [1]
        assert len(account.sites["plain"].dead_letters) == 1
        account.redrive(plain)
        assert runs == [1, 2]


def test_a_renewal_of_an_answered_duplicate_is_not_taken_for_a_redrive():
    """M1 rejected; M2, sent before that, is answered unrun, so the item does not know it; then M2 is renewed as M3."""
    runs = []

    def reject(account, ticket, run):
        runs.append(run)
        raise Reject("data.no_such_account")

    with stage(plain, reject) as (account, _):
        began, reads = account.simulation.clock.now(), []

        def one_late_read_fails(crossing):
            late = account.simulation.clock.now() - began > timedelta(minutes=5)
            reads.extend([crossing] if late and crossing.kind == "ledger.read" else [])
            return Fault.REFUSE if crossing.kind == "ledger.read" and len(reads) == 5 else None

        account.simulation.crossings.plan = one_late_read_fails
        account.sites["plain"].queue.send(plain.payload.dump(TICKET).decode(), delay=timedelta(minutes=10))
        account.deliver(plain, TICKET)
        assert account.told.outcomes["renewed"] == 1
        assert runs == [1]
        assert len(account.sites["plain"].dead_letters) == 2


def test_a_duplicate_that_was_sent_during_the_run_does_not_end_a_hold():
    """The run dies with its effect unknown; the duplicate looks like a redrive (P1) and decides nothing."""
    runs = []

    def die_with_a_duplicate_on_the_way(account, ticket, run):
        runs.append(run)
        account.simulation.sleep(timedelta(seconds=1))
        account.send(careful, ticket)
        account.simulation.sleep(timedelta(seconds=1))
        account.simulation.crossings.invocation.kill()
        account.simulation.sleep(timedelta(0))

    with stage(careful, die_with_a_duplicate_on_the_way) as (account, _):
        account.deliver(careful, TICKET)
        operation = account.operation(careful, TICKET)
        assert (operation.state, operation.code) == (State.PERMANENTLY_FAILED, "effect.unknown")
        assert runs == [1]


def test_a_redrive_of_a_held_operation_runs_it_again():
    """The operator has decided: the message's dead letter is moved back."""
    with stage(careful, nothing) as (account, outside):
        account.simulation.crossings.plan = lambda crossing: (
            Fault.KILL_BEFORE
            if crossing.kind == "effect"
            and not account.sites["careful"].dead_letters.messages
            and account.simulation.trail.counts["redriven"] == 0
            else None
        )
        account.deliver(careful, TICKET)
        assert account.operation(careful, TICKET).code == "effect.unknown"
        account.redrive(careful)
        assert account.operation(careful, TICKET).state is State.SUCCEEDED
        assert list(outside.effects.values()) == [1]


def test_a_message_that_a_producer_sends_after_the_hold_ends_it_as_a_redrive_does():
    """P1 cannot tell the two apart: a new id, sent after the claim of the attempt whose effect is unknown."""
    with stage(careful, nothing) as (account, outside):
        account.simulation.crossings.plan = lambda crossing: Fault.KILL_BEFORE if crossing.kind == "effect" else None
        account.deliver(careful, TICKET)
        assert account.operation(careful, TICKET).code == "effect.unknown"
        account.simulation.crossings.plan = None
        account.deliver(careful, TICKET)
        assert account.operation(careful, TICKET).state is State.SUCCEEDED
        assert list(outside.effects.values()) == [1]


def test_a_claim_whose_answer_was_lost_does_not_make_an_unknown_effect_forgotten():
    """The run dies; the next claim is written and its answer lost; the one after it still knows."""
    runs, claims = [], []

    def die_once(account, ticket, run):
        runs.append(run)
        if run == 1:
            account.simulation.crossings.invocation.kill()
            account.simulation.sleep(timedelta(0))

    def lose_the_second_claim(crossing):
        claims.extend([crossing] if crossing.detail == State.LEASED else [])
        return Fault.LOSE_REPLY if crossing.detail == State.LEASED and len(claims) == 2 else None

    with stage(careful, die_once) as (account, _):
        account.simulation.crossings.plan = lose_the_second_claim
        account.deliver(careful, TICKET)
        assert account.operation(careful, TICKET).code == "effect.unknown"
        assert runs == [1]
