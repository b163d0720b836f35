"""`surehand dlq show`: one letter and its operation's history."""

from __future__ import annotations

from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.foreign import foreign
from surehand_cli.dlq.letter import strings
from surehand_cli.dlq.lines import record
from surehand_cli.dlq.reading import Fresh, Source, letters_of
from surehand_cli.dlq.redaction import outline
from surehand_cli.ledger.timeline import standing, timeline
from surehand_cli.terminal.output import Output, shown


@located
def show(
    place: Place,
    output: Output,
    source: Source,
    message_id: Annotated[str, typer.Argument(metavar="ID", help="The message id, or its beginning.")],
    *,
    body: Annotated[bool, typer.Option("--body", help="Print the body and attributes as they are.")] = False,
    fresh: Fresh = False,
) -> None:
    """Show one letter: what the ledger knows, its history, and the outline of its body (all of it with --body).

    Example: [bold]surehand dlq show orders 1f3c --body[/bold]
    """
    letters = letters_of(place, output, source, fresh=fresh)
    known = next((one for one in letters.known() if one.letter.message_id.startswith(message_id)), None)
    if known is None:
        output.say(f"No letter {message_id} in {letters.snapshot.path}.")
        raise typer.Exit(2)
    said = record(known, served=letters.served)
    attributes = strings(known.letter) if body else dict.fromkeys(known.letter.attributes, "<…>")
    history = list(timeline(known.operation)) if known.operation is not None else []
    output.line(
        {
            **said,
            "attributes": attributes,
            "body": known.letter.body if body else None,
            "history": [{"at": line.at, "state": line.state, "code": line.code, "note": line.note} for line in history],
        }
    )
    for name, value in said.items():
        if value is not None:
            output.text(f"{name:14} {shown(value)}")
    if known.operation is not None:
        output.text(f"\n{standing(known.operation, place.waiting.now())}")
        output.table(
            ("at", "state", "attempt", "code", "message", "note"),
            ((line.at, line.state, line.attempt, line.code, line.message_id, line.note) for line in history),
        )
    if attributes:
        output.text(f"\nattributes     {', '.join(f'{name}={value}' for name, value in attributes.items())}")
    if known.letter.body is None:
        output.text("\n(the snapshot was taken without bodies)")
    else:
        output.text("\n" + (known.letter.body if body else outline(known.letter.body)))
    if (who := foreign(known.letter, served=letters.served)) is not None:
        output.say(who.explanation + ".")
