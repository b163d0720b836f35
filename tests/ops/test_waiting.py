"""Waits and signals: the first Ctrl-C asks to finish, and the usual handling is back afterwards."""

from __future__ import annotations

import os
import signal
import time
from datetime import timedelta

import pytest

from surehand_cli.account.waiting import SystemWaiting, finishing


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_asks_to_finish_and_ends_a_wait_at_once(number: signal.Signals) -> None:
    waiting, usual = SystemWaiting(), signal.getsignal(number)
    with finishing(waiting):
        os.kill(os.getpid(), number)
        began = time.monotonic()
        waiting.wait(timedelta(hours=1))
        assert waiting.stopped
        assert time.monotonic() - began < 60
        assert signal.getsignal(number) == usual  # a second signal ends the process as usual
    assert signal.getsignal(number) == usual
