"""What a schedule's declaration says, and what is said of one that cannot work."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from surehand import DeclarationError, Handler, Job, Tick, cron, schedule
from surehand.declare import TICK_BODY, max_receive_count, moment_of, visibility_timeout

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NIGHTLY = cron("0 2 * * ? *", timezone="Europe/Berlin")


class Payload(BaseModel):
    """No tick."""

    id: str


def declared(when: Any = HOUR, **options: Any) -> Handler[Tick]:
    @schedule("ring", when, **options)
    def ring(tick: Tick) -> None:
        """Ring."""

    return ring


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"when": "0 2 * * ? *"}, "cron("),
        ({"when": 5}, "must be cron(…) or a timedelta"),
        ({"when": timedelta(seconds=90)}, "whole minutes"),
        ({"when": timedelta(0)}, "at least one"),
        ({"when": -HOUR}, "at least one"),
        ({"overlap": "wait"}, "overlap='wait', but it must be 'skip', 'queue' or 'allow'"),
        ({"catch_up": timedelta(seconds=30)}, "catch_up="),
        ({"catch_up": 3_600}, "catch_up=3600"),
        ({"catch_up": 366 * DAY}, "365 days"),
        ({"flexible": timedelta(seconds=90)}, "whole minutes"),
        ({"flexible": 25 * HOUR}, "0 to 24 hours"),
        ({"flexible": HOUR}, "ticks may come 1:00:00 apart"),
        ({"flexible": 30 * MINUTE, "catch_up": 20 * MINUTE}, "delivers in time would be skipped"),
        ({"timeout": timedelta(minutes=16)}, "timeout"),
        ({"give_up_after": 5 * DAY}, "give_up_after"),
        ({"overlapp": "skip"}, "Did you mean 'overlap'?"),
        ({"batch_size": 5}, "no option 'batch_size'"),
        ({"key": "at"}, "no option 'key'"),
    ],
)
def test_what_cannot_work_is_refused_at_import_with_its_name(options: dict[str, Any], why: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        declared(options.pop("when", HOUR), **options)
    assert why in str(refused.value)


@pytest.mark.parametrize("annotation", [Payload, dict, str])
def test_a_schedule_s_payload_is_a_tick(annotation: type) -> None:
    def ring(tick: Any) -> None:
        """Ring."""

    ring.__annotations__["tick"] = annotation
    with pytest.raises(DeclarationError, match="a schedule's payload is a Tick"):
        schedule("ring", HOUR)(ring)


@pytest.mark.parametrize(
    ("period", "expression"),
    [
        (MINUTE, "cron(* * * * ? *)"),
        (5 * MINUTE, "cron(0/5 * * * ? *)"),
        (30 * MINUTE, "cron(0/30 * * * ? *)"),
        (HOUR, "cron(0 * * * ? *)"),
        (6 * HOUR, "cron(0 0/6 * * ? *)"),
        (DAY, "cron(0 0 * * ? *)"),
        (7 * MINUTE, "rate(7 minutes)"),
        (90 * MINUTE, "rate(90 minutes)"),
        (5 * HOUR, "rate(5 hours)"),
        (2 * DAY, "rate(2 days)"),
        (7 * DAY, "rate(7 days)"),
    ],
)
def test_a_period_that_divides_an_hour_or_a_day_has_a_grid_that_is_known(period: timedelta, expression: str) -> None:
    timing = declared(period, catch_up=2 * HOUR).options.timing
    assert timing is not None
    assert (timing.when.expression, timing.when.anchored) == (expression, expression.startswith("cron"))


def test_a_period_s_ticks_are_those_of_its_cron_expression() -> None:
    timing = declared(6 * HOUR).options.timing
    assert timing is not None
    same = cron("0 0/6 * * ? *")
    moment = datetime(2026, 3, 29, 5, 59, 59, tzinfo=UTC)
    assert (timing.when.following(moment), timing.when.latest(moment)) == (same.following(moment), same.latest(moment))


@pytest.mark.parametrize(
    ("when", "catch_up", "longest"),
    [
        (DAY, HOUR, HOUR),
        (DAY, 300 * DAY, 12 * HOUR),
        (7 * DAY, 300 * DAY, DAY),
        (10 * MINUTE, HOUR, 5 * MINUTE),
        (MINUTE, HOUR, MINUTE),
        (cron("0 0 1 1 ? 2030"), 300 * DAY, DAY),
    ],
)
def test_delivery_is_tried_for_less_than_a_period_and_than_catch_up(
    when: Any, catch_up: timedelta, longest: timedelta
) -> None:
    timing = declared(when, catch_up=catch_up).options.timing
    assert timing is not None
    assert timing.longest_delivery == longest


def test_each_tick_is_a_batch_of_its_own_with_room_for_hand_overs() -> None:
    ring = declared(timeout=timedelta(minutes=15))
    assert (ring.trigger, ring.options.batch_size) == ("schedule", 1)
    assert (max_receive_count(ring), visibility_timeout(ring)) == (210, 90 * MINUTE)


def test_a_handler_may_take_the_job_or_leave_it() -> None:
    @schedule("with-job", NIGHTLY)
    def with_job(tick: Tick, job: Job) -> str:
        """Return what it was given."""
        return f"{tick.at:%H:%M} {job.attempt}"

    assert with_job.run(Tick(datetime(2026, 1, 1, 1, 0, tzinfo=UTC))) == "01:00 1"


def test_an_operation_s_id_tells_its_moment_and_any_other_id_none() -> None:
    ring = declared()
    moment = datetime(2026, 1, 1, 1, 0, tzinfo=UTC)
    assert moment_of(ring.identify(Tick(moment), "{}").operation) == moment
    for other in ('["ring",null,["!running"]]', '["ring",null,["a","b"]]', '["ring",null,[7]]', "ring", "[]"):
        assert moment_of(other) is None


def test_a_tick_s_json_is_what_the_schedule_sends() -> None:
    ring = declared(NIGHTLY)
    moment = "2026-01-01T01:00:00Z"
    tick = ring.payload.validate(TICK_BODY.replace("<aws.scheduler.scheduled-time>", moment))
    assert str(tick.at) == "2026-01-01 02:00:00+01:00"
    assert ring.payload.dump(tick) == b'{"at":"2026-01-01T01:00:00Z"}'


def test_a_further_field_in_a_tick_s_message_does_not_make_it_another_tick() -> None:
    ring = declared()
    first, second = '{"at":"2026-01-01T01:00:00Z","n":1}', '{"at":"2026-01-01T01:00:00Z","n":2}'
    prints = [set(ring.identify(ring.payload.validate(body), body).fingerprints) for body in (first, second)]
    assert prints[0] & prints[1]
