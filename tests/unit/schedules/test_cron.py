"""Cron expressions in AWS's dialect: what they mean, and what is said of those that mean nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surehand import DeclarationError, cron
from surehand.declare import shortest_gap, ticks
from tests.unit.schedules.minutes import matching

BERLIN = "Europe/Berlin"
ZONES = [
    "UTC",
    BERLIN,
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Kathmandu",
    "Africa/Casablanca",
]
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


def days(expression: str, count: int = 4, since: datetime = NEW_YEAR) -> list[str]:
    return [f"{tick:%Y-%m-%d}" for tick in islice(ticks(cron(expression), since, since + timedelta(days=7_300)), count)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 L * ? *", ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]),
        ("0 0 LW * ? *", ["2026-01-30", "2026-02-27", "2026-03-31", "2026-04-30"]),
        ("0 0 15W * ? *", ["2026-01-15", "2026-02-16", "2026-03-16", "2026-04-15"]),
        ("0 0 1W * ? *", ["2026-01-01", "2026-02-02", "2026-03-02", "2026-04-01"]),
        ("0 0 31W * ? *", ["2026-01-30", "2026-03-31", "2026-05-29", "2026-07-31"]),
        ("0 0 1,15W,L * ? *", ["2026-01-01", "2026-01-15", "2026-01-31", "2026-02-01"]),
        ("0 0 ? * 6L *", ["2026-01-30", "2026-02-27", "2026-03-27", "2026-04-24"]),
        ("0 0 ? * FRIL *", ["2026-01-30", "2026-02-27", "2026-03-27", "2026-04-24"]),
        ("0 0 ? * L *", ["2026-01-03", "2026-01-10", "2026-01-17", "2026-01-24"]),
        ("0 0 ? * 1 *", ["2026-01-04", "2026-01-11", "2026-01-18", "2026-01-25"]),
        ("0 0 ? * MON-FRI *", ["2026-01-01", "2026-01-02", "2026-01-05", "2026-01-06"]),
        ("0 0 ? * 3#5 *", ["2026-03-31", "2026-06-30", "2026-09-29", "2026-12-29"]),
        ("0 0 29 FEB ? *", ["2028-02-29", "2032-02-29", "2036-02-29", "2040-02-29"]),
        ("0 0 10-20/5 * ? *", ["2026-01-10", "2026-01-15", "2026-01-20", "2026-02-10"]),
        ("0 0 1 JAN ? 2027,2030-2032", ["2027-01-01", "2030-01-01", "2031-01-01", "2032-01-01"]),
    ],
)
def test_each_wildcard_means_what_it_means_to_aws(expression: str, expected: list[str]) -> None:
    assert days(expression) == expected


@pytest.mark.parametrize(
    ("expression", "field"),
    [
        ("60 0 * * ? *", "minutes = '60'"),
        ("0 24 * * ? *", "hours = '24'"),
        ("0 0 32 * ? *", "day-of-month = '32'"),
        ("0 0 0W * ? *", "day-of-month = '0W'"),
        ("0 0 1-15W * ? *", "day-of-month = '1-15W'"),
        ("0 0 * 13 ? *", "month = '13'"),
        ("0 0 * JANUARY ? *", "month = 'JANUARY'"),
        ("0 0 ? * 8 *", "day-of-week = '8'"),
        ("0 0 ? * 0 *", "day-of-week = '0'"),
        ("0 0 ? * FRI-MON *", "day-of-week = 'FRI-MON'"),
        ("0 0 ? * 2#6 *", "day-of-week = '2#6'"),
        ("0 0 ? * 2#1,3#1 *", "day-of-week = '2#1,3#1'"),
        ("0 0 * * ? 1969", "year = '1969'"),
        ("*/0 0 * * ? *", "minutes = '*/0'"),
        ("0/x 0 * * ? *", "minutes = '0/x'"),
        (", 0 * * ? *", "minutes = ','"),
        ("? 0 * * ? *", "minutes = '?'"),
        ("L 0 * * ? *", "minutes = 'L'"),
        ("\u0663 0 * * ? *", "minutes = '\u0663'"),
    ],
)
def test_a_field_at_fault_is_named_with_what_it_says(expression: str, field: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        cron(expression)
    assert field in str(refused.value)
    assert expression in str(refused.value)


@pytest.mark.parametrize("expression", ["0 0 * * * *", "0 0 ? * ? *", "0 0 1 * MON *"])
def test_exactly_one_of_the_two_day_fields_is_a_question_mark(expression: str) -> None:
    with pytest.raises(DeclarationError, match="exactly one of them must be"):
        cron(expression)


@pytest.mark.parametrize("expression", ["0 2 * * *", "", "cron(0 2 * * ? *)", None, "0 0 2 * * ? *"])
def test_six_fields_are_asked_for_by_name(expression: object) -> None:
    with pytest.raises(DeclarationError, match=r"minutes hours day-of-month month day-of-week year|minutes = "):
        cron(expression)  # type: ignore[arg-type]


def test_an_expression_that_never_fires_is_refused() -> None:
    with pytest.raises(DeclarationError, match="never fires"):
        cron("0 0 30 FEB ? *")


def test_an_expression_whose_years_are_over_is_refused() -> None:
    with pytest.raises(DeclarationError, match="its last moment was before 2026, so it never fires"):
        cron("0 2 * * ? 2020")
    assert cron("0 2 * * ? 2020-2026").years[-1] == 2026


@pytest.mark.parametrize("timezone", ["Europe/Atlantis", "", "../UTC", 7])
def test_an_unknown_time_zone_is_refused_with_the_form_of_a_known_one(timezone: object) -> None:
    with pytest.raises(DeclarationError, match="Europe/Berlin"):
        cron("0 0 * * ? *", timezone=timezone)  # type: ignore[arg-type]


def test_a_local_time_that_does_not_exist_is_skipped() -> None:
    nightly = cron("30 2 * * ? *", timezone=BERLIN)
    found = list(ticks(nightly, datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 3, 31, tzinfo=UTC)))
    assert [str(tick) for tick in found] == ["2026-03-28 02:30:00+01:00", "2026-03-30 02:30:00+02:00"]


def test_a_local_time_that_occurs_twice_counts_once() -> None:
    nightly = cron("30 2 * * ? *", timezone=BERLIN)
    found = list(ticks(nightly, datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 10, 26, tzinfo=UTC)))
    assert [str(tick) for tick in found] == ["2026-10-25 02:30:00+02:00"]


def test_during_the_second_of_two_equal_hours_the_first_is_past() -> None:
    hourly = cron("30 * * * ? *", timezone=BERLIN)
    second_two_o_clock = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)
    assert str(hourly.latest(second_two_o_clock)) == "2026-10-25 02:30:00+02:00"
    assert str(hourly.following(second_two_o_clock)) == "2026-10-25 03:30:00+01:00"


def test_a_moment_in_the_expression_s_own_zone_is_no_wall_clock() -> None:
    hourly = cron("30 * * * ? *", timezone=BERLIN)
    second_two_o_clock = datetime(2026, 10, 25, 2, 10, tzinfo=hourly.zone, fold=1)
    assert str(hourly.following(second_two_o_clock)) == "2026-10-25 03:30:00+01:00"
    assert str(hourly.latest(second_two_o_clock)) == "2026-10-25 02:30:00+02:00"
    assert str(next(hourly.since(second_two_o_clock))) == "2026-10-25 03:30:00+01:00"


@pytest.mark.parametrize("timezone", ZONES[1:])
@pytest.mark.parametrize("month", [3, 4, 9, 10, 11])
def test_the_months_of_changed_clocks_are_what_a_clock_on_the_wall_shows(timezone: str, month: int) -> None:
    expression = "0/30 0-4,22 * * ? *"
    start, end = datetime(2026, month, 1, tzinfo=UTC), datetime(2026, month + 1, 1, tzinfo=UTC)
    found = [tick.astimezone(UTC) for tick in ticks(cron(expression, timezone=timezone), start, end)]
    assert found == list(matching(expression, timezone, start, end))


def fields(least: int, most: int, words: list[str] = []) -> st.SearchStrategy[str]:  # noqa: B006 - never changed
    number = st.integers(least, most)
    pair = st.tuples(number, number).map(sorted)
    plain = st.one_of(
        st.just("*"),
        number.map(str),
        pair.map(lambda two: f"{two[0]}-{two[1]}"),
        st.tuples(number, st.integers(1, most)).map(lambda two: f"{two[0]}/{two[1]}"),
        *([st.sampled_from(words)] if words else []),
    )
    return st.lists(plain, min_size=1, max_size=3).map(",".join)


DAY_OF_MONTH = st.one_of(fields(1, 31), st.sampled_from(["L", "LW", "1W", "15W", "31W", "30W,L", "28,LW", "5W,6W"]))
DAY_OF_WEEK = st.one_of(
    fields(1, 7, ["SUN", "mon", "SAT"]), st.sampled_from(["L", "1L", "6L", "2L,7L", "7#1", "SUN#5", "MON,6L", "4#2"])
)
DAY_FIELDS = st.one_of(DAY_OF_MONTH.map(lambda text: (text, "?")), DAY_OF_WEEK.map(lambda text: ("?", text)))


def never_fires(expression: str) -> bool:
    try:
        cron(expression)
    except DeclarationError:
        return True
    return False


EXPRESSIONS = st.builds(
    lambda minute, hour, days, month: f"{minute} {hour} {days[0]} {month} {days[1]} *",
    fields(0, 59),
    fields(0, 23),
    DAY_FIELDS,
    fields(1, 12, ["JAN", "feb", "DEC"]),
)


@given(
    expression=EXPRESSIONS,
    timezone=st.sampled_from(ZONES),
    start=st.integers(0, 1_400 * 1_440),
)
@settings(max_examples=100)
def test_the_arithmetic_agrees_with_looking_at_every_minute(expression, timezone, start) -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=start)
    end = start + timedelta(days=6)
    expected = list(matching(expression, timezone, start, end))
    if not expected and never_fires(expression):
        return
    made = cron(expression, timezone=timezone)
    found = [tick.astimezone(UTC) for tick in ticks(made, start, end)]
    assert found == expected
    for tick in found[:50]:
        assert made.latest(tick) == tick
        assert made.latest(tick + timedelta(seconds=59)) == tick


@pytest.mark.parametrize(
    ("expression", "timezone", "gap"),
    [
        ("* * * * ? *", "UTC", timedelta(minutes=1)),
        ("0,50 * * * ? *", "UTC", timedelta(minutes=10)),
        ("0 2 * * ? *", "UTC", timedelta(days=1)),
        ("0 4 * * ? *", BERLIN, timedelta(hours=23)),
        ("0 0 1 * ? *", "UTC", timedelta(days=28)),
    ],
)
def test_the_shortest_time_between_two_ticks_is_known(expression: str, timezone: str, gap: timedelta) -> None:
    assert shortest_gap(cron(expression, timezone=timezone)) == gap


def test_a_schedule_of_one_tick_has_no_shortest_gap() -> None:
    assert shortest_gap(cron("0 0 1 1 ? 2027")) is None
