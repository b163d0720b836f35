"""Which messages are renewed, when, as what copy, and how their waits grow: rule P7 at its boundaries."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from surehand import queue
from surehand.delivery import RENEWALS, Delivery, Unreadable
from surehand.errors import Refused
from surehand.ledger import Operation
from surehand.outcomes import Outcome
from surehand.queues import Outgoing
from surehand.states import State
from surehand.testing.queues import RecordingQueues
from surehand.worker.endings import Ending
from surehand.worker.renewals import MOST_RENEWALS, WAITING, floor, renew
from tests.scenarios.kiosk import Ticket, lanes, plain


@queue("patient", key="number", give_up_after=timedelta(days=12), retention=timedelta(days=13))
def patient(ticket: Ticket) -> None:
    """Waits for as long as SQS can keep a message. Never runs here."""


NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
STAMP = int(NOW.timestamp() * 1000)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


def text(value: str, kind: str = "String") -> dict[str, str]:
    return {"stringValue": value, "dataType": kind}


def delivery(*, receive_count: int = 4, raw: dict[str, Any] | None = None, **known: Any) -> Delivery:
    raw = raw or {}
    return Delivery(
        message_id="m1",
        receipt_handle="h1",
        body="body",
        receive_count=receive_count,
        sent_at=NOW,
        received_at=NOW,
        attributes={name: value["stringValue"] for name, value in raw.items() if "stringValue" in value},
        raw_attributes=raw,
        **known,
    )


def operation(attempts: int = 0, *, age: timedelta = HOUR) -> Operation:
    return Operation(
        id="o",
        handler="plain",
        tenant=None,
        state=State.PENDING,
        fence=1,
        owner="one",
        claimed_at=NOW,
        started_at=NOW - age,
        expires_at=NOW + HOUR,
        attempts=attempts,
    )


def ending(
    outcome: Outcome = Outcome.DEFERRED, *, of: Any = None, wait: timedelta | None = MINUTE, **known: Any
) -> Ending:
    return Ending(index=0, delivery=of or delivery(), outcome=outcome, phase="run", wait=wait, **known)


def renewed(
    *endings: Ending, handler: Any = plain, refuse: tuple[int, ...] = ()
) -> tuple[list[Ending], list[Outgoing]]:
    queues = RecordingQueues()
    sent: list[Outgoing] = []

    def send(name: str, messages: list[Outgoing]) -> list[Refused]:
        assert name == handler.name
        assert messages, "SQS refuses a call without a message"
        sent.extend(messages)
        return [Refused(index, "ServiceUnavailable") for index in refuse]

    queues.send = send  # type: ignore[method-assign,assignment]
    ports: Any = SimpleNamespace(clock=SimpleNamespace(now=lambda: NOW), queues=queues)
    return renew(handler, list(endings), ports=ports), sent


def marked(renewals: int, origin: str = "m0") -> dict[str, Any]:
    return {RENEWALS: text(f"{renewals}/{origin}/{STAMP}/{STAMP - 1000}")}


@pytest.mark.parametrize(
    ("receive_count", "attempts", "due"),
    [(3, 0, False), (4, 0, True), (4, 1, False), (5, 1, True), (7, 4, False), (8, 4, True)],
)
def test_a_waiting_message_is_renewed_when_its_receives_would_not_last_for_the_attempts_and_two_more(
    receive_count, attempts, due
) -> None:
    """Ten receives, five attempts."""
    changed, sent = renewed(ending(of=delivery(receive_count=receive_count), operation=operation(attempts)))
    assert [one.outcome for one in changed] == ([Outcome.RENEWED] if due else [])
    assert len(sent) == due


def test_what_the_ledger_does_not_know_has_all_its_attempts_before_it() -> None:
    assert renewed(ending(of=delivery(receive_count=3)))[1] == []
    assert len(renewed(ending(of=delivery(receive_count=4)))[1]) == 1


@pytest.mark.parametrize("outcome", Outcome)
def test_only_outcomes_that_wait_without_an_attempt_are_renewed(outcome) -> None:
    waits = {"deferred", "continued", "in_progress", "unstarted", "unclaimed"}
    assert {one.value for one in WAITING} == waits
    assert len(renewed(ending(outcome))[1]) == (outcome.value in waits)


def test_the_copy_is_the_message_with_a_mark_of_its_origin() -> None:
    raw = {
        "a": text("x"),
        "n": text("7", "Number"),
        "b": {"binaryValue": base64.b64encode(b"\x00\xff").decode(), "dataType": "Binary"},
        "odd": {},
    }
    one = ending(of=delivery(raw=raw, group="g", trace="Root=1"))
    _, sent = renewed(one)
    assert sent == [
        Outgoing(
            body="body",
            group="g",
            delay=MINUTE,
            trace="Root=1",
            attributes={
                "a": {"DataType": "String", "StringValue": "x"},
                "n": {"DataType": "Number", "StringValue": "7"},
                "b": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
                "odd": {"DataType": "String"},
                RENEWALS: {"DataType": "String", "StringValue": f"1/m1/{STAMP}/{STAMP}"},
            },
        )
    ]


def test_a_copy_of_a_copy_keeps_the_first_origin_and_counts_on() -> None:
    _, sent = renewed(ending(of=delivery(raw=marked(2)), wait=10 * MINUTE))
    assert sent[0].attributes[RENEWALS]["StringValue"] == f"3/m0/{STAMP}/{STAMP - 1000}"


@pytest.mark.parametrize(
    ("wait", "delay"),
    [(None, timedelta(0)), (timedelta(0), timedelta(0)), (15 * MINUTE, 15 * MINUTE), (HOUR, 15 * MINUTE)],
)
def test_the_copy_comes_after_the_wait_or_the_fifteen_minutes_that_sqs_can_delay(wait, delay) -> None:
    _, sent = renewed(ending(Outcome.UNSTARTED, wait=wait))
    assert sent[0].delay == delay


def test_a_message_is_renewed_fifteen_times_at_most() -> None:
    assert MOST_RENEWALS == 15
    assert len(renewed(ending(of=delivery(raw=marked(14))))[1]) == 1
    assert renewed(ending(of=delivery(raw=marked(15))))[1] == []


def test_a_message_whose_ten_attributes_leave_no_place_for_the_mark_stays() -> None:
    nine, ten = ({str(number): text("x") for number in range(count)} for count in (9, 10))
    assert len(renewed(ending(of=delivery(raw=nine)))[1]) == 1
    assert renewed(ending(of=delivery(raw=ten)))[1] == []
    assert len(renewed(ending(of=delivery(raw={**nine, **marked(1)})))[1]) == 1


def test_a_copy_that_sqs_refuses_leaves_its_message_and_no_other() -> None:
    changed, _ = renewed(ending(), replace(ending(), index=1), refuse=(0,))
    assert [(one.index, one.outcome) for one in changed] == [(1, Outcome.RENEWED)]


def test_a_record_that_cannot_be_read_is_not_renewed() -> None:
    broken = Unreadable(message_id="m", receipt_handle="h", receive_count=9, group=None, problem="body")
    assert renewed(ending(Outcome.UNCLAIMED, of=broken)) == ([], [])
    assert renewed(ending(Outcome.DEFERRED, of=broken)) == ([], [])


@pytest.mark.parametrize(
    ("renewals", "wait", "slowed"),
    [
        (0, SECOND, None),
        (1, SECOND, MINUTE),
        (1, None, MINUTE),
        (1, MINUTE, None),
        (3, SECOND, 4 * MINUTE),
        (15, SECOND, 4 * HOUR),
        (15, 5 * HOUR, None),
    ],
)
def test_a_deferral_of_a_renewed_message_waits_longer_with_each_renewal(renewals, wait, slowed) -> None:
    raw = marked(renewals) if renewals else {}
    changed, _ = renewed(ending(of=delivery(receive_count=1, raw=raw), wait=wait))
    assert [one.wait for one in changed] == ([slowed] if slowed else [])


def test_beside_a_message_that_is_renewed_another_is_slowed_all_the_same() -> None:
    slow = replace(ending(of=delivery(receive_count=1, raw=marked(3)), wait=SECOND), index=1)
    changed, sent = renewed(ending(), slow)
    assert sorted((one.index, one.outcome, one.wait) for one in changed) == [
        (0, Outcome.RENEWED, MINUTE),
        (1, Outcome.DEFERRED, 4 * MINUTE),
    ]
    assert len(sent) == 1


def test_only_deferrals_are_slowed() -> None:
    raw = marked(3)
    assert renewed(ending(Outcome.IN_PROGRESS, of=delivery(receive_count=1, raw=raw), wait=SECOND)) == ([], [])


@pytest.mark.parametrize(
    ("renewals", "wait"), [(0, timedelta(0)), (1, MINUTE), (8, 128 * MINUTE), (9, 4 * HOUR), (99, 4 * HOUR)]
)
def test_the_shortest_wait_doubles_up_to_four_hours(renewals, wait) -> None:
    assert floor(renewals) == wait


def fifo(
    receive_count: int, *, age: timedelta, wait: timedelta | None = SECOND, attempts: int = 0
) -> list[timedelta | None]:
    one = ending(of=delivery(receive_count=receive_count), wait=wait, operation=operation(attempts, age=age))
    changed, sent = renewed(one, handler=lanes)
    assert sent == []
    return [ending.wait for ending in changed]


def test_on_fifo_waits_grow_with_what_was_waited_and_what_is_left() -> None:
    """A hundred receives, five attempts and two more, three days."""
    (first,) = fifo(43, age=timedelta(0))
    assert first is not None
    assert 5 * SECOND < first < 6 * SECOND
    (hour,) = fifo(43, age=HOUR)
    assert hour is not None
    assert 5 * MINUTE < hour < 6 * MINUTE
    assert fifo(43, age=HOUR, attempts=2) < [hour]
    assert fifo(43, age=HOUR, wait=HOUR) == []
    assert fifo(93, age=HOUR) == [71 * HOUR]
    assert fifo(100, age=HOUR) == [71 * HOUR]
    assert fifo(43, age=72 * HOUR, wait=timedelta(0)) == []


def test_on_fifo_a_message_leaves_its_followers_the_receives_that_their_attempts_need() -> None:
    """Five attempts for each that is put back behind it in its group; others need none of its receives."""
    head = ending(of=delivery(receive_count=3, group="a"), wait=SECOND, operation=operation(age=HOUR))
    behind = replace(head, index=1, outcome=Outcome.UNSTARTED, wait=timedelta(0), operation=None)
    others = [
        replace(behind, outcome=Outcome.FAST_FORWARDED),
        replace(behind, delivery=delivery(group="b")),
        replace(behind, index=-1),
    ]
    alone = fifo(3, age=HOUR)
    assert [one.wait for one in renewed(head, *others, handler=lanes)[0]] == alone
    followers = [replace(behind, index=1 + number) for number in range(8)]
    assert [one.wait for one in renewed(head, *followers, handler=lanes)[0]] == fifo(43, age=HOUR)


def test_no_wait_is_stretched_beyond_what_sqs_keeps() -> None:
    """Four days, less an hour here that the hundred receives to the dead-letter queue may take."""
    old = replace(delivery(receive_count=100), sent_at=NOW - 95 * HOUR)
    one = ending(of=old, wait=SECOND, operation=operation(age=HOUR))
    assert [one.wait for one in renewed(one, handler=lanes)[0]] == [HOUR - 1000 * SECOND - 5 * MINUTE]


@pytest.mark.parametrize(
    ("renewals", "receive_count", "wait"),
    [(0, 1, None), (15, 1, 12 * HOUR), (15, 8, 12 * HOUR)],
)
def test_on_a_standard_queue_the_waits_of_the_last_renewals_are_as_long_as_a_long_give_up_after_needs(
    renewals, receive_count, wait
) -> None:
    raw = marked(renewals) if renewals else {}
    one = ending(of=delivery(receive_count=receive_count, raw=raw), wait=SECOND, operation=operation(age=6 * 24 * HOUR))
    changed, _ = renewed(one, handler=patient)
    assert [min(12 * HOUR, one.wait) for one in changed if one.wait] == ([wait] if wait else [])


def test_on_fifo_what_is_older_than_it_may_get_comes_back_at_once() -> None:
    assert fifo(3, age=100 * HOUR, wait=None) == [timedelta(0)]


def test_on_fifo_what_the_ledger_does_not_know_waits_as_it_is() -> None:
    assert renewed(ending(), handler=lanes) == ([], [])
