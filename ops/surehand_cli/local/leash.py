"""Run a command that ends when whoever started it goes away, together with everything it started itself.

Run as a script by `leashed.py`, alone in a session: `leash.py FOLDER COMMAND…`. Standard input is the leash. When it
is closed, by intent or because the holder was killed, the whole process group gets SIGTERM, after a grace period
SIGKILL, and FOLDER, unless it is "-", is removed. Standard library only, since it runs isolated.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys

GRACE_SECONDS = 5.0


def main(folder: str, command: list[str]) -> int:
    """Run the command and return its exit status, 128 + n if signal n ended it."""
    # Handlers instead of SIG_IGN: a command would inherit the latter and could not be stopped.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    while child.poll() is None:
        ready, _, _ = select.select([sys.stdin, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
        if sys.stdin in ready and not os.read(sys.stdin.fileno(), 4096):
            _end_all(child, folder)
    os.killpg(0, signal.SIGTERM)  # what the command left behind; this process only notes it
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _end_all(child: subprocess.Popen[bytes], folder: str) -> None:
    os.killpg(0, signal.SIGTERM)
    try:
        child.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    if folder != "-":
        shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)  # grandchildren that took no notice, and this process


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
