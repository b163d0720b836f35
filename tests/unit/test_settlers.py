"""When an outcome is written, by whom, and what becomes of it when the ledger or our own code fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from surehand import Job, entrypoint
from surehand.ledger import Answer, Operation, Unavailable, Write, Written
from surehand.states import State
from surehand.testing import world
from surehand.worker import settlers
from surehand.worker.settlers import GroupSettler, InlineSettler, Settler
from tests.scenarios.kiosk import KIOSK, Ticket, ids, lanes, numbered, plain, script

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
CLOCK: Any = SimpleNamespace(now=lambda: NOW)
AWAY = Unavailable("ThrottlingException")
KINDS = [InlineSettler, GroupSettler]


def write(name: str) -> Write:
    operation = Operation(
        id=name, handler="plain", tenant=None, state=State.LEASED, fence=1, owner="one", lease_until=NOW + HOUR,
        claimed_at=NOW, started_at=NOW, expires_at=NOW + HOUR,
    )  # fmt: skip
    return Write(operation=operation, previous=None)


class Store:
    """Answers each call with what comes next in *answers*, then with success; keeps what it was asked."""

    def __init__(self, *answers: Answer | BaseException) -> None:
        self.answers = list(answers)
        self.calls: list[list[str]] = []
        self.moments: list[datetime] = []

    def read(self, ids: Sequence[str]) -> dict[str, Operation]:
        raise AssertionError(ids)

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        self.calls.append([one.operation.id for one in writes])
        self.moments.append(now)
        answer = self.answers.pop(0) if self.answers else Written()
        if isinstance(answer, BaseException):
            raise answer
        return [answer] * len(writes)


def settled(settler: Settler, *names: str) -> list[Answer]:
    answers: list[Answer] = []
    for name in names:
        settler.submit(write(name), answers.append)
    settler.close()
    return answers


@pytest.mark.parametrize("kind", KINDS)
def test_every_outcome_is_written_once_at_the_clock_s_time_and_answered(kind) -> None:
    store = Store()
    assert settled(kind(store, CLOCK, until=NOW + HOUR), "a", "b", "c") == [Written()] * 3
    assert sorted(name for call in store.calls for name in call) == ["a", "b", "c"]
    assert set(store.moments) == {NOW}


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_that_failed_is_repeated_only_before_the_end(kind) -> None:
    early, late = Store(AWAY), Store(AWAY)
    assert settled(kind(early, CLOCK, until=NOW + HOUR), "a") == [Written()]
    assert settled(kind(late, CLOCK, until=NOW), "a") == [AWAY]
    assert (early.calls, late.calls) == ([["a"], ["a"]], [["a"]])


def test_inline_an_outcome_is_answered_before_the_next_step() -> None:
    store, answers = Store(), []
    settler = InlineSettler(store, CLOCK, until=NOW + HOUR)
    settler.submit(write("a"), answers.append)
    assert answers == [Written()]


def test_a_group_is_taken_along_whole_while_a_write_is_under_way() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(Store):
        def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
            answers = super().write(writes, now=now)
            if len(self.calls) == 1:
                begun.set()
                assert go_on.wait(5)
            return answers

    store, answers = Slow(), []
    settler = GroupSettler(store, CLOCK, until=NOW + HOUR)
    time.sleep(0.05)  # by now its thread waits for work
    settler.submit(write("a"), answers.append)
    assert begun.wait(5), "the thread writes without being asked to flush"
    for name in "bcd":
        settler.submit(write(name), answers.append)
    assert store.calls == [["a"]]
    go_on.set()
    settler.close()
    assert store.calls == [["a"], ["b", "c", "d"]]
    assert answers == [Written()] * 4


def test_a_flush_returns_only_when_a_write_that_is_under_way_is_answered() -> None:
    begun, go_on, answers = threading.Event(), threading.Event(), []

    class Slow(Store):
        def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
            begun.set()
            assert go_on.wait(5)
            return super().write(writes, now=now)

    settler = GroupSettler(Slow(), CLOCK, until=NOW + HOUR)
    settler.submit(write("a"), answers.append)
    assert begun.wait(5)
    flushing = threading.Thread(target=settler.flush)
    flushing.start()
    flushing.join(0.05)
    assert flushing.is_alive()
    go_on.set()
    flushing.join(5)
    assert answers == [Written()]
    settler.close()


def test_a_fault_of_the_ledger_s_code_leaves_a_whole_group_unavailable() -> None:
    store = Store(KeyError("ours"))
    assert settled(GroupSettler(store, CLOCK, until=NOW + HOUR), "a") == [Unavailable("KeyError")]


def test_a_fault_behind_a_write_in_the_thread_reaches_whoever_waits() -> None:
    begun = threading.Event()

    def fail(_: Answer) -> None:
        begun.set()
        raise LookupError("ours")

    settler = GroupSettler(Store(), CLOCK, until=NOW + HOUR)
    settler.submit(write("a"), fail)
    assert begun.wait(5)
    with pytest.raises(LookupError, match="ours"):
        settler.close()


def test_an_interruption_of_a_write_ends_the_flush_and_is_not_waited_for(monkeypatch) -> None:
    monkeypatch.setattr(settlers, "_GATHER", 60)
    settler = GroupSettler(Store(KeyboardInterrupt()), CLOCK, until=NOW + HOUR)
    time.sleep(0.05)  # by now its thread waits for work
    settler.submit(write("a"), lambda _: None)
    for end in (settler.flush, settler.close):
        with pytest.raises(KeyboardInterrupt):
            end()


def test_behind_a_failure_the_rest_is_written_and_then_whoever_waits_is_told() -> None:
    begun, later = threading.Event(), threading.Event()

    def fail(_: Answer) -> None:
        begun.set()
        assert later.wait(5)
        raise LookupError("ours")

    def lead_on(_: Answer) -> None:
        settler.submit(write("c"), lambda _: None)
        later.set()

    store = Store()
    settler = GroupSettler(store, CLOCK, until=NOW + HOUR)
    settler.submit(write("a"), fail)
    assert begun.wait(5)
    settler.submit(write("b"), lead_on)
    for end in (settler.flush, settler.close):
        with pytest.raises(LookupError, match="ours"):
            end()
    assert store.calls == [["a"], ["b"], ["c"]]


def test_the_thread_goes_on_behind_a_flush_that_was_faster(monkeypatch) -> None:
    monkeypatch.setattr(settlers, "_GATHER", 0.1)
    written = threading.Event()
    settler = GroupSettler(Store(), CLOCK, until=NOW + HOUR)
    settler.submit(write("a"), lambda _: None)
    time.sleep(0.05)  # by now its thread waits for company
    settler.flush()
    time.sleep(0.1)  # by now its thread has found nothing
    settler.submit(write("b"), lambda _: written.set())
    assert written.wait(5)
    settler.close()


def test_an_outcome_waits_a_moment_for_company_and_whoever_ends_waits_for_neither(monkeypatch) -> None:
    monkeypatch.setattr(settlers, "_GATHER", 60)
    store, answers = Store(), []
    settler = GroupSettler(store, CLOCK, until=NOW + HOUR)
    time.sleep(0.05)  # by now its thread waits for work
    settler.submit(write("a"), answers.append)
    time.sleep(0.05)  # and by now for company
    settler.submit(write("b"), answers.append)
    assert store.calls == []
    began = time.monotonic()
    settler.close()
    assert time.monotonic() - began < 30
    assert store.calls == [["a", "b"]]
    assert answers == [Written()] * 2


def test_a_flush_waits_for_what_an_answer_has_led_to(monkeypatch) -> None:
    monkeypatch.setattr(settlers, "_GATHER", 0.05)
    answers: list[str] = []
    settler = GroupSettler(Store(), CLOCK, until=NOW + HOUR)
    settler.submit(write("a"), lambda _: settler.submit(write("b"), lambda _: answers.append("b")))
    settler.flush()
    assert answers == ["b"]
    settler.close()


def test_a_settler_that_had_nothing_to_write_ends() -> None:
    store = Store()
    assert settled(GroupSettler(store, CLOCK, until=NOW + HOUR)) == []
    assert store.calls == []


class Watched:
    """The ledger of a world. It tells which thread has written an outcome, as soon as one has."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.threads: list[threading.Thread] = []
        self.written = threading.Event()

    def read(self, ids: Sequence[str]) -> Any:
        return self.inner.read(ids)

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        answers: Sequence[Answer] = self.inner.write(writes, now=now)
        if any(one.operation.state is State.SUCCEEDED for one in writes):
            self.threads.append(threading.current_thread())
            self.written.set()
        return answers


@pytest.mark.parametrize(
    ("handler", "commit", "beside"), [(plain, True, True), (plain, False, False), (lanes, True, False)]
)
def test_an_outcome_is_written_while_the_next_message_runs_unless_that_waits_for_it(handler, commit, beside) -> None:
    durable = []
    with world(KIOSK) as made, script() as told:
        ledger = Watched(made.ledger)

        def act(ticket: Ticket, _: Job) -> None:
            if ticket.number == "1":
                durable.append(ledger.written.wait(5))

        told.act = act
        with entrypoint.bound(replace(entrypoint.ports_of(handler), ledger=ledger, group_commit=commit)):
            assert ids(handler(made.event(handler, *numbered(handler, 2)), None)) == []
    assert durable == [True]
    assert (ledger.threads[0] is not threading.current_thread()) == beside
