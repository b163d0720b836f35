"""The two closed tables, spelt out again: outcomes as the design has them, transitions as the protocol page does."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from surehand import Cancel, Defer, Reject, Retry, Unknown
from surehand.outcomes import OUTCOMES, Outcome
from surehand.states import ATTENTION, FINAL, HELD, TRANSITIONS, State, legal

PROTOCOL = Path(__file__).resolve().parents[2] / "docs" / "protocol.md"
NOW = datetime(2026, 1, 1, tzinfo=UTC)

DELETED = {"succeeded", "already_applied", "canceled", "renewed"}
ON_THEIR_WAY_TO_THE_DEAD_LETTERS = {"rejected", "exhausted", "held", "key_conflict", "fast_forwarded"}
PUT_BACK = {
    "retry", "deferred", "unknown", "continued", "unstarted", "in_progress", "unclaimed", "unconfirmed", "fence_lost",
    "still_running",
}  # fmt: skip


def test_only_what_is_durably_done_is_deleted() -> None:
    assert {outcome.value for outcome, meaning in OUTCOMES.items() if meaning.deleted} == DELETED


def test_only_what_comes_back_to_run_holds_its_group() -> None:
    assert {outcome.value for outcome, meaning in OUTCOMES.items() if meaning.holds} == PUT_BACK


def test_every_outcome_has_its_row() -> None:
    assert {outcome.value for outcome in OUTCOMES} == DELETED | ON_THEIR_WAY_TO_THE_DEAD_LETTERS | PUT_BACK
    assert set(OUTCOMES) == set(Outcome)


def rows() -> dict[str, set[str]]:
    """The table of transitions as the protocol's page prints it."""
    page = PROTOCOL.read_text(encoding="utf-8").partition("## The table of transitions")[2]
    found: dict[str, set[str]] = {}
    names = {state.value for state in State}
    for source, targets in re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", page, flags=re.MULTILINE)[1:]:
        listed = re.sub(r"\([^)]*\)", "", targets)
        for one in source.split(", "):
            found[one] = {word for word in re.findall(r"[a-z_]+", listed) if word in names}
    found["processing"] = found["leased"] - {"processing"}
    return found


def test_the_table_of_transitions_is_the_one_on_the_page() -> None:
    written = rows()
    assert {("(none)" if source is None else source.value): {target.value for target in targets}
            for source, targets in TRANSITIONS.items()} == {
        source: targets for source, targets in written.items() if not source.startswith("-")
    }  # fmt: skip


def test_legal_says_what_the_table_says() -> None:
    assert legal(None, State.LEASED)
    assert not legal(None, State.SUCCEEDED)
    assert legal(State.LEASED, State.LEASED)
    assert not legal(State.CANCELED, State.LEASED)


def test_the_sets_of_states_are_these() -> None:
    assert {State.LEASED, State.PROCESSING} == HELD
    assert {State.SUCCEEDED, State.CANCELED, State.COMPENSATED} == FINAL
    assert {State.PERMANENTLY_FAILED, State.DEAD_LETTERED} == ATTENTION


FATES = [Retry, Defer, Reject, Cancel, Unknown]


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize(
    ("after", "wait"),
    [
        (None, None),
        (timedelta(hours=1), timedelta(hours=1)),
        (-timedelta(hours=1), timedelta(0)),
        (NOW + timedelta(hours=1), timedelta(hours=1)),
        (NOW - timedelta(hours=1), timedelta(0)),
    ],
)
def test_a_fate_says_how_long_to_wait(fate, after, wait) -> None:
    assert fate("data.bad", after=after).wait(NOW) == wait


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize("after", [datetime(2026, 1, 1), 3, "1 h"])  # noqa: DTZ001 - the mistake that is refused
def test_a_moment_without_a_zone_and_anything_else_is_refused(fate, after) -> None:
    with pytest.raises(TypeError, match="after="):
        fate("data.bad", after=after)


@pytest.mark.parametrize("code", ["nonsense", "", "Data.bad", "data.", "data.bad value", 7, None, "d." + "x" * 99])
def test_a_wrong_code_does_not_change_the_fate(code) -> None:
    error = Reject(code)
    assert (error.code, str(error), error.miscoded) == ("code.bad_code", "code.bad_code", True)


@pytest.mark.parametrize("fate", FATES)
def test_a_subclass_that_leaves_out_our_init_has_no_code_and_no_wait(fate) -> None:
    class Busy(fate):  # type: ignore[misc]
        def __init__(self, response: str) -> None:
            self.response = response

    error = Busy("503")
    assert (error.code, error.miscoded, error.wait(NOW)) == ("code.bad_code", True, None)
    error.code = "provider.busy"
    assert error.miscoded is False


@pytest.mark.parametrize("code", ["data.bad", "data.bad.worse", "weather.Rain_1", "d." + "x" * 64])
def test_a_code_is_a_class_and_names(code) -> None:
    assert (Reject(code).code, Reject(code).miscoded) == (code, False)
