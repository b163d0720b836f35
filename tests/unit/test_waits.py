"""How long a message stays hidden that the ledger or a storage cannot serve, or that SQS shall move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from surehand.delivery import Delivery
from surehand.outcomes import OUTCOMES, Outcome
from surehand.worker.endings import Ending, put_back, through_outage, to_dead_letters, until
from surehand.worker.receive import Away
from tests.scenarios.kiosk import lanes, plain

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


STANDARD: Any = plain
FIFO: Any = lanes


def always(value: float) -> Any:
    return SimpleNamespace(random=lambda: value)


def delivery(receive_count: int = 1) -> Delivery:
    return Delivery(
        message_id="m", receipt_handle="h", body="", receive_count=receive_count, sent_at=NOW, received_at=NOW
    )


@pytest.mark.parametrize(("drawn", "wait"), [(0.0, SECOND), (0.5, 3 * SECOND), (1.0, 5 * SECOND)])
def test_a_message_for_the_dead_letters_comes_back_within_one_to_five_seconds(drawn, wait) -> None:
    assert to_dead_letters(STANDARD, always(drawn)) == wait


def test_on_fifo_a_message_for_the_dead_letters_comes_back_at_once() -> None:
    assert to_dead_letters(FIFO, always(1.0)) == timedelta(0)


@pytest.mark.parametrize(
    ("receive_count", "longest"),
    [(1, 30 * SECOND), (2, MINUTE), (3, 2 * MINUTE), (7, 32 * MINUTE), (8, HOUR), (1000, HOUR)],
)
def test_an_outage_is_waited_for_twice_as_long_at_each_receive_up_to_an_hour(receive_count, longest) -> None:
    assert through_outage(receive_count, always(0.0)) == longest / 2
    assert through_outage(receive_count, always(1.0)) == longest


def test_a_message_whose_body_cannot_be_fetched_is_put_back_as_unclaimed_with_what_is_known() -> None:
    away = Away(index=3, delivery=delivery(2), operation="o", tenant="t", code="provider.body", detail="TimeoutError")
    ending = put_back(away, always(1.0))
    assert ending == Ending(
        index=3,
        delivery=away.delivery,
        outcome=Outcome.UNCLAIMED,
        phase="validate",
        operation_id="o",
        tenant="t",
        code="provider.body",
        detail="TimeoutError",
        wait=MINUTE,
    )
    assert (ending.redrive, ending.copied, ending.interrupted, ending.replay) == (False, False, False, False)


@pytest.mark.parametrize(
    ("moment", "wait"), [(None, timedelta(0)), (NOW - HOUR, timedelta(0)), (NOW, timedelta(0)), (NOW + HOUR, HOUR)]
)
def test_the_wait_until_a_moment_is_never_negative(moment, wait) -> None:
    assert until(moment, NOW) == wait


@pytest.mark.parametrize("outcome", Outcome)
def test_an_ending_is_deleted_and_holds_as_its_outcome_says(outcome) -> None:
    ending = Ending(index=0, delivery=delivery(), outcome=outcome, phase="run")
    assert (ending.deleted, ending.holds) == (OUTCOMES[outcome].deleted, OUTCOMES[outcome].holds)
