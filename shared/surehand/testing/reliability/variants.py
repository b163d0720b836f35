"""From one sample payload others that differ in what matters: another key, another tenant, other content.

Found by changing one leaf of the sample's JSON at a time and asking the declaration what came of it, so that key
functions, dotted fields and validators of any kind are respected.
"""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from surehand.declare import Handler, Identity

#: How many neighbours of the sample a batch gets.
NEIGHBOURS = 4


@dataclass(frozen=True, slots=True)
class Variants:
    """Payloads beside the sample. Empty or None where the declaration and the sample allow none.

    *neighbours* are other work of the same tenant (and, on FIFO, of the same group if there are such); *elsewhere* is
    the same key for another tenant; *changed* is the same operation with other content.
    """

    sample: Any
    neighbours: tuple[Any, ...] = ()
    elsewhere: Any | None = None
    changed: Any | None = None


def variants(handler: Handler[Any], sample: Any) -> Variants:
    """Find the variants of *sample*.

    Raises:
        NotValid, NoKey: The sample itself does not fit the handler.
    """
    body = json.loads(handler.payload.dump(sample))
    mine = _identity(handler, body)
    if mine is None:
        handler.first_job(sample)  # raises what is wrong with it
        raise ValueError(f"the sample of '{handler.name}' names no operation")
    neighbours: dict[str, tuple[Any, bool]] = {}
    elsewhere = changed = None
    for candidate in _changed_bodies(body):
        other = _identity(handler, candidate)
        if other is None:
            continue
        payload = handler.payload.validate(json.dumps(candidate))
        if other.operation == mine.operation:
            if changed is None and not set(other.fingerprints) & set(mine.fingerprints):
                changed = payload
        elif other.tenant != mine.tenant:
            elsewhere = payload if elsewhere is None else elsewhere
        else:
            neighbours.setdefault(other.operation, (payload, other.group == mine.group))
    near = sorted(neighbours.values(), key=lambda found: not found[1])
    return Variants(sample, tuple(payload for payload, _ in near[:NEIGHBOURS]), elsewhere, changed)


def _identity(handler: Handler[Any], body: Any) -> Identity | None:
    text = json.dumps(body)
    try:
        return handler.identify(handler.payload.validate(text), text)
    except Exception:  # noqa: BLE001 - a change that the payload type or the key refuses is simply none
        return None


def _changed_bodies(body: Any) -> Iterator[Any]:
    for path in _leaves(body):
        for step in range(1, NEIGHBOURS + 1):
            for value in _other_values(_at(body, path), step):
                candidate = copy.deepcopy(body)
                if not path:
                    candidate = value
                else:
                    _at(candidate, path[:-1])[path[-1]] = value
                yield candidate


def _leaves(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(body, dict):
        for name, value in body.items():
            yield from _leaves(value, (*path, name))
    elif isinstance(body, list) and body:
        for index, value in enumerate(body):
            yield from _leaves(value, (*path, index))
    else:
        yield path


def _at(body: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        body = body[step]
    return body


def _other_values(value: Any, step: int) -> Iterator[Any]:
    """Other values of the same kind, near the old one."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + step
        yield value - step
    elif isinstance(value, str):
        yield from _other_texts(value, step)


def _other_texts(text: str, step: int) -> Iterator[str]:
    if (identifier := _parsed(uuid.UUID, text)) is not None:
        yield str(uuid.UUID(int=identifier.int ^ step))
    if (moment := _parsed(datetime.fromisoformat, text)) is not None:
        yield (moment + timedelta(days=step)).isoformat()
    if (day := _parsed(date.fromisoformat, text)) is not None:
        yield (day + timedelta(days=step)).isoformat()
    if text[-1:].isdigit():
        yield text[:-1] + str((int(text[-1]) + step) % 10)
    yield f"{text}{step}"


def _parsed(parse: Any, text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None
