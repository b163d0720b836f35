"""The alarm of the soft deadline, at every instant at which it can come."""

from __future__ import annotations

import asyncio
import inspect
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from datetime import timedelta

import pytest

from surehand.worker import deadline, loop
from surehand.worker.conclusion import NotBegun, SoftDeadline, StillRunning
from surehand.worker.deadline import _Alarm, alarm_set, interrupted_after, reserve_for

LONG = timedelta(hours=1)


@contextmanager
def ringing_at(instruction: int, *, in_frames_of: str | tuple[str, ...]):
    """Let the alarm come before the n-th instruction of the deadline's own code, counted from 0."""
    seen = [0]

    def each(frame, event, argument):
        if frame.f_code.co_filename not in in_frames_of:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen[0] += 1
            if seen[0] == instruction + 1:
                _Alarm.ring(signal.SIGALRM, frame)
        return each

    before = sys.gettrace()
    sys.settrace(each)
    try:
        yield seen
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("batch", [True, False], ids=["batch", "alone"])
def test_whenever_the_alarm_comes_it_is_disarmed_and_given_back_afterwards(batch) -> None:
    """Armed beyond its handler it would strike a settle; a timer that is left would strike the next invocation."""
    handler = signal.getsignal(signal.SIGALRM)
    instruction, interrupted = 0, 0
    while True:
        with ringing_at(instruction, in_frames_of=deadline.__file__) as seen:
            try:
                if batch:
                    with alarm_set(LONG), interrupted_after(LONG):
                        pass
                else:
                    with interrupted_after(LONG):
                        pass
            except SoftDeadline:
                interrupted += 1
        assert _Alarm.armed is False, instruction
        assert _Alarm.taken is False, instruction
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0), instruction
        assert signal.getsignal(signal.SIGALRM) is handler, instruction
        if seen[0] <= instruction:
            break
        instruction += 1
    assert instruction > 50
    assert interrupted > 3


def test_whenever_the_alarm_comes_a_coroutine_is_stopped_or_told_as_still_running_or_has_not_begun(monkeypatch) -> None:
    """P9: told as ended it would be run again beside itself."""
    monkeypatch.setattr(loop, "_STOPPING", timedelta(milliseconds=10))
    made, instruction, told = loop.EventLoop(), 0, set()
    while True:
        ended: type[BaseException] | None = None
        over, begun = threading.Event(), threading.Event()

        async def act(over=over, begun=begun) -> None:
            begun.set()
            while not over.is_set():
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.002)

        coroutine = act()
        with ringing_at(instruction, in_frames_of=(deadline.__file__, loop.__file__)) as seen:
            try:
                with alarm_set(LONG), interrupted_after(LONG):
                    made.result(coroutine, timeout=timedelta(milliseconds=1))
            except (SoftDeadline, StillRunning) as error:
                ended = type(error)
        told.add(ended)
        if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:  # the alarm came before it was handed over
            coroutine.close()
        assert ended is StillRunning or not begun.is_set(), instruction
        assert _Alarm.armed is False, instruction
        over.set()
        if seen[0] <= instruction:
            break
        instruction += 1
    made.close()
    assert instruction > 100
    assert told >= {NotBegun, StillRunning}


def test_a_coroutine_of_a_handler_that_has_swallowed_its_interruption_is_stopped_at_once() -> None:
    made, began = loop.EventLoop(), time.monotonic()
    with alarm_set(LONG), pytest.raises(SoftDeadline), interrupted_after(LONG):  # noqa: PT012
        with suppress(SoftDeadline):
            signal.raise_signal(signal.SIGALRM)
        made.result(asyncio.sleep(20), timeout=timedelta(seconds=5))
    made.close()
    assert time.monotonic() - began < 4


def test_an_alarm_between_two_handlers_keeps_the_next_one_from_beginning() -> None:
    began = []
    with alarm_set(LONG):
        signal.raise_signal(signal.SIGALRM)
        with pytest.raises(SoftDeadline), interrupted_after(LONG):
            began.append(1)
    assert began == []


def test_a_handler_inside_a_handler_leaves_the_outer_one_interruptible() -> None:
    with pytest.raises(SoftDeadline), interrupted_after(LONG):  # noqa: PT012
        with interrupted_after(LONG):
            pass
        signal.raise_signal(signal.SIGALRM)


def test_an_alarm_while_no_handler_runs_interrupts_nothing() -> None:
    with alarm_set(LONG):
        signal.raise_signal(signal.SIGALRM)
    assert _Alarm.armed is False


def test_the_alarm_and_the_timer_of_others_come_back() -> None:
    def theirs(*_: object) -> None: ...

    before = signal.signal(signal.SIGALRM, theirs)
    signal.setitimer(signal.ITIMER_REAL, 7200, 60)
    try:
        with alarm_set(LONG):
            pass
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert (round(left, -1), interval) == (7200, 60)
        assert signal.getsignal(signal.SIGALRM) is theirs
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_batch_inside_a_handler_does_not_put_off_the_handler_s_own_deadline() -> None:
    with alarm_set(LONG), interrupted_after(LONG), alarm_set(2 * LONG):
        assert signal.getitimer(signal.ITIMER_REAL)[0] <= LONG.total_seconds()


def test_what_cannot_be_interrupted_runs_even_without_time_left() -> None:
    began = []

    def run() -> None:
        with alarm_set(LONG), interrupted_after(timedelta(0)):
            began.append(1)

    elsewhere = threading.Thread(target=run)
    elsewhere.start()
    elsewhere.join()
    assert began == [1]


def test_where_there_is_no_such_alarm_the_body_runs_without_one(monkeypatch) -> None:
    monkeypatch.delattr(signal, "SIGALRM")
    began = []
    with alarm_set(LONG), interrupted_after(LONG):
        began.append(1)
    assert began == [1]


def test_without_time_left_the_body_is_not_begun() -> None:
    began = []
    with pytest.raises(SoftDeadline), interrupted_after(timedelta(0)):
        began.append(1)
    assert began == []


def test_a_handler_that_swallows_the_interruption_is_interrupted_again() -> None:
    struck = []
    with alarm_set(timedelta(milliseconds=1)), pytest.raises(SoftDeadline), interrupted_after(LONG):  # noqa: PT012
        for _ in range(2):
            try:
                signal.pause()
                signal.pause()
            except SoftDeadline:
                struck.append(1)
        signal.pause()
    assert len(struck) == 2


@pytest.mark.parametrize(
    ("timeout", "kept"),
    [(1, 0.2), (5, 1), (30, 2), (900, 2)],
)
def test_the_reserve_is_a_fifth_of_the_timeout_and_two_seconds_at_most(timeout, kept) -> None:
    assert reserve_for(timedelta(seconds=timeout)) == timedelta(seconds=kept)
