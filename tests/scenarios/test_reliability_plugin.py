"""The suite and its plugin in a user's own project, which has nothing but surehand and pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HANDLERS = """
from collections import Counter
from pydantic import BaseModel
from surehand import Job, queue

class Order(BaseModel):
    number: str
    amount: int

CHARGES: Counter[str] = Counter()

@queue("orders", key="number")
def charge(order: Order, job: Job) -> None:
    CHARGES[job.key("charge")] += 1

@queue("forgetful", key="number")
def forgetful(order: Order) -> None:
    CHARGES[str(len(CHARGES))] += 1

@queue("broken", key="number")
def broken(order: Order) -> None:
    raise ValueError(order.number)
"""
TESTS = """
from shop import CHARGES, Order, broken, charge, forgetful
from surehand.testing import reliability_suite

ORDER = Order(number="7", amount=500)
test_charge = reliability_suite(charge, ORDER, effects=CHARGES, reset=CHARGES.clear)
test_forgetful = reliability_suite(forgetful, ORDER, effects=CHARGES, reset=CHARGES.clear)
test_broken = reliability_suite(broken, ORDER)
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one-process", "xdist"])
def test_a_run_ends_with_what_each_handler_keeps_and_breaks(tmp_path: Path, workers: list[str]):
    (tmp_path / "shop.py").write_text(HANDLERS)
    (tmp_path / "test_shop.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    summary = done.stdout.split("promises ==")[1]
    orders, forgetful = summary.split("forgetful (effects counted by key)")
    assert "orders (effects counted by key)" in orders
    assert "BREAKS" not in orders
    assert "keeps   a process killed at any call loses nothing" in orders
    assert "not checked  another tenant's work is its own: no tenant is declared" in orders
    assert "BREAKS  a failure after the effect is tried again under the same key" in forgetful
    (line,) = {line for line in summary.splitlines() if "the sample succeeds" in line}
    assert line.startswith("  BREAKS  the sample succeeds with nothing in the way")
    assert "; raised ValueError at shop.py:22 broken" in done.stdout
    assert "seen: permanently_failed instead of succeeded" in done.stdout


def test_the_plugin_costs_a_run_without_such_tests_no_import_of_the_framework(tmp_path: Path):
    (tmp_path / "test_plain.py").write_text(
        "import sys\ndef test_plain():\n    assert [n for n in sys.modules if n.startswith('surehand')] == "
        "['surehand', 'surehand.pytest_plugin']\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_plain.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "promises" in done.stdout) == (0, False), done.stdout
