"""What the AWS console's own redrive does stays safe without our commands: simulated, with SQS's new ids."""

from __future__ import annotations

from datetime import timedelta

from surehand import Reject
from surehand.ledger.operating import Act, resolve
from surehand.ledger.operation import Write
from surehand.states import State
from tests.scenarios.hostile import stage
from tests.scenarios.kiosk import Ticket, plain

TICKETS = [Ticket(number=str(n)) for n in range(5)]


def test_letters_that_the_console_moves_get_new_ids_and_one_real_attempt_each() -> None:
    fixed: list[bool] = []

    def fails_until_fixed(account, ticket, run):
        if not fixed:
            raise Reject("code.KeyError")

    with stage(plain, fails_until_fixed) as (account, outside):
        account.deliver(plain, *TICKETS)
        letters = {letter.id for letter in account.sites["plain"].dead_letters.messages}
        assert len(letters) == 5
        fixed.append(True)
        account.redrive(plain)
        for ticket in TICKETS:
            operation = account.operation(plain, ticket)
            assert operation.state is State.SUCCEEDED
            assert operation.attempts == 1
            assert not letters & set(operation.message_ids[-1:])
            assert [entry.note for entry in operation.history].count("redrive") == 1
        assert list(outside.effects.values()) == [1] * 5
        assert len(account.sites["plain"].dead_letters) == 0


def test_a_letter_whose_operation_was_applied_is_only_acknowledged_when_the_console_moves_it() -> None:
    runs: list[int] = []

    def reject(account, ticket, run):
        runs.append(run)
        raise Reject("data.address")

    with stage(plain, reject) as (account, _):
        account.deliver(plain, TICKETS[0])
        failed = account.operation(plain, TICKETS[0])
        now = account.simulation.clock.now()
        act = Act(actor="operator", reason="the charge exists", now=now, retention=timedelta(days=30))
        resolved = resolve(failed, act, applied=True)
        assert isinstance(resolved, Write)
        account.ledger.write([resolved], now=now)
        account.redrive(plain)
        assert runs == [1]
        assert account.told.outcomes["already_applied"] == 1
        assert len(account.sites["plain"].dead_letters) == 0
