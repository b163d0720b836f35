"""Until when a message may wait before SQS deletes it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from surehand import queue
from surehand.delivery import Delivery, Unreadable
from surehand.states import State
from surehand.worker.kept import last_moment, within_retention
from tests.scenarios.kiosk import Ticket, lanes, plain
from tests.unit.operations import an_operation

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@queue("brief", key="number", give_up_after=MINUTE, retention=20 * MINUTE)
def brief(ticket: Ticket) -> None:
    """SQS keeps its messages for a few minutes."""


@queue("gathering", key="number", batch_window=20 * SECOND)
def gathering(ticket: Ticket) -> None:
    """Each of its receives may take a window longer."""


SENT = Delivery(message_id="m", receipt_handle="h", body="", receive_count=1, sent_at=NOW, received_at=NOW)
BROKEN = Unreadable(message_id="m", receipt_handle="h", receive_count=1, group=None, problem="body")


@pytest.mark.parametrize(
    ("handler", "last"),
    [
        (plain, 4 * DAY - 100 * SECOND - 5 * MINUTE),
        (lanes, 4 * DAY - 1000 * SECOND - 5 * MINUTE),
        (gathering, 4 * DAY - 300 * SECOND - 5 * MINUTE),
        (brief, 15 * MINUTE),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_a_message_may_wait_as_long_as_sqs_keeps_it_less_its_way_to_the_dead_letter_queue(handler, last) -> None:
    assert last_moment(handler, [SENT]) == NOW + last


def test_of_several_copies_the_last_one_to_be_deleted_counts() -> None:
    first = last_moment(plain, [SENT])
    assert first is not None
    assert last_moment(plain, [SENT, replace(SENT, sent_at=NOW + HOUR), BROKEN, SENT]) == first + HOUR
    assert last_moment(plain, [BROKEN]) is None


@pytest.mark.parametrize(("away", "left"), [(0, 72), (23, 72), (74, 22), (100, -4)])
def test_waiting_ends_before_sqs_deletes_the_message_however_late_it_began(away, left) -> None:
    operation = an_operation(State.LEASED, started_at=NOW + away * HOUR)
    bounded = within_retention(plain, operation, [SENT])
    assert timedelta(0) <= left * HOUR - bounded.give_up_after < 7 * MINUTE
    assert replace(bounded, give_up_after=plain.options.give_up_after) == plain.options
    assert within_retention(plain, operation, [BROKEN]) is plain.options
