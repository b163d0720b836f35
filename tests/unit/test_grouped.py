"""What a group of exceptions says of an attempt: one member decides, and the most careful of several."""

from __future__ import annotations

import pytest

from surehand import Cancel, Defer, Reject, Retry, Unknown
from surehand.errors import CursorUnreadable
from surehand.outcomes import Fate
from surehand.worker.conclusion import Raised, SoftDeadline, StillRunning
from surehand.worker.grouped import raised
from surehand.worker.handing_over import HandOver, Superseded

#: The most careful first.
WORDS = (
    StillRunning(), Superseded(None), Unknown("provider.lost"), HandOver(), Retry("provider.busy"), Defer("data.early"),
    Reject("data.bad"), Cancel("data.declined"),
)  # fmt: skip
ACCIDENT = KeyError("x")


def grouped(*members: BaseException) -> BaseException:
    return BaseExceptionGroup("of tasks", members)


@pytest.mark.parametrize("error", [*WORDS, CursorUnreadable("x"), SoftDeadline(), Fate("data.odd")], ids=repr)
def test_a_word_in_a_group_counts_as_if_it_had_been_raised_alone_and_an_accident_beside_it_is_kept(error) -> None:
    assert raised(grouped(error)) == raised(error) == Raised(error)
    assert raised(grouped(ACCIDENT, grouped(grouped(error), ValueError()))) == Raised(error, beside=ACCIDENT)


@pytest.mark.parametrize("more", range(len(WORDS) - 1))
def test_of_several_words_the_most_careful_counts_in_whatever_order_they_come(more) -> None:
    for less in WORDS[more + 1 :]:
        assert raised(grouped(less, WORDS[more])).error is WORDS[more]
        assert raised(grouped(WORDS[more], grouped(less))).error is WORDS[more]


def test_of_several_words_of_one_kind_the_first_counts() -> None:
    first = Retry("provider.busy")
    assert raised(grouped(grouped(first), Retry("provider.away"))).error is first


def test_an_accident_that_is_alone_stands_for_its_group_and_several_stay_one() -> None:
    several = grouped(ACCIDENT, ValueError())
    assert raised(grouped(grouped(ACCIDENT))) == Raised(ACCIDENT)
    assert raised(several) == Raised(several)


def test_groups_nest_without_end() -> None:
    error = grouped(Reject("data.bad"))
    for _ in range(20_000):
        error = grouped(error)
    assert isinstance(raised(error).error, Reject)
