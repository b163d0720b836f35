"""How handlers are run: within the deadline, several at once, as coroutines."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
import time
from datetime import timedelta

import pytest

from surehand import Retry, entrypoint
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import world
from surehand.worker import Invocation, work
from surehand.worker.conclusion import SoftDeadline
from surehand.worker.loop import EventLoop
from tests.scenarios.kiosk import KIOSK, Ticket, abreast, awaited, careful, ids, lanes, numbered, pairs, plain, script
from tests.scenarios.test_protocol import crash, redeliver

TICKET = Ticket(number="1")


class Context:
    """A Lambda context whose time really runs, on the world's clock and the machine's."""

    aws_request_id = "request"

    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds

    def get_remaining_time_in_millis(self) -> int:
        return self._milliseconds


def sleepy(ticket, job):
    if ticket.number == "0":
        time.sleep(30)


@pytest.mark.parametrize(
    ("handler", "outcome"), [(plain, Outcome.UNKNOWN), (careful, Outcome.HELD), (abreast, Outcome.UNKNOWN)]
)
def test_a_handler_is_interrupted_before_lambda_kills_it_and_its_neighbours_are_put_back(handler, outcome) -> None:
    with world(KIOSK) as made, script(sleepy):
        began = time.monotonic()
        event = made.event(handler, Ticket(number="0"))
        assert len(ids(handler(event, Context(4_100)))) == 1
        assert time.monotonic() - began < 15
        assert made.teller.endings[0].outcome is outcome
        assert made.teller.endings[0].interrupted


def test_an_interruption_cannot_be_eaten_by_except_exception() -> None:
    def greedy(ticket, job):
        try:
            time.sleep(30)
        except Exception:  # noqa: BLE001
            return "eaten"

    with world(KIOSK) as made, script(greedy):
        plain(made.event(plain, TICKET), Context(4_100))
        operation = made.operation(plain, TICKET)
        assert (operation.state, operation.code) == (State.RETRYABLE_FAILED, "effect.timeout")


def test_the_alarm_of_others_is_left_as_it_was() -> None:
    import signal

    fired = []
    before = signal.signal(signal.SIGALRM, lambda *_: fired.append(1))
    try:
        with world(KIOSK) as made, script():
            plain(made.event(plain, TICKET), Context(10_000))
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
        signal.raise_signal(signal.SIGALRM)
        assert fired == [1]
    finally:
        signal.signal(signal.SIGALRM, before)


def test_outside_the_main_thread_a_handler_runs_uninterrupted() -> None:
    with world(KIOSK) as made, script() as told:
        ports = entrypoint.ports_of(plain)

        def elsewhere() -> None:
            with entrypoint.bound(ports):
                plain(made.event(plain, TICKET), Context(10_000))

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert told.numbers == ["1"]


def test_a_context_without_a_clock_means_the_whole_timeout() -> None:
    with world(KIOSK) as made, script() as told:
        assert ids(plain(made.event(plain, TICKET), object())) == []
        assert told.jobs[0].deadline - made.clock.now() == timedelta(seconds=30)


def test_parallel_runs_so_many_at_once_and_no_more() -> None:
    running, most, gate = [], [], threading.Barrier(4, timeout=10)

    def act(ticket, job):
        running.append(ticket.number)
        most.append(len(running))
        if int(ticket.number) < 8:
            gate.wait()
        running.remove(ticket.number)

    with world(KIOSK) as made, script(act):
        assert ids(abreast(made.event(abreast, *numbered(abreast, 8)), None)) == []
        assert max(most) == 4


def test_parallel_changes_no_outcome() -> None:
    def act(ticket, job):
        if int(ticket.number) % 3 == 0:
            raise Retry("provider.busy")

    with world(KIOSK) as made, script(act) as told:
        event = made.event(abreast, *numbered(abreast, 10))
        assert ids(abreast(event, None)) == [event["Records"][index]["messageId"] for index in (0, 3, 6, 9)]
        assert len(told.runs) == 10


def test_each_thread_has_the_context_variables_of_the_invocation_and_of_its_own_record() -> None:
    from surehand.worker.context import current

    outer = contextvars.ContextVar("outer", default="unset")
    seen = {}

    def act(ticket, job):
        time.sleep(0.01)
        seen[ticket.number] = (outer.get(), current()["operation"] == job.operation)

    outer.set("set")
    with world(KIOSK) as made, script(act):
        abreast(made.event(abreast, *numbered(abreast, 8)), None)
    assert set(seen.values()) == {("set", True)}


def test_async_handlers_share_one_loop_and_run_so_many_at_once() -> None:
    running, most, loops = [], [], set()

    async def act(ticket):
        loops.add(asyncio.get_running_loop())
        running.append(ticket.number)
        most.append(len(running))
        await asyncio.sleep(0.05)
        running.remove(ticket.number)

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        assert ids(awaited(made.event(awaited, *numbered(awaited, 8)), None)) == []
    assert (max(most), len(loops)) == (4, 1)


def test_a_cancelled_error_of_one_record_is_its_own_failure() -> None:
    async def act(ticket):
        if ticket.number == "0":
            raise asyncio.CancelledError

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)) as told:
        event = made.event(awaited, *numbered(awaited, 4))
        assert ids(awaited(event, None)) == [event["Records"][0]["messageId"]]
        assert len(told.runs) == 4
        assert made.operation(awaited, Ticket(number="0")).code == "code.CancelledError"


def test_an_async_handler_is_canceled_before_the_deadline() -> None:
    async def act(ticket):
        await asyncio.sleep(30)

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        plain_event = made.event(awaited, TICKET)
        assert len(ids(awaited(plain_event, Context(4_100)))) == 1
        assert made.operation(awaited, TICKET).code == "effect.timeout"


def test_a_coroutine_that_swallows_its_cancellation_keeps_its_lease() -> None:
    async def act(ticket):
        for _ in range(20):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.2)

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        assert len(ids(awaited(made.event(awaited, TICKET), Context(4_050)))) == 1
        assert made.operation(awaited, TICKET).state is State.LEASED
        assert made.teller.endings[0].outcome is Outcome.STILL_RUNNING


def test_a_coroutine_that_a_plain_function_returns_is_run() -> None:
    """A decorator around an async handler makes such a function; left unawaited, it would succeed without an effect."""
    done = []

    async def act(ticket):
        await asyncio.sleep(0)
        done.append(ticket.number)
        return 7

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        assert ids(plain(made.event(plain, TICKET), None)) == []
        assert done == ["1"]
        assert made.operation(plain, TICKET).result == "7"


def test_a_coroutine_that_an_async_handler_returns_unawaited_is_run() -> None:
    done = []

    async def charge(ticket):
        done.append(ticket.number)
        return 7

    async def act(ticket):
        return charge(ticket)

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        assert ids(awaited(made.event(awaited, TICKET), None)) == []
        assert done == ["1"]
        assert made.operation(awaited, TICKET).result == "7"


def test_a_coroutine_for_which_no_time_is_left_is_closed_and_not_begun() -> None:
    begun = []

    async def act() -> None:
        begun.append(1)

    loop, coroutine = EventLoop(), act()
    with pytest.raises(SoftDeadline):
        loop.result(coroutine, timeout=timedelta(0))
    assert begun == []
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED


def test_of_many_coroutines_a_slow_one_is_canceled_and_settled_and_the_process_goes_on() -> None:
    async def act(ticket):
        await asyncio.sleep(30 if ticket.number == "0" else 0)

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        event = made.event(awaited, *numbered(awaited, 4))
        invocation = Invocation(owner="one", deadline=made.clock.now() + timedelta(seconds=4.1))
        answered = work(awaited, event, invocation=invocation, ports=entrypoint.ports_of(awaited))
        assert ids(answered.response) == [event["Records"][0]["messageId"]]
        assert not answered.stuck
        operation = made.operation(awaited, Ticket(number="0"))
        assert (operation.state, operation.code) == (State.RETRYABLE_FAILED, "effect.timeout")


@pytest.mark.parametrize("count", [1, 2], ids=["alone", "among-others"])
def test_a_coroutine_that_will_not_stop_ends_the_process(count) -> None:
    """It would go on in the next invocation, beside its successor (P9)."""

    async def act(ticket):
        for _ in range(20 if ticket.number == "0" else 0):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.2)

    with world(KIOSK) as made, script(lambda ticket, job: act(ticket)):
        event = made.event(awaited, *numbered(awaited, count))
        invocation = Invocation(owner="one", deadline=made.clock.now() + timedelta(seconds=4.05))
        answered = work(awaited, event, invocation=invocation, ports=entrypoint.ports_of(awaited))
        assert ids(answered.response) == [event["Records"][0]["messageId"]]
        assert answered.stuck


@pytest.mark.parametrize("handler", [plain, lanes, abreast, awaited], ids=lambda handler: handler.name)
def test_after_handlers_that_have_ended_whatever_they_raised_the_process_goes_on(handler) -> None:
    def act(ticket, job):
        if ticket.number == "0":
            raise Retry("provider.busy")

    with world(KIOSK) as made, script(act):
        event = made.event(handler, *numbered(handler, 2))
        invocation = Invocation(owner="one", deadline=made.clock.now() + timedelta(seconds=10))
        assert not work(handler, event, invocation=invocation, ports=entrypoint.ports_of(handler)).stuck


def test_beside_a_thread_that_will_not_stop_everything_else_is_released() -> None:
    """Suspects have not run by then, and the followers of its FIFO group cannot: their leases are given back."""
    go_on = threading.Event()

    def act(ticket, job):
        if ticket.number == "0":
            go_on.wait(20)

    with world(KIOSK) as made, script(act) as told:
        try:
            suspects = made.event(abreast, Ticket(number="7"))
            crash(made, abreast, suspects)
            told.runs.clear()
            fresh = made.event(abreast, *numbered(abreast, 2))
            event = {"Records": [*redeliver(suspects)["Records"], *fresh["Records"]]}
            assert len(ids(abreast(event, Context(4_200)))) == 2
            suspect = made.operation(abreast, Ticket(number="7"))
            assert (suspect.state, suspect.marks) == (State.PENDING, 1)

            event = made.event(pairs, *(Ticket(number=number, lane=lane) for number, lane in ("0a", "1a", "2b")))
            assert ids(pairs(event, Context(4_200))) == [one["messageId"] for one in event["Records"][:2]]
            assert made.operation(pairs, Ticket(number="0")).state is State.LEASED
            assert made.operation(pairs, Ticket(number="1")).state is State.PENDING
        finally:
            go_on.set()


def test_suspects_of_several_groups_wait_for_no_other_group_and_break_nothing() -> None:
    """Before a suspect runs, what has ended is deleted, while other groups' threads go on ending more."""
    with world(KIOSK) as made, script() as told:
        event = made.event(pairs, *(Ticket(number=str(number), lane="ab"[number % 2]) for number in range(10)))
        for _ in range(2):
            crash(made, pairs, event)
            event = redeliver(event)
        told.runs.clear()
        assert ids(pairs(event, None)) == []
        assert sorted(told.numbers) == [str(number) for number in range(10)]
        assert [number for number in told.numbers if int(number) % 2 == 0] == ["0", "2", "4", "6", "8"]
