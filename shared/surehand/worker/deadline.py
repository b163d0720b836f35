"""The soft deadline: interrupt a handler shortly before Lambda would kill the process and everything it knows.

SIGALRM reaches the main thread only. In any other thread (`parallel`, a multi-threaded runtime) and where the platform
has no SIGALRM, a handler cannot be interrupted: it runs until Lambda's own limit, and its operation keeps its lease.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType

from surehand.worker.conclude import SoftDeadline

#: A handler that swallows the interruption is interrupted again this often.
_AGAIN = timedelta(milliseconds=500)


def reserve_for(timeout: timedelta) -> timedelta:
    """Return the time kept for settling and answering: a fifth of the timeout, from 0.2 s to 2 s."""
    return min(timedelta(seconds=2), max(timedelta(milliseconds=200), timeout / 5))


@contextmanager
def interrupted_after(left: timedelta) -> Iterator[None]:
    """Raise `SoftDeadline` in the body once *left* has passed, if this is the main thread.

    The previous handler and timer of SIGALRM are restored. With nothing left it raises at once.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return
    if left <= timedelta(0):
        raise SoftDeadline
    armed = True

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if armed:
            raise SoftDeadline

    before = signal.signal(signal.SIGALRM, interrupt)
    timer = signal.setitimer(signal.ITIMER_REAL, left.total_seconds(), _AGAIN.total_seconds())
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)
