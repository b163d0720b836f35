"""What `surehand local run` does on a terminal. `tests/e2e/test_local_run.py` has the same with everything deployed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.ops.local.terminal import in_a_terminal

COMMAND = [sys.executable, str(Path(__file__).with_name("run_that_deploys_nothing.py"))]
ADVICE = "Ctrl-C stops everything"


def test_in_a_terminal_it_stays_up_with_advice_until_ctrl_c() -> None:
    said, status = in_a_terminal(COMMAND, until=ADVICE)
    assert status == 0, said
    assert "curl" in said
    assert "an order" in said[said.index(ADVICE) :]
    assert "Traceback" not in said


def test_in_a_terminal_it_ends_by_itself_if_it_runs_once() -> None:
    said, status = in_a_terminal([*COMMAND, "--once"], until=None)
    assert status == 0, said
    assert "1 messages: 1 succeeded" in said
    assert ADVICE not in said
