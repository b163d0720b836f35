"""Time for commands: the real clock, and waits that a signal can end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import Protocol


class Waiting(Protocol):
    """The present moment, and waiting for a later one. The real one is here, tests move theirs by hand."""

    @property
    def stopped(self) -> bool:
        """Whether somebody has asked to stop (SIGINT, SIGTERM): finish what is begun and begin nothing."""

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""

    def wait(self, length: timedelta) -> None:
        """Wait for so long, or until somebody asks to stop."""


class SystemWaiting:
    """The real clock."""

    def __init__(self) -> None:
        self._stop = threading.Event()

    @property
    def stopped(self) -> bool:
        """See `Waiting.stopped`."""
        return self._stop.is_set()

    def now(self) -> datetime:
        """See `Waiting.now`."""
        return datetime.now(UTC)

    def wait(self, length: timedelta) -> None:
        """See `Waiting.wait`."""
        self._stop.wait(max(0.0, length.total_seconds()))

    def stop(self) -> None:
        """Ask to stop."""
        self._stop.set()


@contextmanager
def finishing(waiting: Waiting) -> Iterator[None]:
    """Let the first SIGINT or SIGTERM ask to stop, for the body; a second one ends the process as usual."""
    if not isinstance(waiting, SystemWaiting) or threading.current_thread() is not threading.main_thread():
        yield
        return
    system = waiting
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, _: FrameType | None) -> None:
        system.stop()
        signal.signal(number, usual[signal.Signals(number)])

    for number in usual:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, before in usual.items():
            signal.signal(number, before)
