"""`surehand dlq export`: letters as files, to keep or to look at with other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.letter import to_json
from surehand_cli.dlq.lines import record
from surehand_cli.dlq.reading import Fresh, Source, letters_of
from surehand_cli.dlq.selecting import named, selecting
from surehand_cli.dlq.selector import Selection, Selector
from surehand_cli.dlq.snapshot import private
from surehand_cli.problem import Problem
from surehand_cli.terminal.counting import counted
from surehand_cli.terminal.output import Output


@located
@selecting
def export(
    place: Place,
    output: Output,
    source: Source,
    *,
    folder: Annotated[Path, typer.Option("--output", "-o", help="A new folder for the files.")],
    selector: Selector,
    fresh: Fresh = False,
) -> None:
    """Write letters to a folder: ID.json with everything that is known, ID.body with the body as it was sent.

    Bodies may hold personal data: the files are readable by you alone.

    Example: [bold]surehand dlq export orders --code data.address -o letters/[/bold]
    """
    selection = Selection(named(selector))
    letters = letters_of(place, output, source, fresh=fresh)
    try:
        folder.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise Problem(f"{folder} cannot be made: {error.strerror}") from error
    count = 0
    for known in letters.known():
        if not selection.takes(known):
            continue
        count += 1
        said = {**record(known, served=letters.served), "message": to_json(known.letter, bodies=False)}
        _write(folder / f"{known.letter.message_id}.json", json.dumps(said, default=str, indent=1))
        if known.letter.body is not None:
            _write(folder / f"{known.letter.message_id}.body", known.letter.body)
        output.line({"id": known.letter.message_id, "file": str(folder / f"{known.letter.message_id}.json")})
    output.say(f"{counted(count, 'letter')} → {folder}")
    raise typer.Exit(0 if count else 2)


def _write(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogatepass", opener=private) as file:
        file.write(text)
