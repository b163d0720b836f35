"""What must hold before letters move: facts gathered read-only, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from surehand_cli.account.place import Place
from surehand_cli.dlq.move_tasks import active_task
from surehand_cli.dlq.queue import DeadLetterQueue, Queue

#: More of the letters in flight than this: somebody else is looking at them, or moving them.
_IN_FLIGHT = 0.2


class Check(StrEnum):
    """A check by its name, by which `--despite` leaves it out."""

    TYPE = "type"
    DESTINATION = "destination"
    TASK = "task"
    CONSUMER = "consumer"
    MAPPING = "mapping"
    IN_FLIGHT = "in-flight"


@dataclass(frozen=True, slots=True)
class Mapping:
    """An event source mapping: which function it feeds, and whether it is enabled."""

    function: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was found. None means that nobody could say."""

    dead: Queue
    destinations: tuple[Queue, ...]
    moves: bool
    task: str | None
    consumers: Sequence[Mapping] | None
    mappings: dict[str, Sequence[Mapping] | None]


@dataclass(frozen=True, slots=True)
class Objection:
    """Why letters should not move now."""

    check: Check
    text: str


def gather(place: Place, dead: DeadLetterQueue, destinations: Iterable[Queue], *, consumed: bool) -> Facts:
    """Gather the facts. *consumed*: the destinations must have a consumer.

    Raises:
        ClientError, BotoCoreError: SQS refused or could not be reached.
    """
    targets = tuple(destinations)
    return Facts(
        dead=dead.queue,
        destinations=targets,
        moves=bool(targets),
        task=active_task(place.account.client("sqs"), dead.queue.arn),
        consumers=_mappings(place, dead.queue.arn),
        mappings={queue.name: _mappings(place, queue.arn) for queue in targets} if consumed else {},
    )


def objections(facts: Facts) -> list[Objection]:
    """Return what speaks against moving letters."""
    dead = facts.dead
    found = [
        Objection(Check.TYPE, f"{queue.name} is {_kind(queue)} and {dead.name} is {_kind(dead)}")
        for queue in facts.destinations
        if queue.fifo != dead.fifo
    ]
    found += [
        Objection(Check.DESTINATION, f"{queue.name} is the dead-letter queue itself")
        for queue in facts.destinations
        if queue.arn == dead.arn
    ]
    if facts.task is not None:
        found.append(Objection(Check.TASK, f"a move task is at work on {dead.name} ({facts.task})"))
    if facts.consumers:
        functions = ", ".join(mapping.function for mapping in facts.consumers)
        found.append(Objection(Check.CONSUMER, f"{dead.name} has a consumer ({functions}), which takes letters too"))
    for name, mappings in facts.mappings.items():
        if mappings is not None and not any(mapping.state in _WORKING for mapping in mappings):
            states = ", ".join(f"{mapping.function}: {mapping.state}" for mapping in mappings) or "no mapping"
            found.append(Objection(Check.MAPPING, f"nothing consumes {name} ({states})"))
    if dead.depth and dead.in_flight / dead.depth > _IN_FLIGHT:
        text = f"{dead.in_flight} of {dead.depth} letters are in flight: somebody else is looking at them"
        found.append(Objection(Check.IN_FLIGHT, text))
    return found


def unknowns(facts: Facts) -> list[str]:
    """Return what could not be checked, for want of a permission or of the service."""
    names = [name for name, mappings in facts.mappings.items() if mappings is None]
    found = [f"whether a function consumes {', '.join(names)}"] if names else []
    return [*found, f"whether {facts.dead.name} has a consumer"] if facts.consumers is None else found


_WORKING = frozenset({"Enabled", "Enabling", "Updating", "Creating"})


def _kind(queue: Queue) -> str:
    return "FIFO" if queue.fifo else "a standard queue"


def _mappings(place: Place, arn: str) -> Sequence[Mapping] | None:
    try:
        pages = place.account.client("lambda").get_paginator("list_event_source_mappings")
        found: list[Any] = [one for page in pages.paginate(EventSourceArn=arn) for one in page["EventSourceMappings"]]
    except (ClientError, BotoCoreError, NotImplementedError):
        return None
    return [Mapping(function_of(str(one.get("FunctionArn", "?"))), str(one.get("State", "?"))) for one in found]


def function_of(arn: str) -> str:
    """Return a function's name, without the alias of one with SnapStart."""
    return arn.partition(":function:")[2].partition(":")[0] or "?"
