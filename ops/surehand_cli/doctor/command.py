"""`surehand doctor`: the command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.doctor.facts import Facts, Unknown, gather
from surehand_cli.doctor.finding import Severity, not_checked
from surehand_cli.doctor.rules import findings
from surehand_cli.inventory.contract import inventory
from surehand_cli.problem import Unchecked, Unreachable
from surehand_cli.terminal.counting import counted
from surehand_cli.terminal.output import Output


@located
def doctor(
    place: Place,
    output: Output,
    *,
    strict: Annotated[
        bool, typer.Option("--strict", help="Warnings, and what could not be checked, count as errors.")
    ] = False,
) -> None:
    """Compare a live account with the declarations. Reads only.

    Queues, dead-letter queues and who consumes them, functions and their variables, event source mappings, schedules,
    the ledger's table and TTL, alarms, versions, and letters near their expiry. Each finding says what to do.

    Exit status 0 if all is as declared; 1 if there is an error (with --strict: or a warning, or something that could
    not be checked); 3 if there is no verdict, since AWS cannot be reached, takes no credentials of ours, or lets us
    read less than half.

    Example: [bold]surehand doctor --stage prod --strict[/bold]
    """
    wanted = inventory(place.service, place.stage)
    facts = _gathered(place, wanted)
    asked = list(facts.each())
    unread = [fact for fact in asked if isinstance(fact, Unknown)]
    if len(unread) == len(asked):
        raise Unchecked(
            f"nothing could be checked: {not_checked('', unread[0]).what}; {not_checked('', unread[0]).fix}"
        )
    found = sorted(findings(wanted, facts), key=lambda one: list(Severity).index(one.severity))
    for one in found:
        output.line({"severity": one.severity.value, "resource": one.resource, "what": one.what, "fix": one.fix})
    output.table(
        ("", "resource", "what", "what to do"), ((one.severity.value, one.resource, one.what, one.fix) for one in found)
    )
    counts = {severity: sum(one.severity is severity for one in found) for severity in Severity}
    said = ", ".join(counted(count, severity.value) for severity, count in counts.items() if count)
    output.say(f"{place.service.name} ({place.stage}): {said or 'all is as declared'}.")
    if counts[Severity.ERROR] or (strict and found):
        raise typer.Exit(1)
    if 2 * len(unread) > len(asked):
        raise Unchecked(f"no verdict: {len(unread)} of {len(asked)} things could not be read")


def _gathered(place: Place, wanted: Mapping[str, Any]) -> Facts:
    try:
        return gather(place, wanted)
    except Unreachable as error:
        raise Unchecked(f"nothing could be checked: {error}") from error
