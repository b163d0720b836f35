"""One warm process that handles many messages, and how large it gets: `python -m bench.speed.warm SIDE COUNT`."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import Any

from bench.sides.order import Context, batch
from bench.speed.invoking import Sink
from bench.wire import Responder

_SIZE = 100
#: Messages after which caches and arenas are as large as they get.
_WARM_UP = 2_000


def main(side: str, count: int) -> None:
    """Print the resident size in KiB: warm, and after *count* more messages."""
    responder = Responder()
    if side == "surehand":
        from bench.sides.ours import ours

        with ours(responder.attach, Sink()) as handler:
            told = _measure(handler, responder, count)
    else:
        from bench.sides.peer import peer

        with peer(responder.attach, Sink()) as handler:
            told = _measure(handler, responder, count)
    print(json.dumps(told))


def _measure(handler: Any, responder: Responder, count: int) -> dict[str, int]:
    _handle(handler, responder, _WARM_UP)
    warm = _resident()
    _handle(handler, responder, count)
    return {"warm_kb": warm, "after_kb": _resident()}


def _handle(handler: Any, responder: Responder, count: int) -> None:
    for _ in range(count // _SIZE):
        handler(batch(_SIZE), Context())
        responder.tables.items.clear()  # the store is not the process under measurement
    gc.collect()


def _resident() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
