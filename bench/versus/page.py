"""docs/versus.md, written from the rows."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from bench.versus.schedule import Verdict
from bench.versus.table import Row

PAGE = Path(__file__).resolve().parents[2] / "docs" / "versus.md"

_HEAD = """\
# Hostile schedules: Powertools and surehand

*Written by `python -m bench versus --write`; every cell was measured.*

{count} schedules, each run on both sides. surehand holds {surehand}, Powertools for AWS Lambda (Python) {powertools}
holds {peer}.

SQS, the event source mapping and Lambda are simulated (`surehand.testing.simulator`, which says at each rule where in
AWS's documentation it comes from), DynamoDB is moto {moto}, and both sides run unchanged inside. Nothing of this ran on
AWS itself. Powertools is set up as its documentation recommends, with every documented option that helps:

* `BatchProcessor` with a pydantic record model and `raise_on_entire_batch_failure=False`; on FIFO
  `SqsFifoPartialProcessor(skip_group_on_error=True)`;
* `idempotent_function` on the business function, with `event_key_jmespath`, `payload_validation_jmespath`,
  `raise_on_no_idempotency_key=True`, `key_prefix`, records kept for 30 days instead of one hour, and the Lambda context
  registered at every invocation;
* a record handler that looks at the time left and does not begin what it would not finish;
* the queue's visibility timeout six times the function's, and `maxReceiveCount` 5, as AWS recommends.

| schedule | what must hold | Powertools | surehand |
|---|---|---|---|
"""

_FOOT = """
## Reading it

* ✓ the promise held, ✗ it did not; what was seen stands beside it.
* Neither side makes an effect exactly-once: between an effect and its record a crash repeats it. What differs is
  whether it comes under the same idempotency key, whether somebody is asked first, and what else is lost with it.
* A schedule is a function of about fifteen lines in `bench/versus/schedules/`, told once for both sides. Run one alone
  with `python -m bench versus --only poison`.
"""


def write(rows: Sequence[Row]) -> Path:
    """Write the page and return its path."""
    PAGE.write_text(page(rows), encoding="utf-8")
    return PAGE


def page(rows: Sequence[Row]) -> str:
    """Return the page's text."""
    head = _HEAD.format(
        count=len(rows),
        surehand=_held([row.surehand for row in rows]),
        peer=_held([row.powertools for row in rows]),
        powertools=version("aws_lambda_powertools"),
        moto=version("moto"),
    )
    table = "".join(
        f"| **{row.schedule.name}**: {row.schedule.happens} | {row.schedule.must_hold} "
        f"| {_cell(row.powertools)} | {_cell(row.surehand)} |\n"
        for row in rows
    )
    notes = "".join(f"* **{row.schedule.name}**: {row.schedule.note}\n" for row in rows if row.schedule.note)
    return f"{head}{table}\n## Notes\n\n{notes}{_FOOT}"


def _held(verdicts: Sequence[Verdict]) -> str:
    held = sum(1 for verdict in verdicts if verdict.held)
    return "all of them" if held == len(verdicts) else f"{held} of them"


def _cell(verdict: Verdict) -> str:
    return f"{'✓' if verdict.held else '✗'} {verdict.saw}"
