"""A run's evidence as Markdown, to be put into a ticket."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

#: A report with more letters lists these; the JSON has all of them.
_ROWS = 500


def markdown(said: Mapping[str, Any]) -> str:
    """Return the report as Markdown."""
    return "\n".join([*_head(said), *_counts(said), *_rows(said), *_seal(said)]) + "\n"


def _head(said: Mapping[str, Any]) -> Iterator[str]:
    plan = said["plan"]
    yield f"# {said['action'].capitalize()} {said['run']}"
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| queue | `{said['queue']}` |"
    yield f"| to | {', '.join(f'`{arn}`' for arn in said['destinations']) or 'nowhere: deleted'} |"
    yield f"| service, stage | {said['service']}, {said['stage']} |"
    yield f"| selector | `{_cell(json.dumps(plan['selector'], ensure_ascii=False))}` |"
    yield f"| plan | `{plan['digest']}`, made by {plan['made_by']} at {plan['made_at']} |"
    for one in said["runs"]:
        deployed = f", deployed version {one['version']}" if one["version"] else ""
        code = f", git {one['git']}" if one["git"] else ""
        yield f"| run by | {one['actor']} at {one['began']}: {_cell(one['reason'])}{deployed}{code} |"
    for one in said["ended"]:
        why = f": {_cell(one['why'])}" if one["why"] else ""
        yield f"| ended | {one['at']}, {one['ending']}{why} |"
    if said["version_after"]:
        yield f"| deployed at the end | {said['version_after']} |"


def _counts(said: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield "## What became of the letters"
    yield ""
    yield "| failed with | outcome | letters |"
    yield "|---|---|---:|"
    for code, counts in said["by_code"].items():
        for outcome, count in counts.items():
            yield f"| {code} | {outcome} | {count} |"
    yield ""
    yield f"{said['remaining']} of {len(said['rows'])} planned letters are still where they were."
    for why, count in said["plan"]["left_out"].items():
        yield f"{count} letters were selected and left out of the plan: {_cell(why)}."


def _rows(said: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield "## Letters"
    yield ""
    yield "| letter | copy | operation | before | outcome | after | body (sha256) |"
    yield "|---|---|---|---|---|---|---|"
    for row in said["rows"][:_ROWS]:
        before = f"{row['before']['state'] or '–'} {row['before']['code'] or ''}".strip()
        after = f"{row['after']['state'] or '–'} {row['after']['code'] or ''}".strip()
        outcome = (
            row["outcome"] + (" (canary)" if row["canary"] else "") + (f": {_cell(row['why'])}" if row["why"] else "")
        )
        operation = f"`{_cell(row['operation'])}`" if row["operation"] else "–"
        yield (
            f"| {row['id']} | {row['new_id'] or '–'} | {operation} | {before} | {outcome} | {after} | "
            f"`{row['sha256'][:16]}…` |"
        )
    if len(said["rows"]) > _ROWS:
        yield ""
        yield f"{len(said['rows']) - _ROWS} more are in report.json."


def _seal(said: Mapping[str, Any]) -> Iterator[str]:
    journal = said["journal"]
    yield ""
    yield "## Seal"
    yield ""
    intact = "intact" if journal["intact"] else f"**broken at line {journal['broken_at']}: it was edited**"
    yield f"Journal: {journal['entries']} entries, {intact}, last sum `{journal['sum']}`."
    yield f"Outcome digest: `{said['digest']}` (equal for runs of this plan with equal outcomes)."


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ") if text is not None else "–"
