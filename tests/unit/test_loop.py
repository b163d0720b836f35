"""The event loop of async handlers: whose an end is, what a deadline does, and that a dead loop is replaced."""

from __future__ import annotations

import asyncio
import gc
import inspect
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from surehand import Retry, Unknown
from surehand.worker.conclusion import NotBegun, SoftDeadline, StillRunning
from surehand.worker.handing_over import HandOver, Superseded
from surehand.worker.loop import EventLoop

LONG, SHORT = timedelta(seconds=5), timedelta(seconds=0.05)


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    made = EventLoop()
    yield made
    made.close()


async def which() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def in_background(loop: EventLoop, coroutine: Awaitable[object], timeout: timedelta = LONG) -> Future[object]:
    """Run a coroutine for another thread."""
    pool = ThreadPoolExecutor(1)
    running = pool.submit(loop.result, coroutine, timeout=timeout)
    pool.shutdown(wait=False)
    return running


def serving() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "surehand-loop"]


def test_a_coroutine_s_result_is_returned_and_all_of_them_share_one_loop(loop: EventLoop) -> None:
    first = loop.result(which(), timeout=LONG)
    assert first is loop.result(which(), timeout=LONG)
    assert all(thread.daemon for thread in serving())  # else no process that had run a coroutine would end


@pytest.mark.parametrize("error", [ValueError, TimeoutError, asyncio.CancelledError, SystemExit, KeyboardInterrupt])
def test_what_a_coroutine_raises_is_its_own_and_the_loop_goes_on(loop: EventLoop, error) -> None:
    """A TimeoutError too: it is that of a client, and no deadline."""

    async def act() -> None:
        raise error("its own")

    first = loop.result(which(), timeout=LONG)
    with pytest.raises(error, match="its own"):
        loop.result(act(), timeout=LONG)
    assert loop.result(which(), timeout=LONG) is first


def test_at_its_deadline_a_coroutine_is_canceled_and_has_ended_before_that_is_told(loop: EventLoop) -> None:
    told = []

    async def act() -> None:
        try:
            await asyncio.sleep(20)
        finally:
            told.append("ended")

    with pytest.raises(SoftDeadline):
        loop.result(act(), timeout=SHORT)
    assert told == ["ended"]


def test_a_coroutine_that_finishes_as_it_is_canceled_says_how_it_has_ended(loop: EventLoop) -> None:
    """As a plain function does that catches its interruption."""

    async def act(last: BaseException | None = None) -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(20)
        if last is not None:
            raise last
        return "finished"

    assert loop.result(act(), timeout=SHORT) == "finished"
    for word in (Retry("provider.busy"), HandOver(), Superseded(None)):
        for last in (word, BaseExceptionGroup("of tasks", [ValueError(), word])):
            with pytest.raises(type(last)) as told:
                loop.result(act(last), timeout=SHORT)
            assert told.value is last


@pytest.mark.parametrize(
    "accident", [ValueError("its own"), TimeoutError(), ExceptionGroup("x", [OSError()])], ids=repr
)
def test_a_coroutine_that_breaks_as_it_is_canceled_has_met_the_deadline(loop: EventLoop, accident) -> None:
    """Nobody knows what became of its effect, whatever a client makes of the cancellation."""

    async def act() -> None:
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            raise accident from None

    with pytest.raises(SoftDeadline) as told:
        loop.result(act(), timeout=SHORT)
    assert told.value.__cause__ is accident


@pytest.mark.parametrize("depth", [1, 3])
def test_what_a_coroutine_returns_to_be_awaited_is_awaited(loop: EventLoop, depth) -> None:
    class Lazy:
        def __init__(self, depth: int) -> None:
            self.depth = depth

        def __await__(self) -> Generator[Any, None, object]:
            yield from asyncio.sleep(0).__await__()
            return Lazy(self.depth - 1) if self.depth else "done"

    async def forgetful() -> object:
        return Lazy(depth)

    assert loop.result(forgetful(), timeout=LONG) == loop.result(Lazy(depth), timeout=LONG) == "done"


def test_a_coroutine_that_was_canceled_before_its_first_line_has_not_begun(loop: EventLoop) -> None:
    """Its loop was busy with another one until the deadline."""
    busy, begun, late = threading.Event(), [], threading.Event()

    async def block() -> None:
        busy.set()
        late.wait(5)

    async def act() -> None:
        begun.append(1)

    blocking, coroutine = in_background(loop, block()), act()
    assert busy.wait(5)
    threading.Timer(0.15, late.set).start()
    with pytest.raises(NotBegun):
        loop.result(coroutine, timeout=SHORT)
    blocking.result(5)
    assert begun == []
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED


@pytest.mark.parametrize("tasks", [False, True], ids=["own", "of-its-task"])
def test_a_thread_that_a_coroutine_has_begun_is_as_little_over_as_its_work(loop: EventLoop, tasks) -> None:
    over = threading.Event()

    async def act() -> None:
        if not tasks:
            await asyncio.to_thread(over.wait, 5)
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(over.wait, 5))

    with pytest.raises(StillRunning):
        loop.result(act(), timeout=SHORT)
    over.set()


def test_a_thread_that_ends_in_time_or_never_began_or_is_another_s_keeps_no_coroutine_running(loop: EventLoop) -> None:
    over, begun = threading.Event(), []

    async def beside() -> None:
        await asyncio.to_thread(over.wait, 5)

    async def short() -> None:
        await asyncio.to_thread(time.sleep, 0.1)

    async def queued() -> None:
        fill = [asyncio.to_thread(time.sleep, 0.1) for _ in range(64)]
        await asyncio.gather(*fill, asyncio.to_thread(begun.append, 1))

    waiting = in_background(loop, beside())
    for act in (short, queued):
        with pytest.raises(SoftDeadline):
            loop.result(act(), timeout=SHORT)
    assert begun == []
    over.set()
    waiting.result(5)


def test_a_slow_name_server_keeps_no_coroutine_running(loop: EventLoop, monkeypatch) -> None:
    over = threading.Event()

    def slow(*_: object) -> None:
        over.wait(5)

    slow.__module__ = socket.getaddrinfo.__module__
    monkeypatch.setattr(socket, "getaddrinfo", slow)

    async def act() -> None:
        await asyncio.get_running_loop().getaddrinfo("slow.invalid", 443)

    with pytest.raises(SoftDeadline):
        loop.result(act(), timeout=SHORT)
    over.set()


def test_a_task_that_a_coroutine_leaves_behind_is_told_by_type_and_place_and_never_by_its_text(
    loop: EventLoop, caplog
) -> None:
    async def side(card: str) -> None:
        raise ValueError(f"card {card} refused")

    def callback(card: str) -> None:
        raise KeyError(card)

    async def act() -> None:
        task = asyncio.create_task(side("4111"))
        asyncio.get_running_loop().call_soon(callback, "4111")
        asyncio.get_running_loop().call_exception_handler({"message": "Unclosed client session", "client_session": 1})
        await asyncio.wait([task])

    loop.result(act(), timeout=LONG)
    gc.collect()
    loop.result(which(), timeout=LONG)
    lines = [record.getMessage() for record in caplog.records if record.name == "asyncio"]
    assert any("KeyError at " in line and "test_loop.py:" in line for line in lines)
    assert any("ValueError at " in line and "side" in line for line in lines)
    assert "Unclosed client session" in lines
    assert "4111" not in caplog.text


def test_a_coroutine_that_goes_on_behind_its_deadline_is_told_as_such(loop: EventLoop) -> None:
    over = threading.Event()

    async def act() -> None:
        while not over.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    with pytest.raises(StillRunning):
        loop.result(act(), timeout=SHORT)
    over.set()


def test_many_that_come_at_once_begin_one_loop(loop: EventLoop) -> None:
    together, interval = Barrier(8), sys.getswitchinterval()

    def begin() -> object:
        together.wait()
        return loop.result(which(), timeout=LONG)

    before = set(serving())
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            loops = {id(one.result()) for one in [pool.submit(begin) for _ in range(8)]}
    finally:
        sys.setswitchinterval(interval)
    assert len(loops) == 1
    assert len(set(serving()) - before) == 1


def test_a_closed_loop_ends_its_thread_and_the_next_coroutine_begins_another(loop: EventLoop) -> None:
    async def busy() -> asyncio.AbstractEventLoop:
        asyncio.get_running_loop().call_soon(time.sleep, 0.05)
        return asyncio.get_running_loop()

    others = serving()
    first = loop.result(busy(), timeout=LONG)
    [thread] = [one for one in serving() if one not in others]
    loop.close()
    assert loop.result(which(), timeout=timedelta(seconds=2)) is not first
    thread.join(2)
    assert not thread.is_alive()
    assert first.is_closed()  # type: ignore[attr-defined]


def test_a_loop_that_never_began_can_be_closed() -> None:
    EventLoop().close()


def test_whoever_waits_for_a_coroutine_on_a_closed_loop_learns_at_the_deadline_that_it_has_no_end(
    loop: EventLoop,
) -> None:
    begun = threading.Event()

    async def act() -> None:
        begun.set()
        await asyncio.sleep(20)

    waiting = in_background(loop, act(), timedelta(seconds=0.3))
    assert begun.wait(5)
    loop.close()
    with pytest.raises(StillRunning):
        waiting.result(5)


def broken(*_: object) -> None:
    raise ValueError


async def breaks() -> None:
    asyncio.get_running_loop()._process_events = broken  # type: ignore[attr-defined]
    await asyncio.sleep(0)


def test_under_a_loop_that_dies_every_coroutine_is_answered_and_the_next_one_has_another(loop: EventLoop) -> None:
    begun = threading.Event()

    async def beside() -> None:
        begun.set()
        await asyncio.sleep(20)

    first = loop.result(which(), timeout=LONG)
    waiting = in_background(loop, beside())
    assert begun.wait(5)
    for coroutine in (lambda: loop.result(breaks(), timeout=LONG), lambda: waiting.result(5)):
        with pytest.raises(Unknown) as unknown:
            coroutine()
        assert unknown.value.code == "effect.interrupted"
    assert loop.result(which(), timeout=LONG) is not first


def test_a_coroutine_that_a_dying_loop_has_not_begun_never_begins(loop: EventLoop) -> None:
    busy, handed = threading.Event(), threading.Event()

    async def dies() -> None:
        running = asyncio.get_running_loop()
        take = running.call_soon_threadsafe

        def taken(*call: Any) -> None:
            take(*call)
            handed.set()

        running.call_soon_threadsafe = taken  # type: ignore[assignment,method-assign]
        running._process_events = broken  # type: ignore[attr-defined]
        busy.set()
        handed.wait(5)

    dying, late = in_background(loop, dies()), which()
    assert busy.wait(5)
    behind = in_background(loop, late)
    dying.result(5)
    with pytest.raises(Unknown):
        behind.result(5)
    assert inspect.getcoroutinestate(late) == inspect.CORO_CLOSED


@pytest.mark.parametrize("closes", [True, False])
def test_a_dead_loop_is_never_used_again_also_if_it_cannot_be_closed(loop: EventLoop, closes) -> None:
    first: Any = loop.result(which(), timeout=LONG)
    if not closes:
        first.close = broken
    with pytest.raises(Unknown):
        loop.result(breaks(), timeout=LONG)
    assert loop.result(which(), timeout=LONG) is not first
    vars(first).pop("close", None)
    first.close()


def leave() -> None:
    sys.exit(1)


@pytest.mark.parametrize(("deed", "name"), [(leave, "SystemExit"), (broken, "ValueError")])
def test_what_comes_up_to_the_loop_is_told_to_its_exception_handler(loop: EventLoop, deed, name) -> None:
    told = []

    async def act() -> None:
        running = asyncio.get_running_loop()
        running.set_exception_handler(lambda _, context: told.append(context["message"]))
        if deed is broken:
            await breaks()
        running.call_soon(deed)
        await asyncio.sleep(0.01)

    with suppress(Unknown):
        loop.result(act(), timeout=LONG)
    assert f"{name} came up to the event loop of handlers" in told
