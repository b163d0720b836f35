"""What the ingress imports is what a cold start pays within a sender's deadline: little of the standard library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import surehand

PACKAGE = Path(surehand.__file__).parent

#: The framework's root is replaced by an empty one: its public names (pydantic behind them) are not the ingress's.
SCRIPT = """
import json, sys, types
root = types.ModuleType("surehand")
root.__path__ = [sys.argv[1]]
sys.modules["surehand"] = root
before = set(sys.modules)
import surehand.webhooks.ingress, surehand.webhooks.config, surehand.webhooks.secrets
if len(sys.argv) > 2:
    from surehand.webhooks.source import Source
    Source(name="s", scheme=surehand.webhooks.table.SCHEMES[sys.argv[2]], secret="s", queue="q")
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def imported(*arguments: str) -> set[str]:
    """The modules that a fresh interpreter has after importing the ingress and the table."""
    command = [sys.executable, "-I", "-c", SCRIPT, str(PACKAGE), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return set(json.loads(done.stdout))


def test_the_ingress_imports_nothing_but_the_standard_library_and_the_framework_s_errors():
    tops = {name.partition(".")[0] for name in imported()}

    assert tops - sys.stdlib_module_names == {"surehand"}
    others = {name for name in imported() if name.startswith("surehand.") and not name.startswith("surehand.webhooks")}
    assert others == {"surehand.errors"}


def test_the_ingress_leaves_out_the_heavy_parts_of_the_standard_library():
    heavy = {"asyncio", "http.client", "ssl", "socket", "email", "logging", "unittest", "concurrent.futures"}

    assert not imported() & heavy


def test_cryptography_is_imported_when_a_configured_scheme_needs_it_and_never_otherwise():
    assert "cryptography" not in imported("stripe")
    assert "cryptography" in imported("discord")


def test_signing_and_explaining_are_no_part_of_the_ingress():
    assert not imported() & {"surehand.webhooks.sign", "surehand.webhooks.explain", "surehand.webhooks.unwrap"}
