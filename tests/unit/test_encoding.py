"""What goes to DynamoDB and to CloudWatch is what the standard library would write."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from surehand.aws.encoding import json_bytes, json_line

#: With lone surrogates, which JSON texts may carry and UTF-8 may not.
TEXTS = st.text(st.characters(exclude_categories=()), max_size=8)
PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
)


@given(PLAIN)
def test_the_bytes_read_back_as_what_was_written(value: object) -> None:
    assert json.loads(json_bytes(value)) == value


@given(PLAIN)
def test_a_line_is_ascii_reads_back_the_same_and_holds_no_line_end(value: object) -> None:
    line = json_line(value)
    assert line.isascii()
    assert not {"\n", "\r"} & set(line)
    assert json.loads(line) == value


def test_no_space_is_paid_for() -> None:
    assert json_bytes({"é": [1, "x"]}) == '{"é":[1,"x"]}'.encode()
    assert json_line({"a": [1, "x"], "b": "é"}) == '{"a":[1,"x"],"b":"\\u00e9"}'
