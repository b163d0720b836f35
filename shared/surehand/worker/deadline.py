"""The soft deadline: interrupt a handler shortly before Lambda would kill the process and everything it knows.

SIGALRM reaches the main thread only. In any other thread (`parallel`, a multi-threaded runtime) and where the platform
has no SIGALRM, a handler cannot be interrupted: it runs until Lambda's own limit, and its operation keeps its lease.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from types import FrameType

from surehand.worker.conclusion import SoftDeadline

#: A handler that swallows the interruption is interrupted again this often.
_AGAIN = timedelta(milliseconds=500)


def reserve_for(timeout: timedelta) -> timedelta:
    """Return the time kept for settling and answering: a fifth of the timeout (which is a second at least), to 2 s."""
    return min(timedelta(seconds=2), timeout / 5)


class _Alarm:
    """SIGALRM, as far as it is ours. It interrupts a handler that is being run, and nothing else.

    *rang* remembers that it came between two handlers; the next one is then not begun.
    """

    taken = False
    armed = False
    rang = False

    @classmethod
    def ring(cls, _number: int, _frame: FrameType | None) -> None:
        """Interrupt the handler, if one is being run."""
        cls.rang = True
        if cls.armed:
            raise SoftDeadline


@contextmanager
def alarm_set(left: timedelta) -> Iterator[None]:
    """Let SIGALRM come once *left* has passed, for the handlers of a batch, if this is the main thread.

    Once for all of them, since their deadline is the same moment and each system call costs more than a small handler.
    The previous handler and timer are restored.
    """
    if _Alarm.taken or not _can_interrupt() or left <= timedelta(0):
        yield
        return
    _Alarm.rang = False
    before = signal.signal(signal.SIGALRM, _Alarm.ring)
    timer = signal.setitimer(signal.ITIMER_REAL, left.total_seconds(), _AGAIN.total_seconds())
    _Alarm.taken = True
    try:
        yield
    finally:
        _Alarm.taken = False
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)  # None: set by other than Python


@contextmanager
def interrupted_after(left: timedelta) -> Iterator[None]:
    """Raise `SoftDeadline` in the body once *left* has passed, if this is the main thread.

    With nothing left it raises at once. Inside `alarm_set` the moment is that of the batch.
    """
    if not _can_interrupt():
        yield
        return
    if left <= timedelta(0):
        raise SoftDeadline
    with nullcontext() if _Alarm.taken else alarm_set(left):
        outer = _Alarm.armed
        try:
            try:
                _Alarm.armed = True
                if _Alarm.rang:
                    raise SoftDeadline
                yield
            finally:
                _Alarm.armed = outer
        finally:
            _Alarm.armed = outer  # the alarm may come in the line that disarms it, and left armed it would hit a settle


@contextmanager
def undisturbed() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Keep the alarm out of the rest of a handler that ends elsewhere, for whoever keeps to the deadline by himself.

    What it yields lets the alarm in for the one wait that it may interrupt. It is not let in again behind the body,
    since a `SoftDeadline` there would stand for what the body has raised (P9).
    """
    if not _can_interrupt():
        yield nullcontext
        return
    armed = _Alarm.armed
    _Alarm.armed = False
    yield lambda: _disturbed(armed)


@contextmanager
def _disturbed(armed: bool) -> Iterator[None]:
    try:
        try:
            _Alarm.armed = armed
            if armed and _Alarm.rang:
                raise SoftDeadline
            yield
        finally:
            _Alarm.armed = False
    finally:
        _Alarm.armed = False  # see `interrupted_after`


def _can_interrupt() -> bool:
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGALRM")
