"""The schedules that broke an earlier version of the protocol (docs/protocol.md), each as a test.

Those from V19 on are also in `test_unknown_effects.py`, which has the handlers that ask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from surehand import Defer, Job, Reject, Retry, Unknown
from surehand.delivery import RENEWALS
from surehand.ledger import Written
from surehand.ledger.operating import Act, NotDone, cancel, dead_lettered, release, resolve
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import again, record, world
from tests.scenarios.kiosk import KIOSK, Ticket, abreast, careful, ids, lanes, plain, script

TICKET = Ticket(number="1")
HOUR = timedelta(hours=1)


class Died(BaseException):
    """The process ended here: no code of the worker may run after it."""


def die(*_: object) -> None:
    raise Died


class Crashing:
    """A ledger whose process dies at a chosen write. Nothing after that is written."""

    def __init__(self, inner, when: Callable[..., bool]) -> None:
        self.inner, self.when, self.dead = inner, when, False

    def read(self, ids):
        return self.inner.read(ids)

    def write(self, writes, *, now):
        if self.dead or self.when(writes):
            self.dead = True
            raise Died
        return self.inner.write(writes, now=now)


def crash(made, handler, event) -> None:
    """Deliver, and let the process die when the first outcome is to be written."""
    from surehand import entrypoint

    ports = entrypoint.ports_of(handler)
    ledger = Crashing(
        made.ledger, lambda writes: any(w.operation.state not in ("leased", "processing") for w in writes)
    )
    with entrypoint.bound(replace(ports, ledger=ledger)), pytest.raises(Died):
        handler(event, None)
    made.clock.advance(HOUR)


def redeliver(event):
    return {"Records": [again(one) for one in event["Records"]]}


def raising(error):
    def act(ticket: Ticket, job: Job) -> None:
        raise error

    return act


def endings(made) -> list[Outcome]:
    return [ending.outcome for ending in made.teller.endings]


def act(made) -> Act:
    return Act(actor="ann", reason="test", now=made.clock.now(), retention=timedelta(days=30))


def write(made, wanted) -> None:
    assert not isinstance(wanted, NotDone), wanted
    assert made.ledger.write([wanted], now=made.clock.now()) == [Written()]


def seen_in_dead_letters(made, handler, ticket, *message_ids: str):
    existing = made.operation(handler, ticket)
    operation_id = handler.identify(ticket, b"").operation
    return dead_lettered(
        existing, act(made), operation_id=operation_id, handler=handler.name, tenant=None, message_ids=message_ids
    )


def test_v1_a_producer_s_duplicate_of_a_rejected_message_does_not_revive_it() -> None:
    """M1 is rejected; M2, sent before the failing claim, is fast-forwarded; M1 again is not new."""
    with world(KIOSK) as made, script(raising(Reject("data.bad"))) as told:
        early = made.event(plain, TICKET)
        made.clock.advance(HOUR)
        first = made.event(plain, TICKET)
        plain(first, None)
        plain(early, None)
        plain(redeliver(first), None)
        plain(redeliver(early), None)
        assert told.numbers == ["1"]
        assert endings(made)[1:] == [Outcome.FAST_FORWARDED] * 3


def test_v1_a_redriven_dead_letter_gets_fresh_attempts_once() -> None:
    with world(KIOSK) as made, script(raising(Reject("data.bad"))) as told:
        first = made.event(plain, TICKET)
        plain(first, None)
        made.clock.advance(HOUR)
        redriven = made.event(plain, TICKET)
        plain(redriven, None)
        plain(redeliver(first), None)
        plain(redeliver(redriven), None)
        assert [job.attempt for job in told.jobs] == [1, 1]
        assert made.teller.endings[1].redrive


def test_v2_a_dead_letter_that_no_code_saw_is_known_after_the_queue_was_read() -> None:
    with world(KIOSK) as made, script():
        event = made.event(plain, TICKET)
        crash(made, plain, event)
        write(made, seen_in_dead_letters(made, plain, TICKET, event["Records"][0]["messageId"]))
        assert made.operation(plain, TICKET).state is State.DEAD_LETTERED


def test_v2_a_redrive_long_after_a_failure_of_every_invocation_gets_a_real_attempt() -> None:
    """After one retry the receives are spent by a deployment that cannot start; a week later the console redrives."""
    with world(KIOSK) as made, script(raising(Retry("provider.busy"))) as told:
        plain(made.event(plain, TICKET), None)
        made.clock.advance(7 * 24 * HOUR)
        told.act = lambda ticket, job: None
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert [job.attempt for job in told.jobs] == [1, 1]


def test_v2_a_dead_letter_of_an_unknown_operation_is_recorded() -> None:
    with world(KIOSK) as made, script():
        write(made, seen_in_dead_letters(made, plain, TICKET, "m1"))
        made.clock.advance(HOUR)
        assert ids(plain(made.event(plain, TICKET), None)) == []


def test_v3_a_redrive_does_not_inherit_crash_marks() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(plain, TICKET)
        crash(made, plain, event)
        crash(made, plain, redeliver(event))
        assert made.operation(plain, TICKET).marks == 1
        redriven = made.event(plain, TICKET)
        assert ids(plain(redriven, None)) == []
        assert told.jobs[-1].interrupted


def test_v4_a_late_stamp_leaves_a_redrive_on_its_way_claimable() -> None:
    with world(KIOSK) as made, script(raising(Reject("data.bad"))) as told:
        first = made.event(plain, TICKET)
        plain(first, None)
        made.clock.advance(HOUR)
        redriven = made.event(plain, TICKET)
        made.clock.advance(HOUR)
        write(made, seen_in_dead_letters(made, plain, TICKET, first["Records"][0]["messageId"]))
        told.act = lambda ticket, job: None
        assert ids(plain(redriven, None)) == []


def test_v5_a_suspect_that_is_left_unstarted_stays_a_suspect() -> None:
    with world(KIOSK) as made, script():
        event = made.event(plain, TICKET)
        crash(made, plain, event)
        plain(redeliver(event), NoTime())
        operation = made.operation(plain, TICKET)
        assert (operation.state, operation.marks) == (State.PENDING, 1)


def test_v5_a_settled_attempt_clears_the_suspicion() -> None:
    with world(KIOSK) as made, script(raising(Retry("provider.busy"))):
        event = made.event(plain, TICKET)
        crash(made, plain, event)
        plain(redeliver(event), None)
        assert made.operation(plain, TICKET).marks == 0


def test_v6_suspects_run_last_and_those_with_the_fewest_marks_first() -> None:
    with world(KIOSK) as made, script() as told:
        culprit, bystander, fresh = (Ticket(number=name) for name in ("culprit", "bystander", "fresh"))
        alone, both = made.event(plain, culprit), made.event(plain, bystander)
        crash(made, plain, alone)
        crash(made, plain, redeliver(alone))
        crash(made, plain, both)
        told.runs.clear()
        event = {
            "Records": [*redeliver(alone)["Records"], *redeliver(both)["Records"], *made.event(plain, fresh)["Records"]]
        }
        plain(event, None)
        assert told.numbers == ["fresh", "bystander", "culprit"]


def test_v6_what_has_ended_well_is_deleted_before_a_suspect_runs() -> None:
    """A suspect that dies takes the answer to Lambda with it; its neighbours must not come once more for that."""
    with world(KIOSK) as made, script() as told:
        alone = made.event(plain, TICKET)
        crash(made, plain, alone)
        fresh = made.event(plain, Ticket(number="2"))
        deleted: list[list[str]] = []
        told.act = lambda ticket, job: deleted.append(list(made.queues.deleted))
        assert ids(plain({"Records": [*redeliver(alone)["Records"], *fresh["Records"]]}, None)) == []
        assert deleted == [[], [fresh["Records"][0]["receiptHandle"]]]


def test_v6_two_confirmed_crashes_are_poison_and_never_run_again() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(plain, TICKET)
        for _ in range(3):
            crash(made, plain, event)
            event = redeliver(event)
        runs = len(told.runs)
        plain(event, None)
        assert len(told.runs) == runs == 3
        operation = made.operation(plain, TICKET)
        assert (operation.state, operation.code) == (State.PERMANENTLY_FAILED, "crash.poison")


def test_v7_on_fifo_a_suspect_keeps_its_place() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(lanes, Ticket(number="1"))
        crash(made, lanes, event)
        told.runs.clear()
        lanes({"Records": [*redeliver(event)["Records"], *made.event(lanes, Ticket(number="2"))["Records"]]}, None)
        assert told.numbers == ["1", "2"]


def test_v8_on_fifo_the_next_message_waits_for_a_durable_outcome() -> None:
    from surehand import entrypoint
    from surehand.ledger import Unavailable

    class Away:
        """Claims, and then is away."""

        def __init__(self, inner) -> None:
            self.inner, self.claims = inner, 0

        def read(self, ids):
            return self.inner.read(ids)

        def write(self, writes, *, now):
            if all(one.operation.state is State.LEASED for one in writes):
                return self.inner.write(writes, now=now)
            return [Unavailable("ThrottlingException")] * len(writes)

    with world(KIOSK) as made, script() as told:
        ports = entrypoint.ports_of(lanes)
        event = made.event(lanes, Ticket(number="1"), Ticket(number="2"), Ticket(number="3", lane="b"))
        with entrypoint.bound(replace(ports, ledger=Away(made.ledger))):
            assert len(ids(lanes(event, None))) == 3
        assert told.numbers == ["1"]
        assert made.teller.endings[0].outcome is Outcome.UNCONFIRMED


def test_v8_on_fifo_a_lost_fence_holds_its_own_group_and_no_other() -> None:
    def lose_the_first(ticket: Ticket, job: Job) -> None:
        if ticket.number == "1":
            made.ledger.items[job.operation] = replace(made.ledger.items[job.operation], owner="another", fence=9)

    with world(KIOSK) as made, script(lose_the_first) as told:
        event = made.event(lanes, Ticket(number="1"), Ticket(number="2"), Ticket(number="3", lane="b"))
        assert ids(lanes(event, None)) == [one["messageId"] for one in event["Records"][:2]]
        assert told.numbers == ["1", "3"]
        assert endings(made) == [Outcome.FENCE_LOST, Outcome.UNSTARTED, Outcome.SUCCEEDED]
        assert made.operation(lanes, TICKET).owner == "another"


def test_v9_on_fifo_a_rejected_head_holds_nobody_and_is_put_back_alone() -> None:
    def refuse_first(ticket: Ticket, job: Job) -> None:
        if ticket.number == "1":
            raise Reject("data.bad")

    with world(KIOSK) as made, script(refuse_first) as told:
        event = made.event(lanes, Ticket(number="1"), Ticket(number="2"))
        assert ids(lanes(event, None)) == [event["Records"][0]["messageId"]]
        assert told.numbers == ["1", "2"]
        assert made.queues.hidden == {event["Records"][0]["receiptHandle"]: timedelta(0)}


def test_v9_on_fifo_a_retried_head_holds_its_group_which_comes_back_at_once() -> None:
    def busy_first(ticket: Ticket, job: Job) -> None:
        if ticket.number == "1":
            raise Retry("provider.busy", after=HOUR)

    with world(KIOSK) as made, script(busy_first) as told:
        event = made.event(lanes, Ticket(number="1"), Ticket(number="2"), Ticket(number="3", lane="b"))
        assert len(ids(lanes(event, None))) == 2
        assert told.numbers == ["1", "3"]
        assert list(made.queues.hidden.values()) == [HOUR, timedelta(0)]
        assert made.operation(lanes, Ticket(number="2")).attempts == 0


def test_v10_a_run_that_died_is_held_where_the_effect_must_not_repeat() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(careful, TICKET)
        crash(made, careful, event)
        assert made.operation(careful, TICKET).state is State.PROCESSING
        careful(redeliver(event), None)
        assert told.numbers == ["1"]
        operation = made.operation(careful, TICKET)
        assert (operation.state, operation.code) == (State.PERMANENTLY_FAILED, "effect.unknown")


def test_v10_a_claim_that_never_ran_is_not_held() -> None:
    from surehand import entrypoint

    with world(KIOSK) as made, script() as told:
        event = made.event(careful, TICKET)
        ports = entrypoint.ports_of(careful)
        dying = Crashing(made.ledger, lambda writes: any(one.operation.state is State.PROCESSING for one in writes))
        with entrypoint.bound(replace(ports, ledger=dying)), pytest.raises(Died):
            careful(event, None)
        made.clock.advance(HOUR)
        assert ids(careful(redeliver(event), None)) == []
        assert told.numbers == ["1"]
        assert not told.jobs[-1].interrupted


def told_and_redriven(made, handler, event) -> None:
    """The dead-letter queue is read, and an hour later the message is redriven."""
    write(made, seen_in_dead_letters(made, handler, TICKET, event["Records"][0]["messageId"]))
    made.clock.advance(HOUR)
    handler(made.event(handler, TICKET), None)


def test_v19_a_run_that_died_is_held_also_when_the_ledger_was_told_of_its_dead_letter() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(careful, TICKET)
        crash(made, careful, event)
        told_and_redriven(made, careful, event)
        assert told.numbers == ["1"]
        assert made.operation(careful, TICKET).code == "effect.unknown"


def test_v19_a_hold_ends_by_one_redrive_and_a_run_that_dies_then_is_held_again() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(careful, TICKET)
        crash(made, careful, event)
        careful(redeliver(event), None)
        made.clock.advance(HOUR)
        redriven = made.event(careful, TICKET)
        crash(made, careful, redriven)
        assert told.numbers == ["1", "1"]
        told_and_redriven(made, careful, redriven)
        assert told.numbers == ["1", "1"]
        assert endings(made)[-1] is Outcome.HELD
        told_and_redriven(made, careful, redriven)
        assert told.numbers == ["1", "1", "1"]
        assert made.operation(careful, TICKET).state is State.SUCCEEDED


def test_v19_where_the_effect_may_repeat_a_redrive_inherits_no_marks_from_what_the_ledger_was_told() -> None:
    with world(KIOSK) as made, script():
        event = made.event(plain, TICKET)
        for _ in range(3):
            crash(made, plain, event)
            event = redeliver(event)
        write(made, seen_in_dead_letters(made, plain, TICKET, event["Records"][0]["messageId"]))
        assert made.operation(plain, TICKET).marks == 3
        made.clock.advance(HOUR)
        redriven = made.event(plain, TICKET)
        crash(made, plain, redriven)
        crash(made, plain, redeliver(redriven))
        assert made.operation(plain, TICKET).marks == 1


def test_v23_a_redrive_that_was_on_its_way_when_the_time_was_over_gets_a_real_attempt() -> None:
    with world(KIOSK) as made, script(raising(Retry("provider.busy"))) as told:
        plain(made.event(plain, TICKET), None)
        made.clock.advance(72 * HOUR - timedelta(minutes=10))
        redriven = made.event(plain, TICKET)
        made.clock.advance(timedelta(minutes=20))
        told.act = lambda ticket, job: None
        assert ids(plain(redriven, None)) == []
        assert [job.attempt for job in told.jobs] == [1, 1]


def test_v11_a_duplicate_does_not_run_before_the_backoff_is_over() -> None:
    with world(KIOSK) as made, script(raising(Retry("provider.busy", after=HOUR))) as told:
        plain(made.event(plain, TICKET), None)
        duplicate = made.event(plain, TICKET)
        assert ids(plain(duplicate, None)) != []
        assert told.numbers == ["1"]
        assert made.queues.hidden[duplicate["Records"][0]["receiptHandle"]] == HOUR


def test_v12_fifo_never_renews() -> None:
    with world(KIOSK) as made, script(raising(Defer("provider.closed"))):
        event = made.event(lanes, TICKET, receive_count=99)
        assert ids(lanes(event, None)) != []
        assert made.queues.sent == {}


def test_p7_a_standard_message_is_renewed_before_its_receives_run_out_and_only_then_deleted() -> None:
    with world(KIOSK) as made, script(raising(Defer("provider.closed", after=timedelta(minutes=1)))):
        event = made.event(plain, TICKET, receive_count=4, attributes={"source": "web"})
        assert ids(plain(event, None)) == []
        (copy,) = made.queues.sent["plain"]
        assert copy.body == event["Records"][0]["body"]
        assert copy.attributes["source"]["StringValue"] == "web"
        assert copy.attributes[RENEWALS]["StringValue"].startswith(f"1/{event['Records'][0]['messageId']}/")
        assert copy.delay == timedelta(minutes=1)


def test_p7_a_renewal_that_sqs_refuses_leaves_the_message_where_it_is() -> None:
    from surehand.errors import Refused

    with world(KIOSK) as made, script(raising(Defer("provider.closed"))):
        made.queues.send = lambda handler, messages: [Refused(0, "ServiceUnavailable")]  # type: ignore[method-assign]
        assert ids(plain(made.event(plain, TICKET, receive_count=8), None)) != []


def test_v13_a_live_lease_cannot_be_released_and_a_dead_one_can() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(plain, TICKET)
        crash(made, plain, event)
        made.clock.advance(-HOUR)
        assert isinstance(release(made.operation(plain, TICKET), act(made)), NotDone)
        made.clock.advance(HOUR)
        write(made, release(made.operation(plain, TICKET), act(made)))
        assert made.operation(plain, TICKET).state is State.PENDING
        assert ids(plain(redeliver(event), None)) == []
        assert len(told.runs) == 2


def test_p8_a_cancel_of_a_live_lease_takes_effect_when_the_attempt_fails() -> None:
    def cancel_meanwhile(ticket: Ticket, job: Job) -> None:
        asked = cancel(
            made.operation(plain, TICKET), act(made), operation_id=job.operation, handler="plain", tenant=None
        )
        write(made, asked)
        raise Retry("provider.busy")

    with world(KIOSK) as made, script(cancel_meanwhile):
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert made.operation(plain, TICKET).state is State.CANCELED


def test_v22_a_cancel_of_a_live_lease_does_not_hide_an_effect_that_is_held() -> None:
    def cancel_meanwhile(ticket: Ticket, job: Job) -> None:
        existing = made.operation(careful, TICKET)
        write(made, cancel(existing, act(made), operation_id=existing.id, handler="careful", tenant=None))
        raise Unknown("effect.timeout")

    with world(KIOSK) as made, script(cancel_meanwhile):
        assert ids(careful(made.event(careful, TICKET), None)) != []
        operation = made.operation(careful, TICKET)
        assert (operation.state, operation.code, operation.cancel_requested) == (
            State.PERMANENTLY_FAILED, "effect.unknown", False,
        )  # fmt: skip
        assert endings(made) == [Outcome.HELD]


def test_p8_with_plain_retry_a_cancel_takes_effect_over_an_unknown_effect() -> None:
    def cancel_meanwhile(ticket: Ticket, job: Job) -> None:
        existing = made.operation(plain, TICKET)
        write(made, cancel(existing, act(made), operation_id=existing.id, handler="plain", tenant=None))
        raise Unknown("effect.timeout")

    with world(KIOSK) as made, script(cancel_meanwhile):
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert made.operation(plain, TICKET).state is State.CANCELED


def test_p8_an_effect_that_happened_wins_over_a_cancel() -> None:
    def cancel_meanwhile(ticket: Ticket, job: Job) -> None:
        asked = cancel(
            made.operation(plain, TICKET), act(made), operation_id=job.operation, handler="plain", tenant=None
        )
        write(made, asked)

    with world(KIOSK) as made, script(cancel_meanwhile):
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert made.operation(plain, TICKET).state is State.SUCCEEDED


def test_p8_a_success_that_won_over_a_cancel_is_told_to_whoever_cancels_again() -> None:
    def cancel_meanwhile(ticket: Ticket, job: Job) -> None:
        asked = cancel(
            made.operation(plain, TICKET), act(made), operation_id=job.operation, handler="plain", tenant=None
        )
        write(made, asked)

    with world(KIOSK) as made, script(cancel_meanwhile):
        plain(made.event(plain, TICKET), None)
        existing = made.operation(plain, TICKET)
        again = cancel(existing, act(made), operation_id=existing.id, handler="plain", tenant=None)
        assert again == NotDone("it is succeeded, and that is final")


def died_with_a_cancel(made, handler=plain) -> dict:
    """Request a cancel while a run is under way whose process then dies; return its event."""
    event = made.event(handler, TICKET)
    crash(made, handler, event)
    made.clock.advance(-HOUR)
    existing = made.operation(handler, TICKET)
    write(made, cancel(existing, act(made), operation_id=existing.id, handler=handler.name, tenant=None))
    made.clock.advance(HOUR)
    return event


def test_p8_a_cancel_during_a_run_that_died_takes_effect_at_the_next_delivery() -> None:
    with world(KIOSK) as made, script() as told:
        event = died_with_a_cancel(made)
        assert ids(plain(redeliver(event), None)) == []
        assert len(told.runs) == 1
        assert made.operation(plain, TICKET).state is State.CANCELED


def test_p8_a_cancel_that_was_requested_outlives_the_stamp_of_its_dead_letter() -> None:
    with world(KIOSK) as made, script() as told:
        event = died_with_a_cancel(made)
        write(made, seen_in_dead_letters(made, plain, TICKET, event["Records"][0]["messageId"]))
        made.clock.advance(HOUR)
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert len(told.runs) == 1
        assert made.operation(plain, TICKET).state is State.CANCELED


def test_a_canceled_operation_is_acknowledged_without_running() -> None:
    with world(KIOSK) as made, script() as told:
        operation_id = plain.identify(TICKET, b"").operation
        write(made, cancel(None, act(made), operation_id=operation_id, handler="plain", tenant=None))
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert told.runs == []
        assert endings(made) == [Outcome.CANCELED]


def test_every_payload_of_an_operation_that_was_canceled_in_advance_is_acknowledged() -> None:
    with world(KIOSK) as made, script() as told:
        operation_id = plain.identify(TICKET, b"").operation
        write(made, cancel(None, act(made), operation_id=operation_id, handler="plain", tenant=None))
        event = made.event(plain, Ticket(number="1", note=1), Ticket(number="1", note=2))
        assert ids(plain(event, None)) == []
        assert told.runs == []


@pytest.mark.parametrize(("applied", "state"), [(True, State.SUCCEEDED), (False, State.PENDING)])
def test_a_held_operation_ends_by_an_operator_s_word(applied, state) -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(careful, TICKET)
        crash(made, careful, event)
        careful(redeliver(event), None)
        write(made, resolve(made.operation(careful, TICKET), act(made), applied=applied))
        assert made.operation(careful, TICKET).state is state
        made.clock.advance(HOUR)
        assert ids(careful(made.event(careful, TICKET), None)) == []
        assert len(told.runs) == (1 if applied else 2)


def test_v14_a_handler_that_cannot_be_stopped_keeps_its_lease() -> None:
    from threading import Event

    go_on = Event()

    def stuck(ticket: Ticket, job: Job) -> None:
        if ticket.number == "1":
            go_on.wait(20)

    with world(KIOSK) as made, script(stuck):
        try:
            event = made.event(abreast, *(Ticket(number=str(number)) for number in range(3)))
            assert ids(abreast(event, Remaining(4_200))) == [event["Records"][1]["messageId"]]
            operation = made.operation(abreast, Ticket(number="1"))
            assert operation.state is State.LEASED
            assert operation.leased_at(made.clock.now())
            assert made.teller.endings[1].outcome is Outcome.STILL_RUNNING
        finally:
            go_on.set()


class Remaining:
    """A Lambda context with so many milliseconds left."""

    def __init__(self, milliseconds: int) -> None:
        self.aws_request_id = "request"
        self._left = milliseconds

    def get_remaining_time_in_millis(self) -> int:
        return self._left


class NoTime(Remaining):
    """A Lambda context whose time is up."""

    def __init__(self) -> None:
        super().__init__(0)


def test_without_time_left_nothing_starts_and_everything_comes_back_at_once() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(plain, Ticket(number="1"), Ticket(number="2"))
        assert len(ids(plain(event, NoTime()))) == 2
        assert told.runs == []
        assert list(made.queues.hidden.values()) == [timedelta(0)] * 2
        assert made.operation(plain, TICKET).attempts == 0
        assert ids(plain(redeliver(event), None)) == []


def test_a_record_is_made_of_a_payload_or_a_text() -> None:
    with world(KIOSK) as made:
        assert record(plain, "text", sent_at=made.clock.now())["body"] == "text"
