"""`surehand ledger list`: operations by handler, state, tenant, code and time."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from surehand.aws.listing import Page, Wish
from surehand.ledger.stuck import changed_at
from surehand.states import State
from surehand_cli.account.options import located
from surehand_cli.account.place import Place
from surehand_cli.ledger.timeline import record
from surehand_cli.problem import Problem
from surehand_cli.terminal.moments import HELP, moment
from surehand_cli.terminal.output import Output


@located
def list_operations(
    place: Place,
    output: Output,
    *,
    handler: Annotated[str | None, typer.Option(help="Of this handler.")] = None,
    state: Annotated[State | None, typer.Option(help="In this state.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Of this tenant.")] = None,
    code: Annotated[str | None, typer.Option(help="With this failure code; provider.* means a class.")] = None,
    since: Annotated[str | None, typer.Option(help=f"Changed since: {HELP}.")] = None,
    until: Annotated[str | None, typer.Option(help=f"Changed until: {HELP}.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    scan: Annotated[int, typer.Option(min=1, help="Read at most about so many items for it.")] = 10_000,
    after: Annotated[str | None, typer.Option(help="Go on where the last page ended, as it said.")] = None,
) -> None:
    """List operations.

    Without --state it lists what needs attention (failed, held, dead-lettered), handler by handler, from the sparse
    index, which reads nothing else. Other states take a Scan of the table: it reads every item, so --scan bounds it.

    Example: [bold]surehand ledger list --handler orders --code 'provider.*' --since 12h[/bold]
    """
    now = place.waiting.now()
    names = [one.name for one in place.service.handlers]
    if handler is not None and handler not in names:
        raise Problem(f"service '{place.service.name}' has no handler '{handler}', only {', '.join(names)}")
    wish = Wish(
        handler=handler,
        state=state,
        tenant=tenant,
        code=code,
        since=moment(since, now=now),
        until=moment(until, now=now),
    )
    rows: list[tuple[object, ...]] = []
    end: Page | None = None
    place_in_list = None
    for one, page in _pages(place, wish, names, limit=limit, scan=scan, after=_place(after)):
        end, place_in_list = page, one
        for operation in page.operations:
            output.line(record(operation))
            rows.append(
                (operation.id, operation.state.value, operation.attempts, operation.code, changed_at(operation))
            )
    output.table(("operation", "state", "attempts", "code", "since"), rows)
    output.say(_ending(len(rows), end, place_in_list))


def _pages(
    place: Place, wish: Wish, names: list[str], *, limit: int, scan: int, after: tuple[str | None, Any]
) -> Iterator[tuple[str | None, Page]]:
    """Yield page by page: one listing, or without handler and state one for each handler's index partition."""
    from dataclasses import replace

    each = [wish]
    if wish.handler is None and (wish.state is None or wish.state in (State.PERMANENTLY_FAILED, State.DEAD_LETTERED)):
        each = [replace(wish, handler=name) for name in names]
    start, key = after
    if start is not None:
        each = [one for one in each if one.handler is None or names.index(one.handler) >= names.index(start)]
    for one in each:
        begin = key if one.handler == start or (start is None and len(each) == 1) else None
        page = place.listing.page(one, limit=limit, most=scan, after=begin)
        yield one.handler, page
        limit -= len(page.operations)
        scan -= page.read
        if page.after is not None or limit <= 0 or scan <= 0:
            return


def _ending(count: int, page: Page | None, handler: str | None) -> str:
    if page is None or page.after is None:
        return f"{count} operations; that is all."
    token = base64.urlsafe_b64encode(json.dumps([handler, page.after]).encode()).decode()
    return f"{count} operations so far. More: repeat the command with --after {token}"


def _place(token: str | None) -> tuple[str | None, Mapping[str, Any] | None]:
    if token is None:
        return None, None
    try:
        handler, key = json.loads(base64.urlsafe_b64decode(token))
    except ValueError:
        raise Problem("--after takes what the last page said, unchanged") from None
    return handler, key
