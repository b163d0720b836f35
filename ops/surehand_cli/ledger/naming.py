"""How an operation is named on the command line: by its id, or by handler and key."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Annotated

import typer

from surehand import Service
from surehand.declare import operation_id
from surehand.ledger import Ledger, Operation
from surehand_cli.problem import Problem

Words = Annotated[
    list[str],
    typer.Argument(
        metavar="OPERATION", help='An operation id (\'["orders",null,["o-17"]]\'), or handler and key: orders o-17.'
    ),
]
Tenant = Annotated[str | None, typer.Option("--tenant", help="The tenant, where the handler declares one.")]


def named(words: Sequence[str], tenant: str | None, *, service: Service) -> list[str]:
    """Return the ids that these words may mean, the likeliest first.

    A key part such as 17 may be text or a number in the payload; both are candidates.

    Raises:
        Problem: The id is no JSON array, or the handler is unknown.
    """
    if len(words) == 1 and words[0].startswith("["):
        try:
            handler = json.loads(words[0])[0]
        except (ValueError, LookupError):
            raise Problem(f"{words[0]!r} is no operation id; it is a JSON array of handler, tenant and key") from None
        _known(str(handler), service)
        return [words[0]]
    _known(words[0], service)
    if len(words) < 2:
        raise Problem(f"name the operation's key after {words[0]!r}, or give the whole id")
    readings = [_readings(word) for word in words[1:]]
    return [operation_id(words[0], tenant, parts) for parts in itertools.islice(itertools.product(*readings), 64)]


def found(ledger: Ledger, ids: Sequence[str]) -> tuple[str, Operation | None]:
    """Return the first of these ids that the ledger knows, with its operation; else the first one and None.

    Raises:
        LedgerUnavailable: It could not be read.
    """
    known = ledger.read(ids)
    chosen = next((one for one in ids if one in known), ids[0])
    return chosen, known.get(chosen)


def parts(operation: str) -> tuple[str, str | None]:
    """Return handler and tenant of an operation id."""
    handler, tenant, _ = json.loads(operation)
    return str(handler), tenant


def _readings(word: str) -> list[str | int | bool]:
    try:
        value = json.loads(word)
    except ValueError:
        return [word]
    return [word, value] if isinstance(value, int) else [word]


def _known(handler: str, service: Service) -> None:
    names = [one.name for one in service.handlers]
    if handler not in names:
        raise Problem(f"service '{service.name}' has no handler '{handler}', only {', '.join(names)}")
