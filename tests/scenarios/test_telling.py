"""What is told of each delivery, and what never is: payload values, secrets, exception texts."""

from __future__ import annotations

import io
import json
import logging
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta

import pytest

from surehand import Cancel, Defer, Reject, Retry, Unknown, entrypoint
from surehand.aws.logs import OperationFormatter
from surehand.aws.telling import CloudWatchTeller
from surehand.testing import again, record, world
from tests.scenarios.kiosk import KIOSK, Ticket, ids, lanes, numbered, plain, script, tenants

TICKET = Ticket(number="1")
CANARY = "CANARY-4711"


class Told:
    """The lines and metrics of deliveries, as a log group would get them."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def all(self) -> list[dict]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    @property
    def lines(self) -> list[dict]:
        return [line for line in self.all if line.get("event") == "delivery"]

    @property
    def metrics(self) -> list[dict]:
        return [line for line in self.all if "_aws" in line]


def told_by(handler) -> tuple[Told, AbstractContextManager[None]]:
    told = Told()
    ports = replace(
        entrypoint.ports_of(handler),
        teller=CloudWatchTeller(service="kiosk", stage="test", version="v7", stream=told.stream),
    )
    return told, entrypoint.bound(ports)


def raising(error):
    def act(ticket, job):
        raise error

    return act


def test_each_delivery_has_one_line_with_everything_that_finds_it_again() -> None:
    with world(KIOSK) as made, script(raising(Retry("provider.busy"))):
        told, bound = told_by(tenants)
        event = made.event(tenants, TICKET)
        event["Records"][0]["attributes"]["AWSTraceHeader"] = "Root=1-abc-def;Sampled=1"
        made.clock.advance(timedelta(seconds=3))
        with bound:
            tenants(event, None)
        (line,) = told.lines
        wait = line.pop("wait_ms")
        assert 1_000 <= wait <= 2_000
        assert line == {
            "timestamp": "2026-01-01T12:00:03.000+00:00",
            "level": "WARNING",
            "event": "delivery",
            "service": "kiosk",
            "handler": "tenants",
            "trigger": "queue",
            "message_id": event["Records"][0]["messageId"],
            "operation": '["tenants","t",["1"]]',
            "tenant": "t",
            "outcome": "retry",
            "phase": "run",
            "state": "retryable_failed",
            "attempt": 1,
            "receive_count": 1,
            "fence": 1,
            "failure_code": "provider.busy",
            "failure_class": "provider",
            "duration_ms": 0,
            "queue_lag_ms": 3_000,
            "trace_id": "1-abc-def",
            "version": "v7",
        }


def test_a_redrive_is_told_apart_from_a_first_run() -> None:
    with world(KIOSK) as made, script(raising(Reject("data.bad"))):
        plain(made.event(plain, TICKET), None)
        made.clock.advance(timedelta(hours=1))
        told, bound = told_by(plain)
        with bound:
            plain(made.event(plain, TICKET), None)
        assert told.lines[0]["redrive"] is True


@pytest.mark.parametrize(
    ("act", "counters"),
    [
        (lambda ticket, job: None, {"Attempts": 1, "Succeeded": 1}),
        (raising(Retry("provider.busy")), {"Attempts": 1, "FailedProvider": 1}),
        (raising(KeyError()), {"Attempts": 1, "FailedCode": 1}),
        (raising(Reject("data.bad")), {"Attempts": 1, "FailedData": 1}),
        (raising(Reject("weather.rain")), {"Attempts": 1, "FailedCode": 1}),
        (raising(Unknown("effect.lost")), {"Attempts": 1, "FailedProvider": 1, "Interrupted": 1}),
        (raising(Cancel("data.declined")), {"Attempts": 1, "Canceled": 1}),
        (raising(Defer("provider.closed")), {}),
    ],
)
def test_an_outcome_is_counted_in_its_class_and_in_no_other(act, counters) -> None:
    with world(KIOSK) as made, script(act):
        told, bound = told_by(plain)
        with bound:
            plain(made.event(plain, TICKET), None)
        (metrics,) = told.metrics
        directive = metrics["_aws"]["CloudWatchMetrics"][0]
        assert directive["Dimensions"] == [["handler"]]
        assert metrics["handler"] == "kiosk-test-plain"
        assert directive["Namespace"] == "surehand"
        counted = {one["Name"]: metrics[one["Name"]] for one in directive["Metrics"] if one["Unit"] == "Count"}
        assert {name: value for name, value in counted.items() if value} == counters


def test_copies_in_a_batch_are_one_attempt_and_one_failure() -> None:
    with world(KIOSK) as made, script(raising(Retry("provider.busy"))):
        told, bound = told_by(plain)
        with bound:
            plain(made.event(plain, TICKET, TICKET, TICKET), None)
        assert (told.metrics[0]["Attempts"], told.metrics[0]["FailedProvider"]) == (1, 1)
        assert [line["outcome"] for line in told.lines] == ["retry"] * 3


def test_a_malformed_message_counts_as_bad_data() -> None:
    with world(KIOSK) as made:
        told, bound = told_by(plain)
        with bound:
            plain(made.event(plain, "not json"), None)
        assert (told.metrics[0]["FailedData"], told.metrics[0]["Attempts"]) == (1, 1)


def test_the_last_receive_of_a_message_that_stays_counts_as_dead_lettered() -> None:
    with world(KIOSK) as made, script(raising(Reject("data.bad"))):
        told, bound = told_by(plain)
        with bound:
            plain(made.event(plain, TICKET, receive_count=10), None)
        assert told.metrics[0]["DeadLettered"] == 1


def test_a_large_batch_loses_no_value_to_the_limit_of_a_metric_record() -> None:
    with world(KIOSK) as made, script():
        told, bound = told_by(plain)
        with bound:
            plain(made.event(plain, *numbered(plain, 250)), None)
        assert [len(metrics["QueueLag"]) for metrics in told.metrics] == [100, 100, 50]
        assert sum(metrics.get("Attempts", 0) for metrics in told.metrics) == 250


def test_tenants_are_a_field_and_never_a_dimension() -> None:
    with world(KIOSK) as made, script():
        told, bound = told_by(tenants)
        with bound:
            tenants(made.event(tenants, TICKET), None)
        assert "tenant" not in json.dumps(told.metrics[0]["_aws"])


class Leaky(Exception):
    """Carries what must not be told in its text, its arguments and its code."""


@pytest.mark.parametrize(
    "act",
    [
        raising(Leaky(CANARY)),
        raising(ValueError(f"bad {CANARY}")),
        raising(Retry(f"provider.{CANARY} {CANARY}")),
        raising(Reject(CANARY)),
        raising(KeyError(CANARY)),
    ],
)
def test_no_payload_value_no_attribute_and_no_exception_text_is_told_or_stored(act) -> None:
    body = json.dumps({"number": "1", "note": 1, "secret": CANARY, "lane": CANARY})
    bad = json.dumps({"number": {CANARY: CANARY}, CANARY: CANARY})
    with world(KIOSK) as made, script(act):
        told, bound = told_by(plain)
        event = made.event(plain, body, bad, CANARY, attributes={"header": CANARY, CANARY: "x"})
        with bound:
            plain(event, None)
            plain({"Records": [again(one) for one in event["Records"]]}, None)
        assert CANARY not in told.stream.getvalue()
        assert CANARY not in repr(made.ledger.items)


def test_the_line_of_an_unexpected_exception_says_where_it_was_raised_and_what_it_came_of() -> None:
    def act(ticket, job):
        try:
            raise KeyError(CANARY)
        except KeyError as error:
            raise ValueError(CANARY) from error

    with world(KIOSK) as made, script(act):
        told, bound = told_by(plain)
        with bound:
            plain(made.event(plain, TICKET), None)
        (line,) = told.lines
        first, here = act.__code__.co_firstlineno, "tests/scenarios/test_telling.py"
        assert line["error_type"] == "ValueError"
        assert line["raised_at"][-1] == f"{here}:{first + 4} {act.__qualname__}"
        assert line["raised_at"][0].startswith("tests/scenarios/kiosk.py:")
        assert line["caused_by"] == [f"KeyError at {here}:{first + 2} {act.__qualname__}"]
        assert CANARY not in told.stream.getvalue()


def test_where_a_handler_was_when_it_was_interrupted_is_told() -> None:
    def act(ticket, job):
        time.sleep(30)

    class Context:
        @staticmethod
        def get_remaining_time_in_millis() -> int:
            return 4_100

    with world(KIOSK) as made, script(act):
        plain(made.event(plain, TICKET), Context())
        origin = made.teller.endings[0].origin
        assert (
            origin.raised_at[-1]
            == f"tests/scenarios/test_telling.py:{act.__code__.co_firstlineno + 1} {act.__qualname__}"
        )


def test_the_user_s_own_log_lines_carry_the_operation() -> None:
    stream = io.StringIO()
    target = logging.StreamHandler(stream)
    target.setFormatter(OperationFormatter())
    logger = logging.getLogger("user")
    logger.addHandler(target)
    try:
        with world(KIOSK) as made, script(lambda ticket, job: logger.warning("charging")):
            event = made.event(plain, TICKET)
            plain(event, None)
            logger.warning("outside")
    finally:
        logger.removeHandler(target)
    inside, outside = (json.loads(line) for line in stream.getvalue().splitlines())
    assert inside["operation"] == '["plain",null,["1"]]'
    assert inside["message_id"] == event["Records"][0]["messageId"]
    assert inside["message"] == "charging"
    assert "operation" not in outside


def test_held_followers_are_told_as_unstarted() -> None:
    def busy_first(ticket, job):
        if ticket.number == "1":
            raise Retry("provider.busy")

    with world(KIOSK) as made, script(busy_first):
        told, bound = told_by(lanes)
        with bound:
            assert len(ids(lanes(made.event(lanes, TICKET, Ticket(number="2")), None))) == 2
        assert [line["outcome"] for line in told.lines] == ["retry", "unstarted"]
        assert told.metrics[0]["Unstarted"] == 1


def test_a_record_that_cannot_be_read_is_told_too() -> None:
    with world(KIOSK) as made:
        told, bound = told_by(plain)
        broken = record(plain, TICKET, sent_at=made.clock.now())
        del broken["attributes"]
        with bound:
            plain({"Records": [broken]}, None)
        assert told.lines[0]["failure_code"] == "input.malformed"
