"""docs/rules.md, written from the rules: ``python -m surehand_cdk.rules.document > docs/rules.md``."""

from __future__ import annotations

import sys

from .catalogue import CHAPTERS, RULES
from .rule import Level, Rule, Scope

_HEAD = """\
# Infra rules

Generated from `infra/surehand_cdk/rules` by `python -m surehand_cdk.rules.document`; a test keeps it true.

{count} rules are checked at the end of every synthesis, on the templates. They are plain Python over JSON, so they also
guard stacks that were written by hand. One line applies them:

```python
from aws_cdk import Validations
from surehand_cdk.rules import SurehandRules

Validations.of(app).add_plugins(SurehandRules())
```

* **What is followed:** `Ref`, `Fn::GetAtt`, `Fn::Join`, `Fn::Sub`, aliases and versions, ARNs and physical names,
  exports, stack outputs, nested stacks with their parameters and outputs. What only a deployment knows is reported as
  *not checkable*, at level warning, and never passed in silence.
* **Whose resources:** a rule marked *surehand* reads only what belongs to a handler of ours: functions with a
  `SUREHAND_HANDLER` or `SUREHAND_SERVICE` variable, and their queues, dead-letter queues, mappings, ledger, roles,
  schedules, API and alarms. A rule marked *any* reads every resource of its kind. Violations by your own resources
  beside ours are warnings (`SurehandRules(unmarked="refuse")` makes them errors, `"ignore"` leaves them out). In an
  app without any handler of ours they are errors: that is what the pack was applied for.
* **Levels:** an *error* stops the synthesis, a *warning* is printed.
* **To acknowledge** one, with its reason:

```python
from surehand_cdk.rules import acknowledge

acknowledge(shop[charge_order].queue, "Q06", "a failed charge is worthless after an hour")
```

  In a template written by hand, on the resource:
  `Metadata: {{surehand: {{acknowledged: {{Q06: "a failed charge is worthless after an hour"}}}}}}`.
"""


def document() -> str:
    """The whole page."""
    parts = [_HEAD.format(count=len(RULES))]
    for chapter, rules in CHAPTERS:
        parts.append(f"\n## {chapter}\n")
        parts.extend(_entry(rule) for rule in rules)
    return "".join(parts)


def _entry(rule: Rule) -> str:
    level = "error" if rule.level is Level.ERROR else "warning"
    scope = "surehand" if rule.scope is Scope.SUREHAND else "any"
    source = f"[source]({rule.source})" if rule.source.startswith("http") else f"source: {rule.source}"
    return (
        f"\n### {rule.id}\n\n**{rule.title}** · {level} · {scope}\n\n"
        f"* Why: {rule.why}.\n* Fix: {rule.fix}.\n* Acknowledge: `{rule.acknowledge_id}` · {source}\n"
    )


if __name__ == "__main__":
    sys.stdout.write(document())
