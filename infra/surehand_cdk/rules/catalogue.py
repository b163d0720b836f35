"""All rules, in the order of the report and of docs/rules.md."""

from __future__ import annotations

from . import (
    alarms,
    batches,
    blind_spots,
    concurrency,
    coverage,
    dead_letters,
    encryption,
    environment,
    functions,
    ingress,
    ledger,
    mapping,
    permissions,
    production,
    receives,
    retention,
    schedule_roles,
    schedules,
    visibility,
)
from .rule import Rule

CHAPTERS: tuple[tuple[str, tuple[Rule, ...]], ...] = (
    ("Visibility", visibility.RULES),
    ("Event source mapping", mapping.RULES),
    ("Receives", receives.RULES),
    ("Batches", batches.RULES),
    ("Concurrency", concurrency.RULES),
    ("Dead letters", dead_letters.RULES),
    ("Retention", retention.RULES),
    ("Encryption", encryption.RULES),
    ("Schedules", (*schedules.RULES, *schedule_roles.RULES)),
    ("Ledger", ledger.RULES),
    ("Production", production.RULES),
    ("Webhooks", ingress.RULES),
    ("Functions", functions.RULES),
    ("Environment", environment.RULES),
    ("Permissions", permissions.RULES),
    ("Alarms", (*coverage.RULES, *alarms.RULES)),
    ("Blind spots", blind_spots.RULES),
)

RULES: tuple[Rule, ...] = tuple(rule for _, rules in CHAPTERS for rule in rules)
BY_ID = {rule.id: rule for rule in RULES}
