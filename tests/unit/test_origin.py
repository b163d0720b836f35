"""Where an exception comes from is told by names and line numbers, bounded, and without a word of its text."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import surehand
from surehand import Cancel, Reject, Retry
from surehand.worker.handing_over import HandOver
from surehand.worker.origin import Origin, origin

HERE = "tests/unit/test_origin.py"


def caught(act) -> Origin | None:
    try:
        act()
    except BaseException as error:  # noqa: BLE001 - any, as the engine does
        return origin(error)
    raise AssertionError


def lying_in(file: str, depth: int = 0) -> Callable[[], None]:
    """A function of that file that falls so much deeper in it and raises; nothing stands around it."""
    lines = ("def fall(depth):", "    if depth:", "        fall(depth - 1)", "    raise ValueError('secret')")
    space: dict[str, Any] = {}
    exec(compile("\n".join(lines), file, "exec"), space)
    return partial(space["fall"], depth)


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


def test_of_a_deep_fall_that_ends_in_own_code_the_innermost_frames_are_kept() -> None:
    def falling(depth: int) -> None:
        if depth:
            falling(depth - 1)
        json.dumps(object())

    found = caught(lambda: falling(9))
    assert found is not None
    own, library = found.raised_at[:1], found.raised_at[1:]
    assert own == (f"{HERE}:{line_of(falling, 3)} {falling.__qualname__}",)
    assert [frame.partition(":")[0] for frame in library] == ["json/__init__.py", *["json/encoder.py"] * 3]


STANDARD = Path(threading.__file__).parent


@pytest.mark.parametrize(
    "file",
    [
        "<secret>",
        str(STANDARD / "made.py"),
        str(STANDARD / "site-packages" / "client" / "made.py"),
        str(Path(surehand.__file__).parent / "made.py"),
        "/opt/python/lib/site-packages/client/made.py",
        "/usr/lib/python3/dist-packages/client/made.py",
    ],
)
def test_code_of_the_interpreter_of_libraries_and_of_the_framework_is_no_own_code(file) -> None:
    found = caught(lying_in(file, 6))
    assert found is not None
    assert len(found.raised_at) == 5
    assert found.raised_at[0].startswith(HERE)
    assert not any(frame.startswith(HERE) for frame in found.raised_at[1:])


@pytest.mark.parametrize("handler", [charge, lying_in(str(STANDARD / "site-packages" / "shop" / "orders.py"))])
def test_what_stands_between_the_engine_and_a_handler_is_not_told(handler) -> None:
    """Threads and loops; a handler that was installed beside the interpreter is none of these."""
    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(handler).exception()
    assert error is not None
    found = origin(error)
    assert found is not None
    names = [frame.partition(" ")[2] for frame in found.raised_at]
    assert names == (["charge"] if handler is charge else ["fall"])


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (["/srv", "/srv/app", "/srv/app/"], "shop/orders.py"),
        (["/srv/app/shop", "/srv"], "orders.py"),
        (["/srv/ap", ""], "shop/orders.py"),
    ],
)
def test_a_file_is_told_as_it_is_imported_or_by_its_last_two_names(monkeypatch, path, told) -> None:
    act = lying_in("/srv/app/shop/orders.py")
    monkeypatch.setattr(sys, "path", path)
    found = caught(act)
    assert found is not None
    assert found.raised_at[-1] == f"{told}:4 fall"


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


def test_what_a_group_was_raised_from_counts_before_what_is_in_it() -> None:
    def grouped() -> None:
        raise ExceptionGroup("secret", [KeyError()]) from IndexError()

    found = caught(grouped)
    assert found is not None
    assert found.caused_by == ("IndexError",)


def test_what_was_being_handled_is_told_unless_it_was_cut_off() -> None:
    def while_handling() -> None:
        try:
            charge()
        except ValueError:
            raise KeyError  # noqa: B904 - the point

    def cut_off() -> None:
        try:
            charge()
        except ValueError:
            raise KeyError from None

    told, untold = caught(while_handling), caught(cut_off)
    assert told is not None
    assert told.caused_by == (f"ValueError at {HERE}:{line_of(charge)} charge",)
    assert untold is not None
    assert untold.caused_by == ()


def test_five_exceptions_of_a_chain_are_told_with_the_first_120_letters_of_their_names() -> None:
    def chained() -> None:
        error: Exception = IndexError()
        for number in range(9):
            outer = type(f"{number}" + "E" * 130, (Exception,), {})()
            outer.__cause__, error = error, outer
        raise error

    found = caught(chained)
    assert found is not None
    assert [found.type, *found.caused_by] == [f"{number}" + "E" * 119 for number in (8, 7, 6, 5, 4)]


def test_a_hand_over_is_no_accident() -> None:
    assert origin(HandOver()) is None


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (Origin("KeyError"), "KeyError"),
        (Origin("KeyError", ("a.py:1 f", "b.py:2 g")), "KeyError at a.py:1 f > b.py:2 g"),
        (Origin("KeyError", ("a.py:1 f",), ("X", "Y at c.py:3 h")), "KeyError at a.py:1 f, from X, from Y at c.py:3 h"),
    ],
)
def test_an_origin_reads_as_a_sentence(found, sentence) -> None:
    assert str(found) == sentence


def test_an_exception_that_cannot_be_looked_at_has_a_type_only() -> None:
    class Hostile(Exception):
        @property
        def __cause__(self):  # type: ignore[override]
            raise RuntimeError

    def act() -> None:
        raise Hostile

    assert caught(act) == Origin("Hostile")
