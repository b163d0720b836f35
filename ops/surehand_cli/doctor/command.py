"""`surehand doctor`: the command."""

from __future__ import annotations

from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.doctor.facts import gather
from surehand_cli.doctor.finding import Severity
from surehand_cli.doctor.rules import findings
from surehand_cli.inventory.contract import inventory
from surehand_cli.terminal.output import Output


@located
def doctor(
    place: Place,
    output: Output,
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
) -> None:
    """Compare a live account with the declarations. Reads only.

    Queues, dead-letter queues and who consumes them, functions and their variables, event source mappings, schedules,
    the ledger's table and TTL, alarms, versions, and letters near their expiry. Each finding says what to do.

    Exit status 0 if all is as declared, 1 if there is an error (with --strict: or a warning).

    Example: [bold]surehand doctor --stage prod --strict[/bold]
    """
    wanted = inventory(place.service, place.stage)
    found = sorted(findings(wanted, gather(place, wanted)), key=lambda one: list(Severity).index(one.severity))
    for one in found:
        output.line({"severity": one.severity.value, "resource": one.resource, "what": one.what, "fix": one.fix})
    output.table(
        ("", "resource", "what", "what to do"), ((one.severity.value, one.resource, one.what, one.fix) for one in found)
    )
    counts = {severity: sum(one.severity is severity for one in found) for severity in Severity}
    said = ", ".join(f"{count} {severity}s" for severity, count in counts.items() if count)
    output.say(f"{place.service.name} ({place.stage}): {said or 'all is as declared'}.")
    bad = counts[Severity.ERROR] + (counts[Severity.WARNING] if strict else 0)
    raise typer.Exit(1 if bad else 0)
