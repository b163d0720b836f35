"""What becomes of a message for everything that its handler can do: the rows of the outcome table."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter

from surehand import Cancel, Defer, Reject, Retry, Unknown, queue
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import again, world
from tests.scenarios.kiosk import KIOSK, Ticket, careful, ids, numbered, plain, script

TICKET = Ticket(number="1")


def raising(error):
    def act(ticket, job):
        raise error

    return act


def test_a_handler_that_returns_has_succeeded_and_the_message_is_deleted() -> None:
    with world(KIOSK) as made, script() as told:
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert made.operation(plain, TICKET).state is State.SUCCEEDED
        assert told.numbers == ["1"]


@pytest.mark.parametrize("result", [None, 0, False, "", [], {}, {"a": [1, None]}, 1.5])
def test_a_json_result_is_kept_as_itself(result) -> None:
    from surehand.results import decode

    with world(KIOSK) as made, script(lambda ticket, job: result):
        plain(made.event(plain, TICKET), None)
        kept = decode(made.operation(plain, TICKET).result)
        assert (kept, type(kept)) == (result, type(result))


@pytest.mark.parametrize("result", [object(), (1, 2), {1: 2}, float("nan"), "x" * 5000])
def test_a_result_that_cannot_be_kept_never_fails_the_message(result) -> None:
    with world(KIOSK) as made, script(lambda ticket, job: result):
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert made.operation(plain, TICKET).state is State.SUCCEEDED
        assert made.operation(plain, TICKET).result.startswith("!")


@dataclass
class Receipt:
    """What a handler returns as a dataclass."""

    at: datetime
    lines: list[Ticket]


@pytest.mark.parametrize("result", [TICKET, Receipt(datetime(2026, 1, 1, tzinfo=UTC), [TICKET]), [TICKET, TICKET]])
def test_a_model_or_dataclass_is_kept_as_json_from_which_its_type_reads_it_again(result) -> None:
    with world(KIOSK) as made, script(lambda ticket, job: result):
        assert ids(plain(made.event(plain, TICKET), None)) == []
        kind: Any = list[Ticket] if isinstance(result, list) else type(result)
        assert TypeAdapter(kind).validate_json(made.operation(plain, TICKET).result or "") == result
        assert made.teller.endings[0].notice is None


@pytest.mark.parametrize("result", [datetime(2026, 1, 1, tzinfo=UTC), {1, 2}, (TICKET,), Ticket])
def test_a_result_of_which_only_the_type_is_kept_is_told(result) -> None:
    with world(KIOSK) as made, script(lambda ticket, job: result):
        assert ids(plain(made.event(plain, TICKET), None)) == []
        notice = made.teller.endings[0].notice
        assert (notice.code, type(result).__name__ in notice.detail) == ("code.result", True)


def test_a_fate_with_a_wrong_code_stands_and_a_notice_says_what_a_code_is() -> None:
    def act(ticket, job):
        raise Reject("Bad Code!")

    with world(KIOSK) as made, script(act):
        plain(made.event(plain, TICKET), None)
        ending = made.teller.endings[0]
        assert (ending.outcome, ending.code) == (Outcome.REJECTED, "code.bad_code")
        assert "<class>.<name>" in ending.notice.detail
        assert "Bad" not in ending.notice.detail
        assert ending.origin.type == "Reject"


async def declined(ticket):
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(asyncio.sleep(30))
        tasks.create_task(asyncio.to_thread(raising(Cancel("data.declined")), ticket, None))


def test_a_fate_that_a_task_of_a_group_chooses_is_the_message_s() -> None:
    with world(KIOSK) as made, script(lambda ticket, job: declined(ticket)):
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert made.operation(plain, TICKET).state is State.CANCELED
        assert made.teller.endings[0].code == "data.declined"


async def streamed(ticket):
    yield ticket.number


async def forgotten(ticket):
    return (number for number in ticket.number)


@pytest.mark.parametrize("act", [lambda ticket: (number for number in ticket.number), streamed, forgotten])
def test_a_returned_generator_is_a_failed_attempt_and_no_success_without_an_effect(act) -> None:
    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        event = made.event(plain, TICKET)
        assert ids(plain(event, None)) == [event["Records"][0]["messageId"]]
        operation, ending = made.operation(plain, TICKET), made.teller.endings[0]
        assert (operation.state, operation.attempts, operation.code) == (State.RETRYABLE_FAILED, 1, "code.unrun")
        assert (ending.notice.code, "generator" in ending.notice.detail) == ("code.unrun", True)


class Busy(Retry):
    def __init__(self, response: str) -> None:
        self.response = response


def test_a_fate_whose_class_leaves_out_our_init_stands_and_its_neighbours_run() -> None:
    def act(ticket, job):
        if ticket.number == "0":
            raise Busy("503")

    with world(KIOSK) as made, script(act) as told:
        event = made.event(plain, *numbered(plain, 3))
        assert ids(plain(event, None)) == [event["Records"][0]["messageId"]]
        assert told.numbers == ["0", "1", "2"]
        ending = made.teller.endings[0]
        assert (ending.outcome, ending.code, ending.notice.code) == (Outcome.RETRY, "code.bad_code", "code.bad_code")


def test_a_duplicate_of_a_success_is_deleted_without_running() -> None:
    with world(KIOSK) as made, script() as told:
        plain(made.event(plain, TICKET), None)
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert told.numbers == ["1"]
        assert made.teller.endings[-1].outcome is Outcome.ALREADY_APPLIED


def test_a_retry_is_put_back_for_as_long_as_it_says_and_counts_an_attempt() -> None:
    with world(KIOSK) as made, script(raising(Retry("provider.busy", after=timedelta(minutes=3)))):
        event = made.event(plain, TICKET)
        assert ids(plain(event, None)) == [event["Records"][0]["messageId"]]
        operation = made.operation(plain, TICKET)
        assert (operation.state, operation.attempts, operation.code) == (State.RETRYABLE_FAILED, 1, "provider.busy")
        assert made.queues.hidden == {event["Records"][0]["receiptHandle"]: timedelta(minutes=3)}


def test_a_deferral_is_put_back_without_counting_an_attempt() -> None:
    with world(KIOSK) as made, script(raising(Defer("provider.closed", after=timedelta(hours=1)))):
        event = made.event(plain, TICKET)
        assert ids(plain(event, None)) != []
        operation = made.operation(plain, TICKET)
        assert (operation.state, operation.attempts) == (State.PENDING, 0)
        assert list(made.queues.hidden.values()) == [timedelta(hours=1)]


def test_a_rejected_message_is_put_back_for_sqs_to_move_and_never_runs_again() -> None:
    with world(KIOSK) as made, script(raising(Reject("data.no_such_account"))) as told:
        event = made.event(plain, TICKET)
        for _ in range(3):
            assert ids(plain(event, None)) == [event["Records"][0]["messageId"]]
            event = {"Records": [again(event["Records"][0])]}
        assert told.numbers == ["1"]
        assert made.operation(plain, TICKET).state is State.PERMANENTLY_FAILED
        assert all(timedelta(seconds=1) <= wait <= timedelta(seconds=5) for wait in made.queues.hidden.values())


def test_a_canceled_message_is_deleted_and_its_duplicate_too() -> None:
    with world(KIOSK) as made, script(raising(Cancel("data.card_declined"))) as told:
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert told.numbers == ["1"]
        assert made.operation(plain, TICKET).state is State.CANCELED


def test_any_other_exception_is_retried_under_its_type() -> None:
    with world(KIOSK) as made, script(raising(KeyError("secret"))):
        assert ids(plain(made.event(plain, TICKET), None)) != []
        assert made.operation(plain, TICKET).code == "code.KeyError"


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), BaseException("x")])
def test_a_base_exception_is_that_record_s_own_failure(error) -> None:
    def act(ticket, job):
        if ticket.number == "1":
            raise error

    with world(KIOSK) as made, script(act) as told:
        event = made.event(plain, TICKET, Ticket(number="2"))
        assert ids(plain(event, None)) == [event["Records"][0]["messageId"]]
        assert told.numbers == ["1", "2"]
        assert made.operation(plain, TICKET).code == f"code.{type(error).__name__}"


def test_the_last_attempt_exhausts_the_operation() -> None:
    with world(KIOSK) as made, script(raising(Retry("provider.busy"))) as told:
        event = made.event(plain, TICKET)
        for _ in range(7):
            assert ids(plain(event, None)) != []
            made.clock.advance(timedelta(minutes=20))
            event = {"Records": [again(event["Records"][0])]}
        assert len(told.runs) == 5
        assert [job.attempt for job in told.jobs] == [1, 2, 3, 4, 5]
        assert [job.last_attempt for job in told.jobs] == [False] * 4 + [True]
        operation = made.operation(plain, TICKET)
        assert (operation.state, operation.code) == (State.PERMANENTLY_FAILED, "provider.busy")


def test_waiting_ends_with_give_up_after() -> None:
    with world(KIOSK) as made, script(raising(Defer("provider.closed", after=timedelta(hours=10)))):
        event = made.event(plain, TICKET)
        states = []
        for _ in range(8):
            plain(event, None)
            states.append(made.operation(plain, TICKET).state)
            made.clock.advance(timedelta(hours=10))
        assert states == [State.PENDING] * 7 + [State.PERMANENTLY_FAILED]


def test_an_unknown_effect_is_retried_with_the_same_key_by_default() -> None:
    with world(KIOSK) as made, script(raising(Unknown("provider.read_timeout"))) as told:
        event = made.event(plain, TICKET)
        plain(event, None)
        made.clock.advance(timedelta(hours=1))
        plain({"Records": [again(event["Records"][0])]}, None)
        assert len({key for _, key in told.runs}) == 1
        assert made.operation(plain, TICKET).attempts == 2


def test_an_unknown_effect_is_held_where_the_declaration_says_so() -> None:
    with world(KIOSK) as made, script(raising(Unknown("provider.read_timeout"))) as told:
        event = made.event(careful, TICKET)
        assert ids(careful(event, None)) != []
        assert made.teller.endings[-1].outcome is Outcome.HELD
        assert ids(careful({"Records": [again(event["Records"][0])]}, None)) != []
        assert told.numbers == ["1"]
        assert made.operation(careful, TICKET).code == "effect.unknown"


def test_the_same_key_with_another_payload_is_a_conflict_with_a_record_of_its_own() -> None:
    with world(KIOSK) as made, script() as told:
        plain(made.event(plain, TICKET), None)
        event = made.event(plain, Ticket(number="1", note=7))
        assert ids(plain(event, None)) == [event["Records"][0]["messageId"]]
        assert told.numbers == ["1"]
        assert made.operation(plain, TICKET).state is State.SUCCEEDED
        assert made.teller.endings[-1].outcome is Outcome.KEY_CONFLICT
        conflict = made.ledger.items[f'["plain",null,["!message","{event["Records"][0]["messageId"]}"]]']
        assert (conflict.state, conflict.code) == (State.PERMANENTLY_FAILED, "input.conflict")


def test_two_payloads_under_one_key_in_one_batch_run_the_first_and_refuse_the_second() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(plain, Ticket(number="1", note=1), Ticket(number="1", note=2))
        assert ids(plain(event, None)) == [event["Records"][1]["messageId"]]
        assert told.numbers == ["1"]


def test_the_same_operation_twice_in_a_batch_runs_once() -> None:
    with world(KIOSK) as made, script() as told:
        assert ids(plain(made.event(plain, TICKET, TICKET), None)) == []
        assert told.numbers == ["1"]
        assert len(made.operation(plain, TICKET).message_ids) == 2


def test_an_operation_remembers_the_version_that_claimed_it() -> None:
    with world(KIOSK) as made, script():
        plain(made.event(plain, TICKET), None)
        assert made.operation(plain, TICKET).version == "test"


def test_copies_in_a_batch_share_a_failure() -> None:
    with world(KIOSK) as made, script(raising(Reject("data.bad"))) as told:
        event = made.event(plain, TICKET, TICKET)
        assert len(ids(plain(event, None))) == 2
        assert len(made.operation(plain, TICKET).failed_ids) == 2
        assert told.numbers == ["1"]


def test_a_wait_is_as_long_as_sqs_still_allows_after_a_whole_window_and_timeout() -> None:
    """SQS counts its 12 hours from the receive, and a longer visibility would be refused."""

    def close(ticket: Ticket) -> None:
        raise Defer("provider.closed", after=timedelta(hours=20))

    slow = queue("slow", key="number", timeout=timedelta(minutes=10), batch_window=timedelta(minutes=5))(close)
    with world(KIOSK) as made:
        slow(made.event(slow, TICKET), None)
        assert list(made.queues.hidden.values()) == [timedelta(hours=12) - timedelta(minutes=16)]
