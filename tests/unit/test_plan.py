"""Which operations a batch is about: copies, conflicts, refusals, and what is read before it is written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from surehand.declare import Identity
from surehand.delivery import Delivery, Unreadable
from surehand.ledger import Claimed, NotClaimed, Operation, Standing, Unavailable
from surehand.states import State
from surehand.testing import MemoryLedger
from surehand.worker import Invocation
from surehand.worker.plan import Step, claim_batch, ordered
from surehand.worker.receive import Message, Refused
from tests.scenarios.kiosk import plain

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Watched(MemoryLedger):
    """Remembers what was read and written, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, list[str]]] = []

    def read(self, ids: Any) -> dict[str, Operation]:
        self.calls.append(("read", list(ids)))
        return super().read(ids)

    def write(self, writes: Any, *, now: datetime) -> Any:
        self.calls.append(("write", [write.operation.id for write in writes]))
        assert len(self.calls) < 20, "it claims for ever"
        return super().write(writes, now=now)


class Away(MemoryLedger):
    """Takes nothing."""

    def write(self, writes: Any, *, now: datetime) -> Any:
        return [Unavailable("ThrottlingException")] * len(writes)


def delivery(message_id: str, *, receive_count: int = 1, sent_at: datetime = NOW) -> Delivery:
    return Delivery(
        message_id=message_id,
        receipt_handle=f"handle of {message_id}",
        body="",
        receive_count=receive_count,
        sent_at=sent_at,
        received_at=NOW,
    )


def message(index: int, *prints: str, key: str = "o", of: str | None = None, **arrived: Any) -> Message:
    return Message(
        index=index,
        delivery=delivery(of or f"m{index}", **arrived),
        payload=None,
        identity=Identity(operation=key, tenant=None, group=None, fingerprints=prints or ("a",)),
    )


def refused(index: int, of: str | None = None, **arrived: Any) -> Refused:
    return Refused(index=index, delivery=delivery(of or f"m{index}", **arrived), phase="p", code="c.d", detail="x")


def record_of(message_id: str) -> str:
    return f'["plain",null,["!message","{message_id}"]]'


def known(state: State, **values: Any) -> Operation:
    return Operation(
        **{
            "id": "o", "handler": "plain", "tenant": None, "state": state, "fence": 1, "owner": "another",
            "claimed_at": NOW - HOUR, "started_at": NOW - HOUR, "expires_at": NOW + HOUR,
            "message_ids": ("m0",), "fingerprints": ("a", "b"), **values,
        }
    )  # fmt: skip


def planned(*received: Message | Refused, ledger: MemoryLedger | None = None) -> list[Step]:
    ports: Any = SimpleNamespace(
        ledger=ledger if ledger is not None else MemoryLedger(),
        clock=SimpleNamespace(now=lambda: NOW),
        retention=30 * 24 * HOUR,
        version="v1",
    )
    return claim_batch(plain, received, invocation=Invocation(owner="one", deadline=NOW + HOUR), ports=ports)


def indices(step: Step) -> list[int]:
    return [one.index for one in step.all]


def holding(operation: Operation) -> Watched:
    ledger = Watched()
    ledger.items[operation.id] = operation
    return ledger


def test_different_operations_are_claimed_in_one_write_and_come_in_the_order_of_the_event() -> None:
    ledger = Watched()
    steps = planned(message(0, key="a"), refused(1), message(2, key="c"), ledger=ledger)
    assert ledger.calls == [("write", ["a", record_of("m1"), "c"])]
    assert [indices(step) for step in steps] == [[0], [1], [2]]
    assert all(isinstance(step.answer, Claimed) for step in steps)


def test_a_conflict_that_is_claimed_later_keeps_its_place_in_the_event() -> None:
    steps = planned(message(0, "a"), message(1, "z"), message(2, key="c"))
    assert [indices(step) for step in steps] == [[0], [1], [2]]


def test_a_message_that_was_sent_after_the_handler_s_patience_was_over_counts_as_a_redrive() -> None:
    waiting = known(State.PENDING, started_at=NOW - plain.options.give_up_after - HOUR)
    (step,) = planned(message(0), ledger=holding(waiting))
    assert isinstance(step.answer, Claimed)
    assert not step.answer.redrive
    (step,) = planned(message(0, of="m9"), ledger=holding(waiting))
    assert isinstance(step.answer, Claimed)
    assert step.answer.redrive


def test_a_lease_outlives_the_invocation_and_names_owner_and_version() -> None:
    (step,) = planned(message(0))
    assert isinstance(step.answer, Claimed)
    operation = step.answer.operation
    assert operation.lease_until is not None
    assert operation.lease_until > NOW + HOUR
    assert (operation.owner, operation.version, operation.handler) == ("one", "v1", "plain")
    assert operation.expires_at == NOW + 30 * 24 * HOUR


@pytest.mark.parametrize(("counts", "reads"), [((1, 1), False), ((1, 2), True), ((2, 1), True), ((2, 2), True)])
def test_what_was_received_before_is_read_before_it_is_written(counts, reads) -> None:
    ledger = Watched()
    planned(*(message(index, receive_count=count) for index, count in enumerate(counts)), ledger=ledger)
    assert (ledger.calls[0] == ("read", ["o"])) is reads
    assert ledger.calls[-1] == ("write", ["o"])


def test_a_refusal_that_was_received_before_is_read_before_it_is_written() -> None:
    ledger = Watched()
    planned(refused(0, receive_count=2), ledger=ledger)
    assert ledger.calls[0] == ("read", [record_of("m0")])


def test_copies_are_one_step_and_all_their_ids_are_recorded() -> None:
    (step,) = planned(message(0, "a"), message(1, "a", "x"), message(2, "x"))
    assert indices(step) == [0, 1, 2]
    assert isinstance(step.answer, Claimed)
    assert step.answer.operation.message_ids == ("m0", "m1", "m2")


def test_a_record_that_came_twice_is_refused_once() -> None:
    (step,) = planned(refused(0, of="m"), refused(1, of="m"))
    assert indices(step) == [0, 1]


def test_an_unreadable_record_has_a_record_of_its_own() -> None:
    broken = Unreadable(message_id="m", receipt_handle=None, receive_count=1, group=None, problem="body")
    (step,) = planned(Refused(index=0, delivery=broken, phase="parse", code="input.malformed", detail="body"))
    assert isinstance(step.answer, Claimed)
    assert step.answer.operation.id == record_of("m")


def test_the_message_that_was_claimed_for_stands_for_the_operation() -> None:
    ledger = holding(known(State.DEAD_LETTERED, failed_ids=("m0",)))
    (step,) = planned(message(0), message(1), message(2), ledger=ledger)
    assert step.message.index == 1
    assert [one.index for one in step.copies] == [0, 2]
    assert step.index == 0


def test_two_payloads_under_a_new_key_are_the_first_and_a_conflict_with_its_own_record() -> None:
    ledger = Watched()
    first, conflict = planned(message(0, "a"), message(1, "z"), message(2, "z", of="m1"), ledger=ledger)
    assert indices(first) == [0]
    assert indices(conflict) == [1, 2]
    assert isinstance(conflict.message, Refused)
    assert (conflict.message.code, conflict.message.phase, conflict.message.detail) == ("input.conflict", "claim", "o")
    assert isinstance(conflict.answer, Claimed)
    assert conflict.answer.operation.id == record_of("m1")
    assert ledger.calls == [("write", ["o"]), ("write", [record_of("m1")])]


def test_a_refusal_whose_record_belongs_to_another_payload_is_answered_and_not_refused_for_ever() -> None:
    """No key can name such a record; what stands there was written by an earlier version, or by hand."""
    taken = known(State.SUCCEEDED, id=record_of("m0"))
    crafted = message(1, "x", key=record_of("m0"))
    steps = planned(refused(0), crafted, message(2, key="c"), ledger=holding(taken))
    assert [indices(step) for step in steps] == [[0], [1], [2]]
    answer = steps[0].answer
    assert isinstance(answer, NotClaimed)
    assert answer.standing is Standing.KEY_CONFLICT
    assert isinstance(steps[-1].answer, Claimed)


def test_of_payloads_under_a_known_key_those_that_agree_with_it_are_copies_and_the_others_conflicts() -> None:
    steps = planned(
        message(0, "x"), message(1, "a", "p"), message(2, "a", "p"), message(3, "b", "q"), message(4, "b", "q"),
        message(5, "y"),
        ledger=holding(known(State.SUCCEEDED)),
    )  # fmt: skip
    assert [indices(step) for step in steps] == [[0], [1, 2, 3, 4], [5]]
    conflicts = [step for step in steps if isinstance(step.message, Refused)]
    assert [indices(step) for step in conflicts] == [[0], [5]]
    answer = steps[1].answer
    assert isinstance(answer, NotClaimed)
    assert answer.standing is Standing.ALREADY_APPLIED


def test_while_the_ledger_is_away_nothing_is_a_conflict() -> None:
    (step,) = planned(
        message(0, "a"), message(1, "a"), message(2, "x"), message(3, "x"), message(4, "y"), ledger=Away()
    )
    assert indices(step) == [0, 1, 2, 3, 4]
    assert isinstance(step.answer, NotClaimed)
    assert step.answer.standing is Standing.UNAVAILABLE


def test_on_a_standard_queue_suspects_come_last_by_their_marks_and_on_fifo_nothing_moves() -> None:
    def claimed(index: int, marks: int) -> Step:
        operation = known(State.LEASED, marks=marks, lease_until=NOW + HOUR)
        return Step(message=message(index), answer=Claimed(operation=operation, message_id=f"m{index}"))

    answered = Step(message=message(1), answer=NotClaimed(standing=Standing.CANCELED))
    steps = [claimed(0, 2), answered, claimed(2, 1), claimed(3, 0)]
    assert [step.index for step in ordered(steps, fifo=False)] == [1, 3, 2, 0]
    assert [step.index for step in ordered(steps, fifo=True)] == [0, 1, 2, 3]
    assert [step.suspect for step in steps] == [True, False, True, False]
