"""One cold start: import a handler's module, handle one event, print what it took. Run as a script.

`python child.py MODULE ATTRIBUTE EVENT_FILE`; times are in milliseconds from this script's first line.
"""

import sys
import time

BEGAN, WORKED = time.perf_counter(), time.process_time()

import importlib  # noqa: E402 - the clock starts first
import json  # noqa: E402
from pathlib import Path  # noqa: E402


class Context:
    """Lambda's context."""

    function_name = "bench-orders"
    function_version = "1"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:eu-west-1:000000000000:function:bench-orders"
    aws_request_id = "0e2a3d63-6c1f-4f39-8d53-3d5e0b9e3a77"

    def get_remaining_time_in_millis(self) -> int:
        """Return half a minute."""
        return 30_000


def main(module: str, attribute: str, event: str) -> None:
    """Do it."""
    handler = getattr(importlib.import_module(module), attribute)
    imported, imported_cpu = time.perf_counter(), time.process_time()
    answer = handler(json.loads(Path(event).read_text(encoding="utf-8")), Context())
    took, cpu = time.perf_counter() - BEGAN, time.process_time() - WORKED
    told = {
        "answer": answer,
        "wall_ms": took * 1e3,
        "cpu_ms": cpu * 1e3,
        "import_wall_ms": (imported - BEGAN) * 1e3,
        "import_cpu_ms": (imported_cpu - WORKED) * 1e3,
        "modules": len(sys.modules),
    }
    print("\n" + json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
