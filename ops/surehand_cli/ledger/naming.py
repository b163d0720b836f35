"""How an operation is named on the command line: by its id, or by handler and key."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

import typer
from pydantic import TypeAdapter, ValidationError

from surehand import Handler, Service
from surehand.declare import NoKey, operation_id
from surehand.declare.identity import PayloadHash, Scalar, parts_from
from surehand.declare.naming import types_at
from surehand.declare.payload import named as named_type
from surehand.ledger import Ledger, Operation
from surehand_cli.problem import Problem, Refusal

Words = Annotated[
    list[str],
    typer.Argument(
        metavar="OPERATION", help='An operation id (\'["orders",null,["o-17"]]\'), or handler and key: orders o-17.'
    ),
]
#: Types whose values stand in an id in one way only.
_PLAIN = (str, int, UUID, Decimal, date)

Tenant = Annotated[str | None, typer.Option("--tenant", help="The tenant, where the handler declares one.")]


def named(words: Sequence[str], tenant: str | None, *, service: Service) -> list[str]:
    """Return the ids that these words may mean, the likeliest first.

    A key part such as 17 may be text or a number in the payload. The type of the key's field says which; where it does
    not, both are candidates.

    Raises:
        Problem: The id is no JSON array, the handler is unknown, or these are not the parts of its key.
    """
    if len(words) == 1 and words[0].startswith("["):
        try:
            handler = json.loads(words[0])[0]
        except (ValueError, LookupError):
            raise Problem(f"{words[0]!r} is no operation id; it is a JSON array of handler, tenant and key") from None
        _known(str(handler), service)
        return [words[0]]
    declared = _known(words[0], service)
    if len(words) < 2:
        raise Problem(f"name the operation's key after {words[0]!r}, or give the whole id")
    readings = _all_readings(declared, words[1:])
    return [operation_id(words[0], tenant, parts) for parts in itertools.islice(itertools.product(*readings), 64)]


def found(ledger: Ledger, ids: Sequence[str]) -> tuple[str, Operation | None]:
    """Return the first of these ids that the ledger knows, with its operation; else the first one and None.

    Raises:
        LedgerUnavailable: It could not be read.
    """
    known = ledger.read(ids)
    chosen = next((one for one in ids if one in known), ids[0])
    return chosen, known.get(chosen)


def meant(ledger: Ledger, ids: Sequence[str]) -> tuple[str, Operation | None]:
    """Return the one of these ids that a write is meant for, with its operation.

    Raises:
        Refusal: It may be several: a write to the wrong one would leave the other as it is.
        LedgerUnavailable: It could not be read.
    """
    known = ledger.read(ids)
    likely = [one for one in ids if one in known] or list(ids)
    if len(likely) > 1:
        knows = "more than one" if known else "none"
        raise Refusal(f"the ledger knows {knows} of {' and '.join(likely)}; give the whole id of the one you mean")
    return likely[0], known.get(likely[0])


def parts(operation: str) -> tuple[str, str | None]:
    """Return handler and tenant of an operation id."""
    handler, tenant, _ = json.loads(operation)
    return str(handler), tenant


def _all_readings(handler: Handler[Any], words: Sequence[str]) -> list[list[Scalar]]:
    key = handler.options.key
    if isinstance(key, PayloadHash) or key is None or handler.trigger == "schedule":
        return [[word] for word in words]
    if callable(key):
        return [_readings(word) for word in words]
    fields = (key,) if isinstance(key, str) else tuple(key)
    if len(fields) != len(words):
        raise Problem(f"the key of '{handler.name}' is {', '.join(fields)}: {len(fields)} values, not {len(words)}")
    return [
        _of_type(word, types_at(handler.payload.annotation, field), field)
        for word, field in zip(words, fields, strict=True)
    ]


def _of_type(word: str, types: Sequence[Any] | None, field: str) -> list[Scalar]:
    """Return as what a word stands in the id if a field of these types has it; all readings where no type decides."""
    if types is None or not all(isinstance(one, type) and issubclass(one, _PLAIN) for one in types):
        return _readings(word)
    readings: list[Scalar] = []
    for one in types:
        with suppress(ValidationError, NoKey):
            (part,) = parts_from(TypeAdapter(one).validate_strings, word)
            if not any(part == other and type(part) is type(other) for other in readings):
                readings.append(part)
    if not readings:
        raise Problem(f"{word!r} is no value of the key's field '{field}' ({', '.join(map(named_type, types))})")
    return readings


def _readings(word: str) -> list[Scalar]:
    try:
        value = json.loads(word)
    except ValueError:
        return [word]
    return [word, value] if isinstance(value, int) else [word]


def _known(handler: str, service: Service) -> Handler[Any]:
    names = {one.name: one for one in service.handlers}
    if handler not in names:
        raise Problem(f"service '{service.name}' has no handler '{handler}', only {', '.join(names)}")
    return names[handler]
