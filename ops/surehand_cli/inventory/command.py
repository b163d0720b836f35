"""`surehand inventory`: the command."""

from __future__ import annotations

import json as jsonlib
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from surehand_cli.account.options import Json, Stage
from surehand_cli.inventory.contract import inventory as made
from surehand_cli.project import find_project
from surehand_cli.terminal.moments import length
from surehand_cli.terminal.output import Output


def inventory(*, stage: Stage = "dev", json: Json = False) -> None:
    """Print what each handler consists of at run time. Needs no AWS account.

    With --json: one document with every name, number, variable and policy statement that follows from the
    declarations, for Terraform, SAM or Serverless (docs/adopting.md). [bold]{region}[/bold], [bold]{account}[/bold],
    [bold]{version}[/bold] and [bold]{bodies}[/bold] stand for what only a deployment knows.

    Example: [bold]surehand inventory --stage prod --json > inventory.json[/bold]
    """
    said = made(find_project(Path.cwd()).service(), stage)
    if json:
        sys.stdout.write(jsonlib.dumps(said, indent=1, ensure_ascii=False) + "\n")
        return
    output = Output()
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
        title=f"{said['service']} ({stage}): ledger {said['ledger']['table']}",
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


def _text(fields: object) -> str:
    return ", ".join(fields) if isinstance(fields, list) else str(fields or "–")
