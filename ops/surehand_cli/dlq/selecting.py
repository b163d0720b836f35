"""The options by which letters are selected, declared once for all verbs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from surehand_cli.account.place import Place
from surehand_cli.dlq.selector import Selector
from surehand_cli.problem import Refusal
from surehand_cli.terminal.moments import HELP, moment

_PANEL = "Which letters (all must hold; repeat one for any of its values)"


def _option(name: str, says: str, **more: Any) -> Any:
    return typer.Option(name, help=says, rich_help_panel=_PANEL, **more)


_ADDED: dict[str, tuple[Any, Any]] = {
    "id": (Annotated[list[str] | None, _option("--id", "A message id, or A..B in the snapshot's order.")], None),
    "operation": (Annotated[list[str] | None, _option("--operation", "An operation id.")], None),
    "tenant": (Annotated[list[str] | None, _option("--tenant", "A tenant.")], None),
    "code": (Annotated[list[str] | None, _option("--code", "A failure code.")], None),
    "class": (
        Annotated[list[str] | None, _option("--class", "A failure class, such as provider, data, code, input.")],
        None,
    ),
    "version": (
        Annotated[list[str] | None, _option("--version", "The deployed version that failed it.")],
        None,
    ),
    "where": (
        Annotated[list[str] | None, _option("--where", "jmespath, such as 'body.amount > `100`'.")],
        None,
    ),
    "attempts": (Annotated[str | None, _option("--attempts", "A number, or >=3, <2, …")], None),
    "since": (Annotated[str | None, _option("--since", f"Sent since: {HELP}.")], None),
    "until": (Annotated[str | None, _option("--until", "Sent until.")], None),
    "dead_since": (Annotated[str | None, _option("--dead-since", "Failed for good since (by the ledger).")], None),
    "dead_until": (Annotated[str | None, _option("--dead-until", "Failed for good until.")], None),
    "limit": (Annotated[int | None, _option("--limit", "At most so many, in the snapshot's order.", min=1)], None),
    "all": (Annotated[bool, _option("--all", "Every letter. Must be said.")], False),
}


def selecting(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options above; its parameter *selector* is made of them."""
    signature = inspect.signature(verb, eval_str=True)
    own = [parameter for name, parameter in signature.parameters.items() if name != "selector"]
    added = [
        inspect.Parameter(
            name if name != "class" else "class_", inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default
        )
        for name, (kind, default) in _ADDED.items()
    ]

    @functools.wraps(verb)
    def selecting_verb(place: Place, *arguments: Any, **options: Any) -> None:
        given = {parameter.name: options.pop(parameter.name) for parameter in added}
        verb(place, *arguments, selector=_selector(place, given), **options)

    parameters = [*own, *added]
    selecting_verb.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    del selecting_verb.__wrapped__
    return selecting_verb


def named(selector: Selector) -> Selector:
    """Return the selector if it says which letters it means.

    Raises:
        Refusal: It says nothing.
    """
    if selector.empty:
        raise Refusal("nothing is selected; say which letters (--code, --tenant, --since, …) or --all")
    return selector


def _selector(place: Place, given: dict[str, Any]) -> Selector:
    now = place.waiting.now()
    return Selector(
        ids=tuple(given["id"] or ()),
        operations=tuple(given["operation"] or ()),
        tenants=tuple(given["tenant"] or ()),
        codes=tuple(given["code"] or ()),
        classes=tuple(given["class_"] or ()),
        versions=tuple(given["version"] or ()),
        where=tuple(given["where"] or ()),
        since=moment(given["since"], now=now),
        until=moment(given["until"], now=now),
        dead_since=moment(given["dead_since"], now=now),
        dead_until=moment(given["dead_until"], now=now),
        attempts=given["attempts"],
        limit=given["limit"],
        all=given["all"],
    )
