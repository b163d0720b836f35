"""What every alarm means and what to do: the alarms' descriptions and docs/runbook.md both come from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .advice import Entry
from .advice_causes import CAUSES, SERVICE
from .advice_signals import SIGNALS

DEFAULT_PAGE = "docs/runbook.md"
_HEAD = """\
# Runbook

Generated from `infra/surehand_cdk/watch` by `python -m surehand_cdk.watch.runbook`; a test keeps it true. One heading
per alarm; each alarm's description links to its heading and carries the command.

In the commands, `STAGE` and `HANDLER` are the names of stage and handler, `FUNCTION` is `{service}-{stage}-{handler}`,
`QUEUE` and `DLQ` are its queues (`FUNCTION` and `FUNCTION-dlq`, with `.fifo` on FIFO), `TABLE` is
`{service}-{stage}-ledger`, `GROUP` is the schedule group, `INGRESS` is `{service}-{stage}-webhooks`, `UUID` is the
mapping's id.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names that commands are filled with; alarms of the whole service leave the handler's empty."""

    stage: str = ""
    handler: str = ""
    function: str = ""
    queue: str = ""
    dlq: str = ""
    table: str = ""
    mapping: str = ""
    group: str = ""
    ingress: str = ""

    def fill(self, text: str) -> str:
        """*text* with the names in their places."""
        return text.format_map({name: getattr(self, name) for name in self.__slots__})


def description(name: str, names: Names, *, page: str) -> str:
    """The text of alarm *name*: what it means, the exact command, and where the runbook goes on."""
    entry = ENTRIES[name]
    return f"{names.fill(entry.means)} Do: `{names.fill(entry.command)}`. Runbook: {page}#{name}"


ENTRIES: Mapping[str, Entry] = {**CAUSES, **SIGNALS, **SERVICE}


def document() -> str:
    """docs/runbook.md."""
    parts = [_HEAD]
    names = Names(
        stage="STAGE",
        handler="HANDLER",
        function="FUNCTION",
        queue="QUEUE",
        dlq="DLQ",
        table="TABLE",
        mapping="UUID",
        group="GROUP",
        ingress="INGRESS",
    )
    for title, entries in (
        ("Causes (these page)", CAUSES),
        ("Signals of a handler", SIGNALS),
        ("Signals of the service", SERVICE),
    ):
        parts.append(f"\n---\n\n*{title}*\n")
        parts.extend(_section(name, entry, names) for name, entry in entries.items())
    return "".join(parts)


def _section(name: str, entry: Entry, names: Names) -> str:
    fill = names.fill
    return (
        f"\n## {name}\n\n{fill(entry.means)}\n\n"
        f"* **See:** {fill(entry.see)}\n"
        f"* **Command:** `{fill(entry.command)}`\n"
        f"* **Then:** {fill(entry.then)}\n"
        f"* **Escalate when:** {fill(entry.escalate)}\n"
    )


if __name__ == "__main__":
    import sys

    sys.stdout.write(document())
