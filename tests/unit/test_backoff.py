"""How long a failed attempt waits: what a policy may be, and that its jitter stays within it."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from surehand import Backoff, DeclarationError

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


class Drawn(Random):
    """Jitter that is always the same share of what is possible."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def random(self) -> float:
        return self.share


@pytest.mark.parametrize(
    "lengths",
    [
        {"first": SECOND},
        {"first": 5 * SECOND, "cap": 5 * SECOND},
        {"cap": 12 * HOUR},
        {"first": 12 * HOUR, "cap": 12 * HOUR},
    ],
)
def test_a_policy_may_go_to_its_limits(lengths) -> None:
    made = Backoff(**lengths)
    assert {name: getattr(made, name) for name in lengths} == lengths


@pytest.mark.parametrize(
    ("lengths", "why"),
    [
        ({"first": SECOND - timedelta.resolution}, "first wait must be at least 1 s"),
        ({"first": 5 * SECOND, "cap": 5 * SECOND - timedelta.resolution}, "between first"),
        ({"cap": 12 * HOUR + timedelta.resolution}, "between first"),
    ],
)
def test_a_policy_beyond_its_limits_is_refused(lengths, why) -> None:
    with pytest.raises(DeclarationError, match=why):
        Backoff(**lengths)


def test_the_longest_wait_doubles_from_two_seconds_to_a_quarter_of_an_hour() -> None:
    waits = [Backoff().wait(attempt, Drawn(1)) for attempt in range(1, 12)]
    assert waits == [seconds * SECOND for seconds in (2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900)]


@pytest.mark.parametrize(("share", "wait"), [(0, SECOND), (0.125, SECOND), (0.25, 2 * SECOND), (0.75, 6 * SECOND)])
def test_a_wait_is_drawn_from_all_of_the_range_but_is_never_at_once(share, wait) -> None:
    assert Backoff().wait(3, Drawn(share)) == wait


@pytest.mark.parametrize("attempt", [-1, 0, 1])
def test_what_has_not_been_tried_waits_like_a_first_attempt(attempt) -> None:
    assert Backoff().wait(attempt, Drawn(1)) == 2 * SECOND


def test_after_any_number_of_attempts_the_cap_is_waited() -> None:
    assert Backoff(first=SECOND, cap=12 * HOUR).wait(10_000, Drawn(1)) == 12 * HOUR
