"""What the ingress imports is what a cold start pays within a sender's deadline: little of the standard library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import surehand

#: Where the framework lies, and the interpreter's packages.
PATHS = [str(Path(surehand.__file__).parents[1]), *(path for path in sys.path if "site-packages" in path)]

SCRIPT = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
before = set(sys.modules)
import surehand.webhooks.ingress, surehand.webhooks.config, surehand.webhooks.secrets
if len(sys.argv) > 2:
    from surehand.webhooks.source import Source
    Source(name="s", scheme=surehand.webhooks.table.SCHEMES[sys.argv[2]], secret="s")
print(json.dumps(sorted(set(sys.modules) - before)))
"""

#: What Lambda does: import the module of the `Handler` setting, which builds its clients.
INIT = """
import json, os, sys
sys.path[:0] = json.loads(sys.argv[1])
os.environ |= {
    "AWS_LAMBDA_FUNCTION_NAME": "shop-test-webhooks", "AWS_REGION": "eu-west-1", "AWS_EC2_METADATA_DISABLED": "true",
    "SUREHAND_WEBHOOK_BODIES": "bodies", "SUREHAND_QUEUE_BILLING": "https://sqs.eu-west-1.amazonaws.com/1/billing",
    "SUREHAND_WEBHOOK_SOURCES": '[{"name":"billing","secret":"s","scheme":"stripe"}]',
}
import surehand.ingress
print(json.dumps(sorted(sys.modules)))
"""


def imported(*arguments: str, script: str = SCRIPT) -> set[str]:
    """The modules that a fresh interpreter has after importing the ingress and the table."""
    command = [sys.executable, "-I", "-S", "-c", script, json.dumps(PATHS), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return set(json.loads(done.stdout))


def test_the_engine_imports_nothing_but_the_standard_library_and_the_framework_s_errors():
    tops = {name.partition(".")[0] for name in imported()}

    assert tops - sys.stdlib_module_names == {"surehand"}
    others = {name for name in imported() if name.startswith("surehand.") and not name.startswith("surehand.webhooks")}
    assert others == {"surehand.errors"}


def test_the_function_starts_without_pydantic_handlers_vendor_libraries_and_cryptography():
    loaded = imported(script=INIT)
    mine = {name for name in loaded if name.startswith("surehand.") and not name.startswith("surehand.webhooks")}

    assert not {name.partition(".")[0] for name in loaded} & {"pydantic", "stripe", "slack_sdk", "cryptography"}
    assert not {name for name in mine if name.split(".")[1] not in ("aws", "errors", "ingress", "variables")}
    assert "botocore" in loaded  # the clients are built by then


def test_the_engine_leaves_out_the_heavy_parts_of_the_standard_library():
    heavy = {"asyncio", "http.client", "ssl", "socket", "email", "logging", "unittest", "concurrent.futures"}

    assert not imported() & heavy


def test_cryptography_is_imported_when_a_configured_scheme_needs_it_and_never_otherwise():
    assert "cryptography" not in imported("stripe")
    assert "cryptography" in imported("discord")


def test_signing_and_explaining_are_no_part_of_the_ingress():
    assert not imported() & {"surehand.webhooks.sign", "surehand.webhooks.explain", "surehand.webhooks.unwrap"}
