"""The evidence of a run: who moved what, when, why, by which plan, and what became of each letter."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from surehand_cli.dlq.journal import Reading
from surehand_cli.dlq.plan import Plan, canonical
from surehand_cli.dlq.progress import GOOD, Mail, Progress, Step, fate

FORMAT = 1


def evidence(run: str, plan: Plan, reading: Reading) -> dict[str, Any]:
    """Return the report of a run as JSON has it. No bodies, and of the payload only key and tenant.

    `digest` is equal for two runs of one plan in which every letter came to the same; `journal.sum` seals the journal.
    """
    progress = Progress.of(plan, reading.entries)
    rows = [_row(mail) for mail in progress.mail.values()]
    begun, ended = progress.begun, progress.ended
    return {
        "report": FORMAT,
        "run": run,
        "action": plan.action,
        "stage": plan.stage,
        "service": plan.service,
        "queue": plan.queue,
        "destinations": sorted(plan.destinations),
        "plan": {
            "digest": plan.digest,
            "selector": dict(plan.selector),
            "options": dict(plan.options),
            "made_by": plan.actor,
            "made_at": plan.created_at,
            "left_out": dict(plan.left_out),
        },
        "runs": [
            {
                "actor": entry.get("actor"),
                "reason": entry.get("reason"),
                "began": entry["at"],
                "git": entry.get("git"),
                "version": entry.get("version"),
            }
            for entry in begun
        ],
        "ended": [{"at": entry["at"], "ending": entry.get("ending"), "why": entry.get("why")} for entry in ended],
        "version_after": next(
            (entry.get("version") for entry in reversed(reading.entries) if entry["kind"] == "deployed"), None
        ),
        "counts": dict(progress.counts()),
        "by_code": _by_code(progress),
        "rows": rows,
        "remaining": sum(mail.step not in (Step.DELETED, Step.GONE) for mail in progress.mail.values()),
        "journal": {
            "entries": len(reading.entries),
            "sum": reading.sum,
            "intact": reading.broken is None,
            "broken_at": reading.broken,
        },
        "digest": _digest(plan, progress),
    }


def status(said: Mapping[str, Any]) -> int:
    """Return the exit status that a report stands for: 0 all well, 3 stopped, 4 partial, 130 interrupted."""
    ending = said["ended"][-1]["ending"] if said["ended"] else "broken"
    if ending == "interrupted":
        return 130
    if ending == "stopped":
        return 3
    good = {became.value for became in GOOD}
    return 0 if ending == "done" and set(said["counts"]) <= good else 4


def _row(mail: Mail) -> dict[str, Any]:
    planned = mail.planned
    return {
        "id": planned.id,
        "new_id": mail.new_id,
        "operation": planned.operation,
        "tenant": planned.tenant,
        "sha256": planned.sha256,
        "before": {
            "state": planned.state,
            "code": planned.code,
            "attempts": planned.attempts,
            "version": planned.version,
            "verdict": planned.verdict,
        },
        "after": {"state": mail.state, "code": mail.code, "attempts": mail.attempts, "version": mail.version},
        "outcome": fate(mail),
        "canary": mail.canary,
        "moved_at": mail.sent_at,
        "why": mail.why,
    }


def _by_code(progress: Progress) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for mail in progress.mail.values():
        found.setdefault(mail.planned.code or "–", Counter())[fate(mail)] += 1
    return {code: dict(counts) for code, counts in sorted(found.items())}


def _digest(plan: Plan, progress: Progress) -> str:
    came_to = sorted([mail.planned.id, fate(mail)] for mail in progress.mail.values())
    return hashlib.sha256(canonical([plan.digest, came_to]).encode()).hexdigest()
