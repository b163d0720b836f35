"""The whole of it: `surehand local run`, with the real CDK command line, on the emulator."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ops.local.terminal import in_a_terminal

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "surehand_cli.app", "local", "run"]
#: A shell lets what it has put into the background ignore Ctrl-C; this Python listens to it as a user's does.
LISTEN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
LISTENING = [sys.executable, "-c", LISTEN]

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


def clean_environment(folder: Path) -> dict[str, str]:
    """The runner's own, without what this test process was given; temporary files go where they can be counted."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTEST_", "JSII_"))}
    return kept | {"TMPDIR": str(folder)}


def left_behind(folder: Path) -> list[str]:
    """Return the processes that were started with this TMPDIR or below it, and the emulator's folders in it."""
    found = [path.name for path in folder.glob("surehand-local-*")]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{folder}/surehand-local-".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def all_gone(folder: Path) -> bool:
    """Wait for it: an interruption while a process is being started is cleaned up by that process's own leash."""
    limit = time.monotonic() + 60
    while (left := left_behind(folder)) and time.monotonic() < limit:
        time.sleep(0.05)
    return not left


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    folder = tmp_path_factory.mktemp("tmp")
    done = subprocess.run(
        [*COMMAND, "--once", "--json"],
        cwd=ROOT,
        env=clean_environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    return done, folder


def report(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    assert done.stdout, done.stderr
    last: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return last


def test_every_message_comes_to_what_is_expected_of_it(once: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, _ = once
    assert report(done)["unexpected"] == [], done.stderr
    assert done.returncode == 0, done.stderr


def test_nothing_is_lost_and_no_effect_is_duplicated(once: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    numbers = report(once[0])
    assert (numbers["lost"], numbers["duplicated_effects"], numbers["out_of_order"]) == (0, 0, 0)


def test_what_was_sent_is_the_sum_of_the_fates(once: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    numbers = report(once[0])
    fates = ("succeeded", "already_applied", "canceled", "dead_lettered", "lost")
    assert numbers["sent"] == sum(int(str(numbers[fate])) for fate in fates)
    assert all(int(str(numbers[fate])) > 0 for fate in fates[:-1])


def test_webhooks_are_answered_by_their_signature(once: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    assert report(once[0])["requests"] == {"200": 4, "401": 2}


def test_nothing_survives_the_run(once: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    assert all_gone(once[1])


@pytest.mark.parametrize(("stop", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_nothing_survives_an_interruption(tmp_path: Path, stop: signal.Signals, status: int) -> None:
    running = subprocess.Popen(
        [*LISTENING, *COMMAND[1:], "--once"],
        cwd=ROOT,
        env=clean_environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        limit = time.monotonic() + 120
        while not left_behind(tmp_path) and time.monotonic() < limit:
            time.sleep(0.05)
        assert left_behind(tmp_path)

        running.send_signal(stop)
        _, errors = running.communicate(timeout=60)
    finally:
        running.kill()

    assert running.returncode == status
    assert "Traceback" not in errors
    assert all_gone(tmp_path)


@pytest.mark.exhaustive
def test_in_a_terminal_it_stays_up_with_advice_until_ctrl_c(tmp_path: Path) -> None:
    environment = clean_environment(tmp_path)
    said, status = in_a_terminal(COMMAND, until="Ctrl-C stops everything", environment=environment, patience=500)

    assert "curl" in said
    assert "Traceback" not in said
    assert status == 0, said
    assert all_gone(tmp_path)
