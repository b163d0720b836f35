"""The last question before letters move."""

from __future__ import annotations

import sys

from rich.prompt import Prompt

from surehand_cli.dlq.plan import Plan
from surehand_cli.problem import Refusal
from surehand_cli.terminal.output import Output

#: Stages on which a run must be confirmed.
GUARDED = frozenset({"prod", "production", "live"})


def confirm(output: Output, plan: Plan, *, reason: str | None, yes: bool, phrase: str | None) -> str:
    """Return the reason if the run is confirmed.

    A purge needs its phrase on every stage, a guarded stage needs it or `--yes`. In a terminal it can be typed.

    Raises:
        Refusal: No reason is given, or it is not confirmed.
    """
    if not (reason and reason.strip()):
        raise Refusal("--execute needs --reason: it stands in the evidence")
    wanted = f"{plan.action} {len(plan.letters)} from {plan.name}"
    guarded = plan.stage in GUARDED
    if plan.action != "purge" and (not guarded or yes):
        return reason.strip()
    if phrase is None and sys.stdin.isatty():
        phrase = Prompt.ask(f'Type "{wanted}" to go on', console=output.console)
    if phrase != wanted:
        instead = "" if plan.action == "purge" else " (or --yes)"
        raise Refusal(f'not confirmed; add --confirm "{wanted}"{instead}')
    return reason.strip()
