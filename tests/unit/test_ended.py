"""What is known of a delivery that has ended, which groups it holds, and what may be deleted early."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from surehand.declare import Identity
from surehand.delivery import Delivery
from surehand.ledger import Claimed, NotClaimed, Operation, Standing
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.worker.ended import Ended
from surehand.worker.plan import Step
from surehand.worker.receive import Message, Notice

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
OPERATION = Operation(
    id="o", handler="plain", tenant="t", state=State.LEASED, fence=1, owner="one", claimed_at=NOW, started_at=NOW,
    expires_at=NOW + HOUR, fingerprints=("a",),
)  # fmt: skip
CLAIMED = Claimed(operation=OPERATION, message_id="m0")
ANSWERED = NotClaimed(standing=Standing.ALREADY_APPLIED, existing=OPERATION)


def message(index: int, *, group: str | None = None, handle: str | None = "h", **more: Any) -> Message:
    delivery: Any = Delivery(
        message_id=f"m{index}", receipt_handle="h", body="", receive_count=1, sent_at=NOW, received_at=NOW, group=group
    )
    delivery = replace(delivery, receipt_handle=f"{handle}{index}" if handle else None)
    identity = Identity(operation="o", tenant="t", group=group, fingerprints=("a",))
    return Message(index=index, delivery=delivery, payload=None, identity=identity, **more)


def test_an_ending_says_whose_it_is_and_what_its_claim_was() -> None:
    first, copy = message(0, notice=Notice("input.id", "seen")), message(1)
    step, ended = Step(message=first, copies=(copy,), answer=replace(CLAIMED, redrive=True)), Ended()
    for one in step.all:
        ended.add(one, step, OPERATION, outcome=Outcome.SUCCEEDED, phase="run")
    own, other = ended.endings[0], ended.endings[1]
    assert (own.operation_id, own.tenant, own.operation) == ("o", "t", OPERATION)
    assert (own.redrive, own.copied, own.notice) == (True, False, Notice("input.id", "seen"))
    assert (other.redrive, other.copied, other.notice) == (True, True, None)


def test_what_was_not_claimed_is_neither_a_redrive_nor_a_copy() -> None:
    first, other = message(0), message(1)
    step, ended = Step(message=first, copies=(other,), answer=ANSWERED), Ended()
    ended.add(other, step, OPERATION, outcome=Outcome.ALREADY_APPLIED, phase="claim")
    assert (ended.endings[1].redrive, ended.endings[1].copied) == (False, False)


@pytest.mark.parametrize(
    ("mark", "outcome", "replay"),
    [
        ("z", Outcome.ALREADY_APPLIED, True),
        ("a", Outcome.ALREADY_APPLIED, False),
        (None, Outcome.ALREADY_APPLIED, False),
        ("z", Outcome.SUCCEEDED, False),
    ],
)
def test_what_was_applied_under_another_unsigned_id_is_a_replay(mark, outcome, replay) -> None:
    one, ended = message(0, mark=mark), Ended()
    ended.add(one, Step(message=one, answer=ANSWERED), OPERATION, outcome=outcome, phase="claim")
    assert ended.endings[0].replay is replay


def test_a_step_has_ended_when_all_its_messages_have() -> None:
    step, ended = Step(message=message(0), copies=(message(1),), answer=CLAIMED), Ended()
    assert not ended.wholly(step)
    ended.add(message(0), step, OPERATION, outcome=Outcome.RETRY, phase="run")
    assert not ended.wholly(step)
    ended.add(message(1), step, OPERATION, outcome=Outcome.RETRY, phase="run")
    assert ended.wholly(step)


@pytest.mark.parametrize(("outcome", "held"), [(Outcome.RETRY, True), (Outcome.REJECTED, False)])
def test_what_comes_back_to_run_holds_each_step_with_a_message_of_its_group(outcome, held) -> None:
    one, ended = message(0, group="g"), Ended()
    ended.add(one, Step(message=one, answer=CLAIMED), OPERATION, outcome=outcome, phase="run")
    mixed = Step(message=message(1, group="f"), copies=(message(2, group="g"),), answer=CLAIMED)
    assert ended.lane_held(mixed) is held
    assert not ended.lane_held(Step(message=message(1, group="f"), answer=CLAIMED))


def test_what_ended_well_is_deleted_once() -> None:
    deleted: list[list[str]] = []

    class Queues:
        def delete(self, handler: str, handles: list[str]) -> None:
            assert handler == "plain"
            deleted.append(handles)

    queues: Any = Queues()
    ended = Ended()
    ended.delete(queues, "plain")
    for one, outcome in (
        (message(0), Outcome.SUCCEEDED), (message(1), Outcome.RETRY), (message(2, handle=None), Outcome.SUCCEEDED),
    ):  # fmt: skip
        ended.add(one, Step(message=one, answer=CLAIMED), OPERATION, outcome=outcome, phase="run")
    ended.delete(queues, "plain")
    ended.delete(queues, "plain")
    assert deleted == [["h0"]]
