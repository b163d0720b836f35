"""Bytecode in the bundle: compiled by the deployed Python, so that a cold start does not compile what it imports."""

from __future__ import annotations

import subprocess
from pathlib import Path

#: Where Lambda unpacks the zip: what a traceback names (https://docs.aws.amazon.com/lambda/latest/dg/python-package.html).
_TASK_ROOT = "/var/task"


class NoCompiler(Exception):
    """There is no such interpreter here, or it is of another version; the text says what was found."""


def interpreter(request: str, *, version: str, uv: str) -> str:
    """Return the path of the interpreter that *request* (a path, or a version to look for) stands for.

    Raises:
        NoCompiler: uv finds none, or what it finds is not of this *version*, as in "3.13".
    """
    found = _run(uv, "python", "find", "--no-project", "--no-python-downloads", request)
    actual = _run(found, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    if actual != version:
        raise NoCompiler(f"{found} is Python {actual}; the functions run on {version}, which reads no bytecode of it.")
    return found


def compile_all(folder: Path, *, by: str) -> None:
    """Compile every module of *folder*, in place.

    The bytecode is never checked against its source, whose time of change differs from build to build, and names its
    modules by where Lambda has them. So two builds by one interpreter are byte-identical.

    Raises:
        NoCompiler: The interpreter failed.
    """
    _run(
        by, "-I", "-m", "compileall", "-q", "-j", "1", "--invalidation-mode", "unchecked-hash",
        "-s", str(folder), "-p", _TASK_ROOT, str(folder),
    )  # fmt: skip


def _run(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoCompiler(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        raise NoCompiler((done.stderr or done.stdout).strip())
    return done.stdout.strip()
