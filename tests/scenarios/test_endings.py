"""What is known of each delivery when it has ended: by the handler, by the ledger's answer, or by neither."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from surehand import Cancel, Defer, Reject, Retry, Unknown, entrypoint
from surehand.errors import Refused
from surehand.ledger import NotWritten, Unavailable
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import world
from surehand.worker.conclusion import SoftDeadline
from surehand.worker.endings import Ending
from tests.scenarios.kiosk import KIOSK, Ticket, abreast, careful, ids, lanes, numbered, plain, script
from tests.scenarios.test_protocol import NoTime, crash, redeliver

TICKET = Ticket(number="1")
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def raising(error: BaseException):
    def act(ticket, job):
        raise error

    return act


def told(ending: Ending, **expected: Any) -> None:
    """Check the fields that are given, and that all others say nothing."""
    silent = {"code": None, "detail": None, "wait": None, "attempt": None, "redrive": False, "copied": False,
              "interrupted": False, "duration": None}  # fmt: skip
    wanted = {**silent, **expected}
    assert {name: getattr(ending, name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda ticket, job: None, {"outcome": Outcome.SUCCEEDED}),
        (raising(Cancel("data.no")), {"outcome": Outcome.CANCELED, "code": "data.no"}),
        (raising(Retry("data.no", after=HOUR)), {"outcome": Outcome.RETRY, "code": "data.no", "wait": HOUR}),
        (
            raising(Unknown("effect.lost", after=HOUR)),
            {"outcome": Outcome.UNKNOWN, "code": "effect.lost", "wait": HOUR, "interrupted": True},
        ),
    ],
    ids=["succeeded", "canceled", "retry", "unknown"],
)
def test_an_attempt_ends_in_its_run_and_is_counted(act, expected) -> None:
    with world(KIOSK) as made, script(act):
        plain(made.event(plain, TICKET), None)
        (ending,) = made.teller.endings
        told(ending, phase="run", attempt=1, duration=timedelta(0), **expected)
        assert ending.operation == made.operation(plain, TICKET)
        assert (ending.operation_id, ending.tenant) == ('["plain",null,["1"]]', None)


def test_how_long_the_handler_ran_is_told() -> None:
    with world(KIOSK) as made, script(lambda ticket, job: made.clock.advance(SECOND)):
        plain(made.event(plain, TICKET), None)
        assert made.teller.endings[0].duration == SECOND


def test_a_wait_that_sqs_did_not_take_is_told_with_its_code_and_its_neighbours_wait() -> None:
    with world(KIOSK) as made, script(raising(Retry("data.no", after=HOUR))):
        made.queues.set_visibility = lambda *_: [Refused(1, "ReceiptHandleIsInvalid")]  # type: ignore[method-assign]
        plain(made.event(plain, *numbered(plain, 2)), None)
        common = {"outcome": Outcome.RETRY, "phase": "run", "code": "data.no", "attempt": 1, "duration": timedelta(0)}
        told(made.teller.endings[0], **common, wait=HOUR)
        told(made.teller.endings[1], **common, detail="visibility not set: ReceiptHandleIsInvalid")


def test_a_deferral_ends_in_its_run_and_counts_nothing() -> None:
    with world(KIOSK) as made, script(raising(Defer("provider.closed", after=HOUR))):
        plain(made.event(plain, TICKET), None)
        told(
            made.teller.endings[0], outcome=Outcome.DEFERRED, phase="run", code="provider.closed", wait=HOUR,
            duration=timedelta(0),
        )  # fmt: skip


@pytest.mark.parametrize(("handler", "least", "most"), [(plain, 1, 5), (lanes, 0, 0)], ids=["standard", "fifo"])
def test_a_rejection_waits_only_for_sqs_to_move_it(handler, least, most) -> None:
    with world(KIOSK) as made, script(raising(Reject("data.bad"))):
        event = made.event(handler, TICKET)
        handler(event, None)
        handler(redeliver(event), None)
        first, again = made.teller.endings
        for ending in (first, again):
            assert ending.wait is not None
            assert least * SECOND <= ending.wait <= most * SECOND
        told(
            first, outcome=Outcome.REJECTED, phase="run", code="data.bad", attempt=1, wait=first.wait,
            duration=timedelta(0),
        )  # fmt: skip
        told(again, outcome=Outcome.FAST_FORWARDED, phase="claim", code="data.bad", wait=again.wait)


def test_copies_share_the_fate_and_neither_attempt_nor_duration() -> None:
    with world(KIOSK) as made, script(lambda ticket, job: None):
        plain(made.event(plain, TICKET, TICKET), None)
        first, copy = made.teller.endings
        told(first, outcome=Outcome.SUCCEEDED, phase="run", attempt=1, duration=timedelta(0))
        told(copy, outcome=Outcome.ALREADY_APPLIED, phase="run", copied=True)


def test_copies_of_a_failure_wait_as_long() -> None:
    with world(KIOSK) as made, script(raising(Unknown("effect.lost", after=HOUR))):
        plain(made.event(plain, TICKET, TICKET), None)
        told(
            made.teller.endings[1], outcome=Outcome.UNKNOWN, phase="run", code="effect.lost", wait=HOUR, copied=True,
        )  # fmt: skip


def test_what_had_no_time_is_told_as_unstarted_and_an_earlier_interruption_is_not_told_again() -> None:
    with world(KIOSK) as made, script(raising(Unknown("effect.lost", after=timedelta(0)))):
        event = made.event(plain, TICKET)
        plain(event, None)
        plain(redeliver(event), NoTime())
        told(
            made.teller.endings[1], outcome=Outcome.UNSTARTED, phase="claim", code="effect.lost", wait=timedelta(0),
        )  # fmt: skip
        assert made.operation(plain, TICKET).history[-1].note == "unstarted"
        assert made.operation(plain, TICKET).code == "effect.lost"


def test_a_hold_after_a_run_that_died_tells_of_its_interruption() -> None:
    with world(KIOSK) as made, script():
        event = made.event(careful, TICKET)
        crash(made, careful, event)
        careful(redeliver(event), None)
        (ending,) = made.teller.endings
        told(
            ending, outcome=Outcome.HELD, phase="claim", code="effect.unknown", interrupted=True, wait=ending.wait,
        )  # fmt: skip


def test_an_interruption_behind_a_moved_cursor_is_told_though_the_run_goes_on() -> None:
    def late(ticket, job):
        job.save_cursor(7)
        raise SoftDeadline

    with world(KIOSK) as made, script(late):
        plain(made.event(plain, TICKET), None)
        told(
            made.teller.endings[0], outcome=Outcome.CONTINUED, phase="run", code="effect.timeout", detail="continued",
            wait=timedelta(0), duration=timedelta(0), interrupted=True,
        )  # fmt: skip


def test_what_is_applied_or_canceled_is_answered_by_the_claim() -> None:
    with world(KIOSK) as made, script():
        plain(made.event(plain, TICKET), None)
        plain(made.event(plain, TICKET), None)
        told(made.teller.endings[1], outcome=Outcome.ALREADY_APPLIED, phase="claim")
    with world(KIOSK) as made, script(raising(Cancel("data.no"))):
        plain(made.event(plain, TICKET), None)
        plain(made.event(plain, TICKET), None)
        told(made.teller.endings[1], outcome=Outcome.CANCELED, phase="claim", code="data.no")


def test_a_duplicate_that_comes_too_early_waits_for_the_rest_of_the_time() -> None:
    with world(KIOSK) as made, script(raising(Retry("provider.busy", after=HOUR))):
        event = made.event(plain, TICKET)
        plain(event, None)
        made.clock.advance(HOUR / 2)
        plain(redeliver(event), None)
        told(made.teller.endings[1], outcome=Outcome.DEFERRED, phase="claim", code="provider.busy", wait=HOUR / 2)


def test_a_message_in_progress_waits_until_that_lease_ends() -> None:
    with world(KIOSK) as made, script():
        event = made.event(plain, TICKET)
        crash(made, plain, event)
        lease = made.operation(plain, TICKET).lease_until
        for early in (10 * SECOND, timedelta(milliseconds=100)):
            made.clock.advance(lease - early - made.clock.now())
            plain(redeliver(event), None)
            told(made.teller.endings[-1], outcome=Outcome.IN_PROGRESS, phase="claim", wait=max(early, SECOND))


@contextmanager
def answering(made: Any, handler: Any, answer: Any) -> Iterator[None]:
    """Let the ledger answer like this to every outcome. *answer* is made of the operation that stands there."""

    class Odd:
        read = staticmethod(made.ledger.read)

        @staticmethod
        def write(writes: Any, *, now: Any) -> Any:
            if all(one.operation.state is State.LEASED and one.previous is None for one in writes):
                return made.ledger.write(writes, now=now)
            return [answer(made.ledger.items[one.operation.id]) for one in writes]

    with entrypoint.bound(replace(entrypoint.ports_of(handler), ledger=Odd())):
        yield


def test_an_outcome_that_was_not_recorded_waits_until_its_lease_ends() -> None:
    with world(KIOSK) as made, script(lambda ticket, job: made.clock.advance(SECOND)):
        event = made.event(plain, TICKET, TICKET)
        with answering(made, plain, lambda _: Unavailable("ReadTimeoutError")):
            assert len(ids(plain(event, None))) == 2
        wait = made.operation(plain, TICKET).lease_until - made.clock.now()
        common = {"outcome": Outcome.UNCONFIRMED, "phase": "settle", "code": "ledger.unavailable",
                  "detail": "ReadTimeoutError", "wait": wait}  # fmt: skip
        told(made.teller.endings[0], **common, duration=SECOND)
        told(made.teller.endings[1], **common, copied=True)
        assert wait > 29 * SECOND


@pytest.mark.parametrize(
    ("found", "wait"),
    [
        ({"state": State.LEASED, "lease_until": 90}, 90),
        ({"state": State.SUCCEEDED, "lease_until": None}, 1),
        (None, 32),
    ],
    ids=["leased", "ended", "gone"],
)
def test_a_lost_fence_waits_for_the_lease_of_whoever_has_it(found, wait) -> None:
    def answer(item):
        if found is None:
            return NotWritten(None)
        until = found["lease_until"]
        ends = None if until is None else made.clock.now() + until * SECOND
        return NotWritten(replace(item, fence=9, owner="another", state=found["state"], lease_until=ends))

    with world(KIOSK) as made, script(raising(Retry("provider.busy"))):
        with answering(made, plain, answer):
            if found is None:
                made.ledger.read = lambda ids: {}  # type: ignore[method-assign]
            plain(made.event(plain, TICKET), None)
        (ending,) = made.teller.endings
        told(
            ending, outcome=Outcome.FENCE_LOST, phase="settle", code="ledger.fence_lost", detail="retry",
            wait=wait * SECOND, duration=timedelta(0),
        )  # fmt: skip
        assert ending.operation is not None
        assert ending.operation.fence == (1 if found is None else 9)


@pytest.mark.parametrize(
    ("receive_count", "least", "most"), [(1, 15, 30), (2, 30, 60), (7, 960, 1_920), (9, 1_800, 3_600)]
)
def test_what_could_not_be_claimed_waits_longer_with_each_receive(receive_count, least, most) -> None:
    with world(KIOSK) as made, script() as runs:

        class Away:
            read = staticmethod(lambda ids: {})
            write = staticmethod(lambda writes, now: [Unavailable("ThrottlingException")] * len(writes))

        with entrypoint.bound(replace(entrypoint.ports_of(lanes), ledger=Away())):
            lanes(made.event(lanes, TICKET, receive_count=receive_count), None)
        (ending,) = made.teller.endings
        assert ending.wait is not None
        assert least * SECOND <= ending.wait <= most * SECOND
        told(
            ending, outcome=Outcome.UNCLAIMED, phase="claim", code="ledger.unavailable",
            detail="ThrottlingException", wait=ending.wait,
        )  # fmt: skip
        assert runs.runs == []


def test_a_duplicate_after_half_of_the_retention_keeps_its_operation_from_being_forgotten() -> None:
    with world(KIOSK) as made, script():
        plain(made.event(plain, TICKET), None)
        expiry = made.operation(plain, TICKET).expires_at
        made.clock.advance(timedelta(days=10))
        plain(made.event(plain, TICKET), None)
        assert made.operation(plain, TICKET).expires_at == expiry
        made.clock.advance(timedelta(days=10))
        plain(made.event(plain, TICKET), None)
        assert made.operation(plain, TICKET).expires_at == made.clock.now() + timedelta(days=30)


def test_with_group_commit_what_has_ended_is_durable_and_deleted_before_a_suspect_runs() -> None:
    with world(KIOSK) as made, script() as runs:
        alone = made.event(plain, TICKET)
        crash(made, plain, alone)
        fresh = made.event(plain, *(Ticket(number=number) for number in "234"))
        seen: list[tuple[int, set[State]]] = []

        def look(ticket, job):
            if ticket.number == "1":
                states = {made.operation(plain, Ticket(number=number)).state for number in "234"}
                seen.append((len(made.queues.deleted), states))

        runs.act = look
        with entrypoint.bound(replace(entrypoint.ports_of(plain), group_commit=True)):
            assert ids(plain({"Records": [*redeliver(alone)["Records"], *fresh["Records"]]}, None)) == []
        assert seen == [(3, {State.SUCCEEDED})]


def test_each_message_is_deleted_once_before_several_suspects() -> None:
    with world(KIOSK) as made, script():
        events = [made.event(plain, Ticket(number=number)) for number in "12"]
        for event in events:
            crash(made, plain, event)
        fresh = made.event(plain, Ticket(number="3"))["Records"]
        suspects = [record for event in events for record in redeliver(event)["Records"]]
        plain({"Records": [*suspects, *fresh]}, None)
        assert made.queues.deleted == [fresh[0]["receiptHandle"], suspects[0]["receiptHandle"]]


def test_a_handler_that_cannot_be_stopped_is_told_so_and_waits_for_its_own_lease() -> None:
    from threading import Event

    from tests.scenarios.test_running import Context

    go_on = Event()
    with world(KIOSK) as made, script(lambda ticket, job: ticket.number == "0" and go_on.wait(20)):
        try:
            abreast(made.event(abreast, *(Ticket(number=number) for number in "001")), Context(4_050))
            wait = made.operation(abreast, Ticket(number="0")).lease_until - made.clock.now()
            common = {"outcome": Outcome.STILL_RUNNING, "phase": "run", "code": "effect.timeout", "interrupted": True,
                      "wait": wait}  # fmt: skip
            told(made.teller.endings[0], **common)
            told(made.teller.endings[1], **common, copied=True)
        finally:
            go_on.set()
