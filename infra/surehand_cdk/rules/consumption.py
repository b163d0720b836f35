"""Who consumes which queue, and where its dead letters go."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .assembly import MARK, Assembly, location, once
from .rule import NotKnown
from .template import Resource, Unknown

MAPPING = "AWS::Lambda::EventSourceMapping"
QUEUE = "AWS::SQS::Queue"
FOREVER_IN_QUEUE = 1_209_600
"""Fourteen days in seconds: the longest that SQS keeps a message."""
DEFAULT_RETENTION = 345_600
"""Four days in seconds: SQS's default MessageRetentionPeriod."""


@dataclass(frozen=True, slots=True)
class Consumption:
    """One event source mapping with the queue it reads and the function it calls (behind any alias or version)."""

    mapping: Resource
    queue: Resource
    function: Resource
    fifo: bool
    marked: bool


def mappings(assembly: Assembly) -> Iterator[Resource]:
    """The mappings that read SQS, or may: only those of another known source are left out."""
    for mapping in assembly.resources(MAPPING):
        source = assembly.peek(mapping, "EventSourceArn")
        if source is None or (isinstance(source, str) and source.startswith("arn:") and ":sqs:" not in source):
            continue
        queue = assembly.target(source)
        if isinstance(queue, Unknown) or queue.type == QUEUE:
            yield mapping


@once
def consumptions(assembly: Assembly) -> tuple[Consumption, ...]:
    """Every mapping of which both ends are in the templates; the others are rule Q03's."""
    found = []
    for mapping in mappings(assembly):
        queue = assembly.target(assembly.peek(mapping, "EventSourceArn"))
        function = assembly.function(assembly.peek(mapping, "FunctionName"))
        if isinstance(queue, Resource) and isinstance(function, Resource):
            marked = MARK in assembly.variables(function)
            found.append(Consumption(mapping, queue, function, is_fifo(assembly, queue), marked))
    return tuple(found)


@once
def consumed(assembly: Assembly) -> tuple[Resource, ...]:
    """The queues that a mapping reads, each once."""
    found: dict[Resource, None] = {}
    for mapping in mappings(assembly):
        queue = assembly.target(assembly.peek(mapping, "EventSourceArn"))
        if isinstance(queue, Resource):
            found[queue] = None
    return tuple(found)


def is_fifo(assembly: Assembly, queue: Resource) -> bool:
    """Whether SQS makes it a FIFO queue. Unreadable counts as standard; rule D02 says so when it matters."""
    return str(assembly.peek(queue, "FifoQueue")).lower() == "true"


def redrive(assembly: Assembly, queue: Resource, key: str) -> Mapping[str, Any] | None:
    """RedrivePolicy or RedriveAllowPolicy, also when written as JSON text. Raises NotKnown."""
    found = assembly.value(queue, key)
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except ValueError:
            raise NotKnown(queue, location(key), "its JSON text cannot be read") from None
    if found is not None and not isinstance(found, Mapping):
        raise NotKnown(queue, location(key), "it is no object")
    return found


def receive_limit(assembly: Assembly, queue: Resource) -> int | None:
    """maxReceiveCount; None without a redrive policy. Raises NotKnown."""
    policy = redrive(assembly, queue, "RedrivePolicy")
    if policy is None:
        return None
    count = policy.get("maxReceiveCount", 10)
    if isinstance(count, Unknown) or not str(count).isdigit():
        reason = count.reason if isinstance(count, Unknown) else f"{count!r} is no number"
        raise NotKnown(queue, location("RedrivePolicy", "maxReceiveCount"), reason)
    return int(count)


def dead_letters(assembly: Assembly, queue: Resource) -> Resource | None:
    """The queue's dead-letter queue; None without one. Raises NotKnown when it is outside the templates."""
    policy = redrive(assembly, queue, "RedrivePolicy")
    if policy is None:
        return None
    found = assembly.target(policy.get("deadLetterTargetArn"))
    if isinstance(found, Unknown):
        raise NotKnown(queue, location("RedrivePolicy", "deadLetterTargetArn"), found.reason)
    return found


@once
def sources_by_dead_letters(assembly: Assembly) -> dict[Resource, list[Resource]]:
    """Each dead-letter queue of the templates with the queues that redrive into it."""
    found: dict[Resource, list[Resource]] = {}
    for queue in assembly.resources(QUEUE):
        try:
            target = dead_letters(assembly, queue)
        except NotKnown:
            continue  # rule D01 reports it for the source queue
        if target is not None:
            found.setdefault(target, []).append(queue)
    return found


def retention(assembly: Assembly, queue: Resource) -> int:
    """MessageRetentionPeriod in seconds. Raises NotKnown."""
    return assembly.number(queue, "MessageRetentionPeriod", default=DEFAULT_RETENTION)
