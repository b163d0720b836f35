"""The README shows the code that runs."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_first_handler_of_the_readme_stands_in_a_file_that_tests_run() -> None:
    (shown, *_) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)

    assert shown in (ROOT / "handlers" / "orders.py").read_text(encoding="utf-8")
    assert len(shown.splitlines()) < 12
