"""Processes that really die: `os._exit` at a step of the engine, no `finally`, no flush; then the next delivery."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from surehand.states import State
from surehand.testing import again

MORTAL = Path(__file__).parent / "mortal.py"
KILLED = 9


def message(number: int) -> dict:
    return {
        "messageId": f"m-{number}",
        "receiptHandle": f"r-{number}",
        "body": json.dumps({"number": str(number)}),
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1767268800000",
            "ApproximateFirstReceiveTimestamp": "1767268800000",
        },
        "messageAttributes": {},
        "eventSource": "aws:sqs",
    }


def process(folder: Path, records: list[dict], *, step: int, minutes: int, commit: str) -> subprocess.CompletedProcess:
    """Run one invocation in a process of its own."""
    (folder / "event").write_text(json.dumps({"Records": records}))
    command = [sys.executable, str(MORTAL), str(folder), str(folder / "event"), str(step), str(minutes), commit]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("commit", ["inline", "group"])
@pytest.mark.parametrize("step", [0, 1, 2, 3, 4, 5])
def test_a_process_that_dies_at_a_step_loses_nothing_and_repeats_only_under_the_same_key(tmp_path, step, commit):
    """Steps: claim (0, 1), the first effect (2, 3), and what follows: its settle, or in a group the next effect."""
    records = [message(1), message(2)]
    died = process(tmp_path, records, step=step, minutes=0, commit=commit)
    assert (died.returncode, died.stdout) == (KILLED, "")
    lived = process(tmp_path, [again(one) for one in records], step=-1, minutes=5, commit=commit)
    assert lived.returncode == 0, lived.stderr
    assert json.loads(lived.stdout) == {"batchItemFailures": []}
    items = pickle.loads((tmp_path / "ledger").read_bytes())
    assert {item.state for item in items.values()} == {State.SUCCEEDED}
    effects = Counter((tmp_path / "effects").read_text().splitlines())
    assert len(effects) == 2
    assert max(effects.values()) <= 2
