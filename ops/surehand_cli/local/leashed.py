"""Child processes that cannot outlive this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from surehand_cli.local import leash


class Leashed:
    """A command in a session of its own, so that Ctrl-C in the terminal does not reach it, but this object's end does.

    Its output goes to *log*. *folder* is removed with it. Leaving the `with` block stops it and all it has started;
    so does the death of this process, whatever the cause.
    """

    def __init__(
        self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path, folder: Path | None = None
    ) -> None:
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        end_of_leash, self._leash = os.pipe()
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-I", leash.__file__, str(folder or "-"), *command],
                cwd=cwd,
                env=dict(env),
                stdin=end_of_leash,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        os.close(end_of_leash)

    def __enter__(self) -> Leashed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def exit_status(self) -> int | None:
        """The command's exit status, 128 + n after signal n, or None while it runs."""
        return self._process.poll()

    def wait(self, seconds: float) -> int:
        """Wait for the command's end and return its exit status.

        Raises:
            TimeoutError: It still runs.
        """
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"still running after {seconds:.0f} s") from None

    def stop(self) -> None:
        """End the command and everything it started, and wait for that. Harmless when it has ended."""
        if self._leash >= 0:
            os.close(self._leash)
            self._leash = -1
        self._process.wait()  # it ends by SIGKILL at the latest what has to end, so this cannot take for ever
