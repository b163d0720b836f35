"""Metric math is evaluated as CloudWatch documents it."""

from __future__ import annotations

import pytest

from tests.infra.alarms.expression import Series, evaluate

A: Series = [1.0, None, 3.0, 10.0]
B: Series = [2.0, 2.0, None, 5.0]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("a", A),
        ("a + b", [3, None, None, 15]),
        ("2 * a - 1", [1, None, 5, 19]),
        ("10 - 2 - 3", [5, 5, 5, 5]),
        ("a / (b - 2)", [None, None, None, 10 / 3]),
        ("a > b", [0, None, None, 1]),
        ("a >= 3", [0, None, 1, 1]),
        ("FILL(a, 0)", [1, 0, 3, 10]),
        ("FILL(a, REPEAT)", [1, 1, 3, 10]),
        ("DIFF(b)", [None, 0, None, None]),
        ("DIFF(FILL(a, REPEAT))", [None, 0, 2, 7]),
        ("MAX([a, b])", [2, 2, 3, 10]),
        ("MAX([FILL(a,0), FILL(b,0)])", [2, 2, 3, 10]),
        ("IF(FILL(a,0) > FILL(b,0), 1, 0)", [0, 0, 1, 1]),
        ("IF(FILL(a,0) >= 3, 100 * FILL(b,0) / a, 0)", [0, 0, 0, 50]),
        ("IF(a > 0, 1, 0)", [1, None, 1, 1]),
    ],
)
def test_an_expression_has_its_value(expression: str, result: list[float | None]):
    assert evaluate(expression, {"a": A, "b": B}) == result


@pytest.mark.parametrize("expression", ["c", "a +", "a b", "SEARCH(a)", "FILL(a 0)", "MAX(a)", "(a", "a ? b"])
def test_what_is_not_understood_is_an_error_and_no_silent_zero(expression: str):
    with pytest.raises(ValueError, match=r"."):
        evaluate(expression, {"a": A, "b": B})


def test_a_repeated_fill_has_nothing_to_repeat_before_the_first_point():
    assert evaluate("FILL(a, REPEAT)", {"a": [None, 4.0, None]}) == [None, 4, 4]
