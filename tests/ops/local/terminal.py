"""A pseudo-terminal for tests."""

from __future__ import annotations

import os
import pty
import select
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def in_a_terminal(
    command: Sequence[str], *, until: str | None, environment: Mapping[str, str] | None = None, patience: float = 120
) -> tuple[str, int]:
    """Run in a terminal, press Ctrl-C once *until* is on the screen, and return the screen and the exit status."""
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in what a shell has put into the background
        os.chdir(ROOT)
        os.execve(command[0], list(command), {**(environment or os.environ), "TERM": "xterm", "COLUMNS": "120"})
    said, pressed, limit = b"", until is None, time.monotonic() + patience
    try:
        while time.monotonic() < limit:
            if select.select([terminal], [], [], 1)[0]:
                try:
                    said += os.read(terminal, 65536)
                except OSError:  # how Linux says that the other end is closed
                    break
            if not pressed and until is not None and until.encode() in said:
                os.write(terminal, b"\x03")
                pressed = True
        else:
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(terminal)
    return said.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
