"""Run a command that ends when whoever started it goes away, together with everything it started itself.

Run as a script by `leashed.py`, in a session of its own: `leash.py FOLDER COMMAND…`. Standard input is the leash. When
it is closed, by intent or because the holder was killed, the command's process group gets SIGTERM, after a grace period
SIGKILL, and FOLDER, unless it is "-", is removed. Standard library only, since it runs isolated.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys

GRACE_SECONDS = 2.0


def main(folder: str, command: list[str]) -> int:
    """Run the command and return its exit status, 128 + n if signal n ended it."""
    # Handlers instead of SIG_IGN: a command would inherit the latter and could not be stopped.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # A group of its own, so that this process outlives it and can clean up.
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    held = True
    while held and child.poll() is None:
        ready, _, _ = select.select([sys.stdin, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
        if sys.stdin in ready:
            held = bool(os.read(sys.stdin.fileno(), 4096))
    _end_all(child)
    if not held and folder != "-":
        shutil.rmtree(folder, ignore_errors=True)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _end_all(child: subprocess.Popen[bytes]) -> None:
    """End the command if it still runs, and in any case what it has left behind."""
    _signal(child, signal.SIGTERM)
    try:
        child.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        _signal(child, signal.SIGKILL)
        child.wait()


def _signal(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        return  # the whole group has ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
