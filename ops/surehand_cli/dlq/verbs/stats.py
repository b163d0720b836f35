"""`surehand dlq stats`: how many letters failed with what, whose, under which version."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.foreign import foreign
from surehand_cli.dlq.known import Known
from surehand_cli.dlq.lines import told
from surehand_cli.dlq.reading import Fresh, Source, letters_of
from surehand_cli.terminal.counting import counted
from surehand_cli.terminal.output import Output

#: More different groups than this are counted together, so that a million tenants fit into memory.
_GROUPS = 2_000


class By(StrEnum):
    """What letters are counted by."""

    CODE = "code"
    CLASS = "class"
    TENANT = "tenant"
    VERSION = "version"
    STATE = "state"


@dataclass(slots=True)
class _Group:
    count: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    verdicts: Counter[str] = field(default_factory=Counter)

    def add(self, known: Known, verdict: str) -> None:
        sent = known.letter.sent_at
        self.count += 1
        self.oldest = min(sent, self.oldest or sent)
        self.newest = max(sent, self.newest or sent)
        self.verdicts[verdict] += 1


@located
def stats(
    place: Place,
    output: Output,
    source: Source,
    *,
    by: Annotated[
        list[By] | None, typer.Option(help="Count by this; repeatable. Default: code, tenant, version.")
    ] = None,
    fresh: Fresh = False,
) -> None:
    """Count letters by failure code, tenant and version, with what a redrive of each group would come to.

    Example: [bold]surehand dlq stats orders --by code[/bold]
    """
    chosen = by or [By.CODE, By.TENANT, By.VERSION]
    letters = letters_of(place, output, source, fresh=fresh)
    groups: dict[tuple[str | None, ...], _Group] = {}
    for known in letters.known():
        key = tuple(_value(known, one) for one in chosen)
        if key not in groups and len(groups) >= _GROUPS:
            key = ("(others)",) * len(chosen)
        verdict = told(known, foreign(known.letter, served=letters.served))
        groups.setdefault(key, _Group()).add(known, verdict)
    ordered = sorted(groups.items(), key=lambda one: -one[1].count)
    for key, group in ordered:
        named = dict(zip((one.value for one in chosen), key, strict=True))
        output.line(
            {**named, "letters": group.count, "oldest": group.oldest, "newest": group.newest, "redrive": group.verdicts}
        )
    output.table(
        (*(one.value for one in chosen), "letters", "oldest", "newest", "a redrive"),
        ((*key, group.count, group.oldest, group.newest, _said(group.verdicts)) for key, group in ordered),
    )
    total = sum(group.count for group in groups.values())
    output.say(f"{counted(total, 'letter')} in {counted(len(groups), 'group')}.")


def _value(known: Known, by: By) -> str | None:
    if by is By.CODE:
        return known.code
    if by is By.CLASS:
        return known.failure_class
    if by is By.TENANT:
        return known.tenant
    if by is By.STATE:
        return known.state
    return known.operation.version if known.operation is not None else None


def _said(verdicts: Counter[str]) -> str:
    if len(verdicts) == 1:
        return next(iter(verdicts))
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common(4))
