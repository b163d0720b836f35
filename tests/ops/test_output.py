"""What commands write for people."""

from __future__ import annotations

import pytest

from surehand_cli.terminal.counting import counted
from surehand_cli.terminal.output import Output


def test_a_table_without_rows_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    Output().table(("line", "code"), (row for row in ()))
    assert capsys.readouterr().out == ""


def test_a_table_with_rows_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    Output().table(("line", "code"), (row for row in [(1, "input.schema")]))
    assert capsys.readouterr().out.split() == ["line", "code", "1", "input.schema"]


@pytest.mark.parametrize(("count", "said"), [(0, "0 letters"), (1, "1 letter"), (2, "2 letters")])
def test_one_is_not_counted_as_many(count: int, said: str) -> None:
    assert counted(count, "letter") == said
