"""Child processes end with whoever started them, and so does everything they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from surehand_cli.local.leashed import Leashed

ENV = {"PATH": os.environ["PATH"]}

# Starts a grandchild, writes both process ids to the file, and waits.
PARENT = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1] + ".new", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""
# The same, but neither of the two ends when it is asked to.
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + PARENT


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


def eventually(holds: Callable[[], object], seconds: float = 20.0) -> bool:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if holds():
            return True
        time.sleep(0.02)
    return False


def alive(pid: int) -> bool:
    """Zombies, which wait for somebody to read their status, count as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pids(file: Path) -> list[int]:
    assert eventually(file.exists)
    return [int(pid) for pid in file.read_text().split()]


@pytest.mark.parametrize("code", [PARENT, STUBBORN], ids=["willing", "deaf to SIGTERM"])
def test_leaving_the_block_ends_the_command_and_what_it_started(tmp_path: Path, code: str) -> None:
    with Leashed(python(code, tmp_path / "pids"), cwd=tmp_path, env=ENV, log=tmp_path / "log"):
        started = pids(tmp_path / "pids")
        assert all(map(alive, started))

    assert not any(map(alive, started))


def test_the_folder_goes_with_the_command(tmp_path: Path) -> None:
    (folder := tmp_path / "folder").mkdir()
    (folder / "file").touch()

    with Leashed(python(PARENT, tmp_path / "pids"), cwd=folder, env=ENV, log=tmp_path / "log", folder=folder):
        pids(tmp_path / "pids")

    assert not folder.exists()


def test_killing_the_holder_ends_the_command_and_removes_the_folder(tmp_path: Path) -> None:
    (folder := tmp_path / "folder").mkdir()
    holder = subprocess.Popen(
        python(
            "import sys, time\n"
            "from pathlib import Path\n"
            "from surehand_cli.local.leashed import Leashed\n"
            "code, pids, folder = sys.argv[1:]\n"
            "held = Leashed([sys.executable, '-c', code, pids], cwd=Path('.'), env={}, log=Path(pids + '.log'),\n"
            "               folder=Path(folder))\n"
            "time.sleep(600)\n",
            PARENT,
            tmp_path / "pids",
            folder,
        )
    )
    started = pids(tmp_path / "pids")

    holder.send_signal(signal.SIGKILL)
    holder.wait()

    assert eventually(lambda: not any(map(alive, started)))
    assert eventually(lambda: not folder.exists())


def test_a_command_that_ends_by_itself_tells_its_exit_status(tmp_path: Path) -> None:
    with Leashed(python("import sys; sys.exit(7)"), cwd=tmp_path, env=ENV, log=tmp_path / "log") as process:
        assert process.wait(20) == 7
        assert process.exit_status == 7


def test_a_command_that_a_signal_ended_tells_128_and_its_number(tmp_path: Path) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    with Leashed(python(code), cwd=tmp_path, env=ENV, log=tmp_path / "log") as process:
        assert process.wait(20) == 128 + signal.SIGKILL


def test_what_a_command_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    code = PARENT.replace("time.sleep(600)\n", "")  # the parent ends at once; the grandchild's own sleep stays
    with Leashed(python(code, tmp_path / "pids"), cwd=tmp_path, env=ENV, log=tmp_path / "log") as process:
        assert process.wait(20) == 0

        assert eventually(lambda: not any(map(alive, pids(tmp_path / "pids"))))


def test_waiting_too_long_is_a_timeout(tmp_path: Path) -> None:
    with (
        Leashed(python("import time; time.sleep(600)"), cwd=tmp_path, env=ENV, log=tmp_path / "log") as process,
        pytest.raises(TimeoutError, match="still running"),
    ):
        process.wait(0.1)


def test_output_goes_to_the_log(tmp_path: Path) -> None:
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr)"
    with Leashed(python(code), cwd=tmp_path, env=ENV, log=tmp_path / "deep" / "log") as process:
        process.wait(20)

    assert process.log.read_text() == "out\nerr\n"
