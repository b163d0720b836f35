"""The shop's samples, and how their effects are counted."""

from __future__ import annotations

from local.book import Book
from local.shop import effects, shop
from surehand_cli.local.samples import Fate


def booked(*movements: tuple[str, str]) -> Book:
    book = Book()
    for reference, sku in movements:
        book.apply(f"key of {reference}", kind="movement", reference=reference, stream=sku, request={})
    return book


def test_every_fate_is_among_the_samples() -> None:
    with shop() as surroundings:
        assert {sample.fate for sample in surroundings.samples} == set(Fate)


def test_titles_are_unique_since_samples_wait_for_each_other_by_title() -> None:
    with shop() as surroundings:
        titles = [sample.title for sample in surroundings.samples]
        waited_for = {sample.after for sample in surroundings.samples} - {None}

    assert len(set(titles)) == len(titles)
    assert waited_for <= set(titles)


def test_movements_in_the_order_in_which_they_were_sent_are_in_order() -> None:
    book = booked(
        ("mov-2", "MUG-BLUE"), ("mov-1", "TEA-GREEN"), ("mov-4", "MUG-BLUE"), ("mov-3-busy-twice", "TEA-GREEN")
    )

    assert effects(book).out_of_order == 0


def test_a_movement_that_overtakes_one_of_its_article_is_out_of_order() -> None:
    book = booked(("mov-1", "TEA-GREEN"), ("mov-5", "TEA-GREEN"), ("mov-3-busy-twice", "TEA-GREEN"))

    assert effects(book).out_of_order == 1


def test_what_somebody_sends_by_hand_is_in_no_order() -> None:
    assert effects(booked(("mine", "TEA-GREEN"), ("mov-1", "TEA-GREEN"))).out_of_order == 0
