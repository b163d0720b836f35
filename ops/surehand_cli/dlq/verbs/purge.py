"""`surehand dlq purge`: delete letters."""

from __future__ import annotations

from typing import Annotated

import typer

from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.dlq.confirming import confirm
from surehand_cli.dlq.folder import Folder, begun
from surehand_cli.dlq.letter import to_json
from surehand_cli.dlq.pace import rate_of
from surehand_cli.dlq.plan import Plan, canonical
from surehand_cli.dlq.planning import Wanted, make_plan
from surehand_cli.dlq.preparing import Confirm, Despite, Rate, Reason, check, run_options, show
from surehand_cli.dlq.queue import dead_letter_queue
from surehand_cli.dlq.reading import Fresh, Letters, Source, letters_of
from surehand_cli.dlq.running import execute
from surehand_cli.dlq.selecting import named, selecting
from surehand_cli.dlq.selector import Selector
from surehand_cli.dlq.snapshot import private
from surehand_cli.terminal.output import Output


@located
@selecting
def purge(
    place: Place,
    output: Output,
    source: Source,
    *,
    selector: Selector,
    go: Annotated[bool, typer.Option("--execute", help="Delete letters. Without this nothing changes.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep/--no-keep", help="Keep a copy of each letter beside the journal.")
    ] = True,
    reason: Reason = None,
    phrase: Confirm = None,
    rate: Rate = "50/s",
    despite: Despite = None,
    fresh: Fresh = False,
) -> None:
    """Delete letters for good. A copy of each stays in the run's folder (letters.jsonl), unless --no-keep.

    Their operations stay as the ledger has them; [bold]surehand ledger cancel[/bold] ends those.

    Example: [bold]surehand dlq purge orders --code input.schema --execute --reason 'test data' --confirm 'purge 37 from
    shop-prod-orders-dlq'[/bold]
    """
    letters = letters_of(place, output, source, fresh=fresh)
    dead = dead_letter_queue(place, str(letters.snapshot.header["url"]))
    wanted = Wanted(action="purge", selector=named(selector), options=run_options(rate=rate_of(rate), patience=None))
    plan = make_plan(place, dead, letters, wanted)
    show(output, plan)
    if not plan.letters:
        raise typer.Exit(2)
    check(place, output, plan, despite=despite or (), strict=go)
    if not go:
        output.say("Changes made: none. Add --execute --reason '…' to delete them.")
        return
    why = confirm(output, plan, reason=reason, yes=False, phrase=phrase)
    folder = begun(place, plan)
    if keep:
        _keep(folder, letters, plan)
    status, _ = execute(place, output, folder, plan, reason=why, resume=False)
    raise typer.Exit(status)


def _keep(folder: Folder, letters: Letters, plan: Plan) -> None:
    meant = {one.id for one in plan.letters}
    with open(folder.path / "letters.jsonl", "w", encoding="utf-8", opener=private) as file:
        for letter, _ in letters.snapshot.letters():
            if letter.message_id in meant:
                file.write(canonical(to_json(letter)) + "\n")
