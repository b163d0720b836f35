"""Where an exception comes from is told by names and line numbers, bounded, and without a word of its text."""

from __future__ import annotations

import json

import pytest

from surehand import Cancel, Reject, Retry
from surehand.worker.origin import Origin, origin

HERE = "tests/unit/test_origin.py"


def caught(act) -> Origin | None:
    try:
        act()
    except BaseException as error:  # noqa: BLE001 - any, as the engine does
        return origin(error)
    raise AssertionError


def line_of(function, offset: int = 1) -> int:
    return function.__code__.co_firstlineno + offset


def charge() -> None:
    raise ValueError("secret")


def wrapped() -> None:
    try:
        charge()
    except ValueError as error:
        raise KeyError("secret") from error


def test_the_last_frame_is_the_raising_one_and_its_file_is_relative() -> None:
    found = caught(charge)
    assert found is not None
    assert (found.type, found.raised_at[-1]) == ("ValueError", f"{HERE}:{line_of(charge)} charge")
    assert found.caused_by == ()


def test_what_an_exception_was_raised_from_is_told_with_its_type_and_place() -> None:
    found = caught(wrapped)
    assert found is not None
    assert (found.type, found.caused_by) == ("KeyError", (f"ValueError at {HERE}:{line_of(charge)} charge",))
    assert "secret" not in repr(found)


@pytest.mark.parametrize("fate", [Retry, Reject, Cancel])
def test_a_chosen_fate_has_the_origin_of_what_it_was_raised_from(fate) -> None:
    def chosen() -> None:
        raise fate("provider.busy")

    def translated() -> None:
        try:
            charge()
        except ValueError as error:
            raise fate("provider.busy") from error

    assert caught(chosen) is None
    found = caught(translated)
    assert found is not None
    frames = (f"{HERE}:{line_of(translated, 2)} {translated.__qualname__}", f"{HERE}:{line_of(charge)} charge")
    assert (found.type, found.raised_at) == ("ValueError", frames)


def test_a_wrong_use_of_a_fate_is_found_by_its_line() -> None:
    def wrong() -> None:
        raise Retry("provider.busy", after=5)  # type: ignore[arg-type]

    def miscoded() -> None:
        raise Reject("busy")

    for act, kind in ((wrong, "TypeError"), (miscoded, "Reject")):
        found = caught(act)
        assert found is not None
        assert found.type == kind
        assert any(frame == f"{HERE}:{line_of(act)} {act.__qualname__}" for frame in found.raised_at)


def test_of_a_deep_fall_into_a_library_the_last_own_frame_is_kept() -> None:
    def dumping() -> None:
        json.dumps({"a": [[[[[[object()]]]]]]}, indent=1)

    found = caught(dumping)
    assert found is not None
    assert len(found.raised_at) == 5
    assert found.raised_at[0] == f"{HERE}:{line_of(dumping)} {dumping.__qualname__}"
    assert all(frame.startswith("json/") for frame in found.raised_at[1:])


def test_names_that_were_made_up_at_run_time_are_not_told() -> None:
    def generated() -> None:
        exec(compile("raise ValueError", "<secret>", "exec"))

    found = caught(generated)
    assert found is not None
    assert found.raised_at[-1] == "<generated>:1 <module>"


def test_a_group_stands_for_its_first_exception_and_a_ring_ends() -> None:
    def grouped() -> None:
        try:
            charge()
        except ValueError as error:
            raise ExceptionGroup("secret", [error]) from None

    def ring() -> None:
        error = KeyError("secret")
        error.__cause__ = error
        raise error

    found, ended = caught(grouped), caught(ring)
    assert found is not None
    assert found.caused_by == (f"ValueError at {HERE}:{line_of(charge)} charge",)
    assert ended is not None
    assert ended.caused_by == ()


def test_an_exception_that_cannot_be_looked_at_has_a_type_only() -> None:
    class Hostile(Exception):
        @property
        def __cause__(self):  # type: ignore[override]
            raise RuntimeError

    def act() -> None:
        raise Hostile

    assert caught(act) == Origin("Hostile")
