"""The invoices of a local run: twelve pages a day, each of which takes a moment to be found, and the tick for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from surehand.declare import moment_text
from surehand_cli.local.queue_messages import QueueMessage
from surehand_cli.local.samples import Fate, Sample

HANDLER = "invoice-export"
PAGES, PAGE = 12, 5
#: How long the local run's billing takes for a page: long enough that the export outlasts its function's timeout.
PAGE_SECONDS = 0.9


def invoices_of(query: Mapping[str, str]) -> Sequence[dict[str, Any]]:
    """Return the page of invoices of a `day` that comes behind the id `after`."""
    day, after = query.get("day", ""), query.get("after", "")
    ids = [f"inv-{day}-{number:03}" for number in range(1, PAGES * PAGE + 1)]
    begin = ids.index(after) + 1 if after in ids else 0
    return [{"id": name, "amount": 4_900} for name in ids[begin : begin + PAGE]]


def ticks() -> Iterator[Sample]:
    """A tick of this minute, as EventBridge Scheduler would send it, and its duplicate.

    The emulator fires each schedule once a minute and replaces nothing in its message, so the local run sends it.
    """
    moment = datetime.now(UTC).replace(second=0, microsecond=0)
    tick = QueueMessage(HANDLER, json.dumps({"at": moment_text(moment)}))
    title = "tick: export of invoices, over two invocations"
    yield Sample(title=title, handler=HANDLER, send=tick, fate=Fate.SUCCEEDED, attempts=1)
    yield Sample(title="the same tick again", handler=HANDLER, send=tick, fate=Fate.ALREADY_APPLIED, after=title)
