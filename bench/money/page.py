"""docs/cost.md, written from the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.money import prices
from bench.money.bill import BATCH
from bench.money.measure import MEMORIES_MB, ROUND_TRIP_MS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cost.md"

_ROWS = (
    ("sqs", "SQS: a send, and a tenth of a receive and a delete"),
    ("lambda_requests", "Lambda: invocations"),
    ("lambda_duration", "Lambda: duration on arm64"),
    ("dynamodb", "DynamoDB: units"),
    ("storage", "DynamoDB: storage"),
    ("logs", "CloudWatch Logs: ingestion"),
)

_HEAD = """\
# What a million messages cost

*Written by `python -m bench speed --only money --write`.*

Dollars, at us-east-1's list prices of late 2026 (in `bench/money/prices.py`, with their sources), for messages that
succeed at once, in batches of {batch}, with DynamoDB {round_trip:g} ms away, and without the handler's own time. Calls,
CPU, units, item sizes and log bytes were measured on {machine};
the round trip and Lambda's rule for CPU below {whole:,} MB are assumptions.

"""

_FOOT = """
## What is behind the numbers

| for each message | surehand | Powertools |
|---|---|---|
{consumed}

* **Duration is waiting.** Powertools makes its two calls for each message one after the other, so a batch of ten waits
  twenty times; surehand claims the batch in one call and settles it in another. Lambda bills the waiting.
* **Logs** are a share that surprises: {log_share:.0%} of surehand's bill at {largest} MB. One line of
  {log_bytes} bytes for each message and one metrics record for each batch; Powertools' logger writes one line for each
  record here, as its documentation shows, and no metrics.
* **Storage** is the price of remembering for 30 days, on both sides, so that a dead letter that is moved back after
  13 days is recognised. surehand's item is larger, since it carries the operation's history. Powertools' default is one
  hour, which costs nothing and recognises nothing after it.
* **A duplicate** costs one write unit and a read unit when it comes as a new message, and a read unit (no write) when
  it is the same message again. **A retry** costs two more write units. **A rejected message** costs three write units
  once, and then a read unit for each of the receives until SQS moves it to the dead-letter queue.

## What is paid without any message

* SQS: Lambda polls each queue around the clock, about 0.26 million empty receives a month for a standard queue with
  five pollers at 20 s: $0.10.
* Custom metrics: CloudWatch bills each metric that had a value in the month, $0.30; a busy handler writes up to 13.
* Alarms: the watch stack prints its own price as the output `MonthlyCost` (profiles `full`, `lean` and `none`).
* KMS: $1 a month for a key of your own, if you ask for one.

Powertools brings no alarms, metrics or dead-letter tooling by itself, so there is nothing to set against these.
"""


def write(figures: Sequence[Figure]) -> Path:
    """Write the page and return its path."""
    PAGE.write_text(page(figures), encoding="utf-8")
    return PAGE


def page(figures: Sequence[Figure]) -> str:
    """Return the page's text."""
    by_memory = {int(one.under["memory_mb"]): one.values for one in figures if one.name == "money"}
    consumed = {one.under["side"]: one.values for one in figures if one.name == "consumed"}
    on = next(one.values for one in figures if one.name == "machine")
    head = _HEAD.format(
        batch=BATCH,
        round_trip=ROUND_TRIP_MS,
        machine=f"{on['processor']} ({on['cores']} cores, Python {on['python']})",
        whole=prices.WHOLE_CPU_MB,
    )
    largest = max(MEMORIES_MB)
    parts = by_memory[largest]["surehand"]
    foot = _FOOT.format(
        consumed=_consumed(consumed),
        log_share=parts["logs"] / sum(parts.values()),
        log_bytes=consumed["surehand"]["log_bytes"],
        largest=f"{largest:,}",
    )
    return head + _table(by_memory) + foot


def _table(by_memory: Mapping[int, Mapping[str, Any]]) -> str:
    columns = [(memory, side) for memory in by_memory for side in ("surehand", "powertools")]
    titles = [f"{side.replace('power', 'Power')}, {memory:,} MB" for memory, side in columns]
    lines = ["| | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
    for name, title in _ROWS:
        cells = [f"{by_memory[memory][side][name]:.2f}" for memory, side in columns]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    totals = [f"**{by_memory[memory][f'{side}_dollars']:.2f}**" for memory, side in columns]
    return "\n".join([*lines, "| **together** | " + " | ".join(totals) + " |"]) + "\n"


def _consumed(consumed: Mapping[str, Mapping[str, Any]]) -> str:
    rows = (
        ("cpu_us", "CPU, µs"),
        ("waits_per_batch", "round trips in a row, for each ten"),
        ("write_units", "write units"),
        ("log_bytes", "log bytes"),
        ("item_bytes", "item, bytes"),
    )
    return "\n".join(
        f"| {title} | {consumed['surehand'][name]:g} | {consumed['powertools'][name]:g} |" for name, title in rows
    )
