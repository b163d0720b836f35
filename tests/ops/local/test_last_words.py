"""Out of a log comes the line that says why its command failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from surehand_cli.local.last_words import last_words

TRACEBACK = """Traceback (most recent call last):
  File "infra/app.py", line 5, in <module>
    raise BundleError("no lock")
BundleError: no lock
.venv/bin/python infra/app.py: Subprocess exited with error 1
"""
OFFLINE = """RuntimeError: Failed to bundle: uv could not install lambda.txt for host:
\x1b[1m\x1b[31merror\x1b[39m\x1b[0m\x1b[1m:\x1b[0m Request failed after 3 retries in 4.6s
  cause: dns error
app.py: Subprocess exited with error 1
"""
NODE = """shop-local: creating
\x1b[31m ❌  shop-local failed: The stack is in ROLLBACK\x1b[39m
    at Deployer.deploy (index.js:1:2)
"""


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (TRACEBACK, "BundleError: no lock"),
        (OFFLINE, "the network cannot be reached, and something must be downloaded first; later runs will do without"),
        (NODE, "❌  shop-local failed: The stack is in ROLLBACK"),
        ("just\nwords\n\n", "words"),
        ("", "no output"),
        ("Error: " + "x" * 500, "Error: " + "x" * 293),
    ],
    ids=["a traceback", "no network", "the CDK command line", "no error at all", "nothing", "too much"],
)
def test_the_telling_line_is_found(tmp_path: Path, log: str, said: str) -> None:
    (tmp_path / "log").write_text(log, encoding="utf-8")

    assert last_words(tmp_path / "log") == said
