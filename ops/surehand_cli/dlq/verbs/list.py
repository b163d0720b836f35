"""`surehand dlq list`: letters, one line each."""

from __future__ import annotations

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.lines import COLUMNS, record, row
from surehand_cli.dlq.reading import Fresh, Source, letters_of
from surehand_cli.dlq.selecting import selecting
from surehand_cli.dlq.selector import Selection, Selector
from surehand_cli.terminal.counting import counted
from surehand_cli.terminal.output import Output

#: A table of more rows is of no use to a person and would be held in memory; `--json` has no such bound.
_ROWS = 1_000


@located
@selecting
def list_letters(place: Place, output: Output, source: Source, *, selector: Selector, fresh: Fresh = False) -> None:
    """List letters with what the ledger knows of them. Without a selection it lists all. Bodies are not shown.

    Example: [bold]surehand dlq list orders --class provider --tenant acme[/bold]
    """
    letters = letters_of(place, output, source, fresh=fresh)
    selection = Selection(selector)
    rows: list[tuple[object, ...]] = []
    count = 0
    for known in letters.known():
        if not selection.takes(known):
            continue
        count += 1
        output.line(record(known, served=letters.served))
        if not output.json and len(rows) < _ROWS:
            rows.append(row(known, served=letters.served))
    output.table(COLUMNS, rows)
    output.say(
        f"{counted(count, 'letter')}." + (f" The table ends after {_ROWS}; --json has all." if count > _ROWS else "")
    )
