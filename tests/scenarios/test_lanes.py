"""FIFO groups are lanes: what happens to one message of a batch, and to its followers, for every pattern."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from surehand import Job, Reject, Retry, entrypoint
from surehand.outcomes import Outcome
from surehand.testing import again, world
from tests.scenarios.kiosk import KIOSK, Ticket, ids, lanes, script

LANES = ("a", "b", "c")
BATCH = [Ticket(number=str(index), lane=LANES[index % 3]) for index in range(10)]


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(Retry("provider.busy"), id="retry"),
        pytest.param(KeyError("x"), id="exception", marks=pytest.mark.exhaustive),
    ],
)
def test_every_pattern_of_failures_keeps_the_order_of_each_lane_and_no_more(error) -> None:
    """All 2^10 masks of a batch of ten in three groups: from the first failure on, its own group is put back."""
    for mask in product([False, True], repeat=len(BATCH)):
        failing = {ticket.number for ticket, fails in zip(BATCH, mask, strict=True) if fails}

        def act(ticket: Ticket, job: Job, failing=failing) -> None:
            if ticket.number in failing:
                raise error

        with world(KIOSK) as made, script(act) as told:
            event = made.event(lanes, *BATCH)
            back = set(ids(lanes(event, None)))
            stopped: set[str] = set()
            expected_back, expected_runs = set(), []
            for ticket, one in zip(BATCH, event["Records"], strict=True):
                if ticket.lane not in stopped:
                    expected_runs.append(ticket.number)
                    if ticket.number in failing:
                        stopped.add(ticket.lane)
                if ticket.lane in stopped:
                    expected_back.add(one["messageId"])
            assert back == expected_back, mask
            assert told.numbers == expected_runs, mask


def test_every_pattern_of_rejections_holds_nobody() -> None:
    for mask in product([False, True], repeat=len(BATCH)):
        rejected = {ticket.number for ticket, fails in zip(BATCH, mask, strict=True) if fails}

        def act(ticket: Ticket, job: Job, rejected=rejected) -> None:
            if ticket.number in rejected:
                raise Reject("data.bad")

        with world(KIOSK) as made, script(act) as told:
            event = made.event(lanes, *BATCH)
            back = set(ids(lanes(event, None)))
            assert back == {
                one["messageId"]
                for ticket, one in zip(BATCH, event["Records"], strict=True)
                if ticket.number in rejected
            }
            assert len(told.runs) == 10


def test_a_malformed_record_in_the_middle_is_put_back_alone() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(lanes, BATCH[0], "not json", BATCH[3], group="a")
        assert ids(lanes(event, None)) == [event["Records"][1]["messageId"]]
        assert told.numbers == ["0", "3"]


def test_an_operation_runs_at_the_place_of_its_first_message() -> None:
    with world(KIOSK) as made, script() as told:
        assert ids(lanes(made.event(lanes, BATCH[0], BATCH[3], BATCH[0]), None)) == []
        assert told.numbers == ["0", "3"]


def test_a_follower_of_a_message_in_progress_elsewhere_waits() -> None:
    with world(KIOSK) as made, script() as told:
        first = made.event(lanes, BATCH[0])
        ports = entrypoint.ports_of(lanes)

        def meanwhile(ticket: Ticket, job: Job) -> None:
            with entrypoint.bound(replace(ports)):
                told.act = lambda ticket, job: None
                event = {"Records": [again(first["Records"][0]), *made.event(lanes, BATCH[3])["Records"]]}
                assert len(ids(lanes(event, None))) == 2

        told.act = meanwhile
        assert ids(lanes(first, None)) == []
        assert told.numbers == ["0"]
        assert made.teller.endings[0].outcome is Outcome.IN_PROGRESS
        assert made.teller.endings[1].outcome is Outcome.UNSTARTED


def test_a_deadline_stops_every_lane_in_its_order() -> None:
    class Context:
        aws_request_id = "request"

        def get_remaining_time_in_millis(self) -> int:
            return 30_000

    from datetime import timedelta

    with world(KIOSK) as made, script() as told:

        def slow(ticket: Ticket, job: Job) -> None:
            made.clock.advance(timedelta(seconds=10))

        told.act = slow
        event = made.event(lanes, *BATCH)
        back = ids(lanes(event, Context()))
        assert told.numbers == ["0", "1", "2"]
        assert back == [one["messageId"] for one in event["Records"][3:]]
        assert all(made.operation(lanes, ticket).attempts == 0 for ticket in BATCH[3:])
