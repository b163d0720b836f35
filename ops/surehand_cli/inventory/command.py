"""`surehand inventory`: the command."""

from __future__ import annotations

import json as jsonlib
import sys
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from surehand import Handler
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.backfill.ticks import next_tick, none_left
from surehand_cli.inventory.contract import inventory as made
from surehand_cli.inventory.live import with_ticks
from surehand_cli.terminal.moments import length
from surehand_cli.terminal.output import Output, plain


@located
def inventory(
    place: Place,
    output: Output,
    *,
    live: Annotated[
        bool, typer.Option("--live", help="Also the next ticks, and the last ones from the ledger if it can be read.")
    ] = False,
) -> None:
    """Print what each handler consists of at run time. Needs no AWS account.

    With --json: one document with every name, number, variable and policy statement that follows from the
    declarations, for Terraform, SAM or Serverless (docs/adopting.md). [bold]{region}[/bold], [bold]{account}[/bold],
    [bold]{version}[/bold] and [bold]{bodies}[/bold] stand for what only a deployment knows.

    Example: [bold]surehand inventory --stage prod --json > inventory.json[/bold]
    """
    now = place.waiting.now()
    said = made(place.service, place.stage)
    if live:
        said = with_ticks(said, place, now=now)
        if said["live"]["problem"] is not None:
            output.say(f"The last ticks are not known: {said['live']['problem']}")
    if output.json:
        sys.stdout.write(jsonlib.dumps(said, indent=1, ensure_ascii=False, default=plain) + "\n")
        return
    output.table(
        (
            "handler",
            "trigger",
            "order",
            "key",
            "tenant",
            "attempts",
            "timeout",
            "visibility",
            "receives",
            "dead letters",
        ),
        (_row(handler) for handler in said["handlers"]),
        title=f"{said['service']} ({place.stage}): ledger {said['ledger']['table']}",
    )
    timed = {handler.name: handler for handler in place.service.handlers if handler.options.timing is not None}
    if timed:
        output.text("")
        output.table(
            ("schedule", "expression", "zone", "next tick", *(("last tick", "standing", "ended") if live else ())),
            (
                _ticks(timed[one["name"]], one["trigger"], now=now, live=live)
                for one in said["handlers"]
                if one["name"] in timed
            ),
        )


def _row(handler: dict[str, Any]) -> tuple[object, ...]:
    return (
        handler["name"],
        handler["trigger"]["kind"],
        "by group" if handler["queue"]["fifo"] else "–",
        _text(handler["identity"]["key"]),
        _text(handler["identity"]["tenant"]),
        handler["delivery"]["max_attempts"],
        length(timedelta(seconds=handler["function"]["timeout_seconds"])),
        length(timedelta(seconds=handler["queue"]["visibility_timeout_seconds"])),
        handler["queue"]["max_receive_count"],
        handler["dead_letters"]["name"],
    )


def _ticks(handler: Handler[Any], trigger: dict[str, Any], *, now: datetime, live: bool) -> tuple[object, ...]:
    following = next_tick(handler, now)
    known = (handler.name, trigger["expression"], trigger["timezone"], following or none_left(handler))
    if not live:
        return known
    last = trigger["ticks"]["last"] or {}
    tick = datetime.fromisoformat(last["tick"]) if last else None
    return (*known, tick, last.get("standing"), last.get("ended"))


def _text(fields: object) -> str:
    return ", ".join(fields) if isinstance(fields, list) else str(fields or "–")
