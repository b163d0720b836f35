"""The page on testing says what is there: its promises are those of the suite, and its tests exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from surehand.testing import simulate, world
from surehand.testing.account import Account
from surehand.testing.reliability.promises import PROMISES
from tests.scenarios.kiosk import KIOSK, Ticket, plain, script

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.sentence)
def test_every_promise_is_on_the_page(promise):
    assert f"| {promise.sentence} |" in PAGE


def test_every_file_that_the_page_names_is_there():
    named = set(re.findall(r"`((?:tests|docs)/[\w/.]+)`", PAGE))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_call_of_the_account_that_the_page_names_is_there():
    called = set(re.findall(r"`account\.(\w+)\(", PAGE))
    assert len(called) > 5
    assert [name for name in called if not hasattr(Account, name)] == []


def test_a_test_asks_for_a_state_without_asking_first_whether_there_is_one():
    first, second = Ticket(number="1"), Ticket(number="2")
    with world(KIOSK) as made, script():
        plain(made.event(plain, first), None)
        assert (made.state(plain, first), made.state(plain, second)) == ("succeeded", None)
    with simulate(KIOSK) as account, script():
        account.deliver(plain, first)
        assert (account.state(plain, first), account.state(plain, second)) == ("succeeded", None)
