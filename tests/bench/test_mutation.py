"""The mutants that the engine's tests must kill."""

from __future__ import annotations

from enum import StrEnum

import pytest

from bench.mutation.mutants import mutants


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


def changes(source: str) -> set[tuple[str, str]]:
    return {(one.was, one.became) for one in mutants("m", source, "m.py", {"Color": Color})}


@pytest.mark.parametrize(
    ("source", "change"),
    [
        pytest.param("def f(a):\n    return a < 3", ("a < 3", "a >= 3"), id="a comparison is inverted"),
        pytest.param("def f(a):\n    return a < 3", ("a < 3", "a <= 3"), id="a bound is moved"),
        pytest.param("def f(a):\n    return a < 3", ("3", "4"), id="a limit is off by one"),
        pytest.param("def f(a, b):\n    return a and b", ("a and b", "a or b"), id="and becomes or"),
        pytest.param("def f(a, b):\n    return a and b", ("a and b", "b"), id="a condition is dropped"),
        pytest.param("def f(a):\n    return not a", ("not a", "a"), id="a not is dropped"),
        pytest.param("def f(a):\n    if a.b():\n        g()", ("a.b()", "not a.b()"), id="a question is inverted"),
        pytest.param("def f(a):\n    return [x for x in a if x]", ("x", "True"), id="a filter is dropped"),
        pytest.param("def f(a):\n    g(a)", ("g(a)", "pass"), id="a call is dropped"),
        pytest.param(
            "def f(a):\n    if a:\n        return 1\n    return 2", ("return 1", "pass"), id="a way out is dropped"
        ),
        pytest.param("def f(a):\n    with a:\n        g()", ("with a: g()", "if True: g()"), id="a lock is dropped"),
        pytest.param("def f(a):\n    return g(a, by=1)", ("g(a, by=1)", "g(a)"), id="an argument is dropped"),
        pytest.param("def f():\n    return Color.RED", ("Color.RED", "Color.BLUE"), id="a member becomes its sibling"),
        pytest.param("T = {1: 2, 3: 4}", ("{1: 2, 3: 4}", "{3: 4}"), id="a row is dropped"),
        pytest.param("def f():\n    return ('a', '<=')", ("'<='", "'<'"), id="a condition of DynamoDB is moved"),
        pytest.param("def f(a):\n    return isinstance(a, A | B)", ("A | B", "B"), id="a type is dropped"),
    ],
)
def test_each_way_to_break_a_rule_is_tried(source, change) -> None:
    assert change in changes(source)


def test_a_mutant_is_the_module_with_that_one_change() -> None:
    [kept] = [one for one in mutants("m", "def f(a):\n    return a == 1", "m.py", {}) if one.became == "a != 1"]
    space: dict = {}
    exec(kept.code, space)
    assert (space["f"](1), space["f"](2)) == (False, True)
    assert (kept.scope, list(kept.lines)) == ("f", [2])


def test_a_method_s_mutant_is_found_by_its_qualified_name_and_a_default_s_by_the_module() -> None:
    source = "class A:\n    limit: int = 3\n\n    def f(self, most=4):\n        return self.limit > 5"
    scopes = {one.was: one.scope for one in mutants("m", source, "m.py", {})}
    assert (scopes["3"], scopes["4"], scopes["5"]) == (None, None, "A.f")


def test_no_mutant_is_the_module_as_it_was() -> None:
    for source in ("try:\n    f()\nexcept E:\n    raise", "def f(a):\n    return a < 3"):
        assert all(was != became for was, became in changes(source))


def test_texts_for_people_are_left_alone() -> None:
    assert changes('def f():\n    """Say 1 < 2."""\n    raise ValueError("1" + str(2))') == {
        ("raise ValueError('1' + str(2))", "pass"),
    }
