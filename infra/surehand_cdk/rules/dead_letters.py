"""Where messages go that could not be processed, and that nothing else goes there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import sources
from .assembly import Assembly, location
from .consumption import QUEUE, consumed, consumptions, dead_letters, is_fifo, redrive, sources_by_dead_letters
from .rule import Level, NotKnown, Scope, Verdict, refuse, rule
from .template import Edit, Resource, Unknown

MOST_SOURCES = 10


def _has_one(a: Assembly, queue: Resource) -> Iterator[Verdict]:
    if dead_letters(a, queue) is None:
        yield refuse(
            queue,
            location("RedrivePolicy"),
            "no dead-letter queue: a message that always fails comes back until its retention deletes it",
            fix="dead_letter_queue=DeadLetterQueue(max_receive_count=10, queue=dlq)",
            edits=_new_dead_letters(a, queue),
        )


def _new_dead_letters(a: Assembly, queue: Resource) -> Iterator[Edit]:
    id = f"{queue.id}DeadLetters"
    properties: dict[str, Any] = {
        "MessageRetentionPeriod": 1_209_600,
        "SqsManagedSseEnabled": True,
        **({"FifoQueue": True} if is_fifo(a, queue) else {}),
    }
    yield Edit(template=queue.template, path=("Resources", id), value={"Type": QUEUE, "Properties": properties})
    yield queue.put("RedrivePolicy", value={"deadLetterTargetArn": {"Fn::GetAtt": [id, "Arn"]}, "maxReceiveCount": 10})


def _same_kind(a: Assembly, queue: Resource) -> Iterator[Verdict]:
    target = dead_letters(a, queue)
    if target is not None and is_fifo(a, target) != is_fifo(a, queue):
        kinds = {True: "FIFO", False: "standard"}
        yield refuse(
            queue,
            location("RedrivePolicy", "deadLetterTargetArn"),
            f"a {kinds[is_fifo(a, queue)]} queue with the {kinds[is_fifo(a, target)]} dead-letter queue {target.id}",
            fix=f"make {target.id} a {kinds[is_fifo(a, queue)]} queue too",
            edits=[target.put("FifoQueue", value=True) if is_fifo(a, queue) else target.drop("FifoQueue")],
        )


def _same_place(a: Assembly, queue: Resource) -> Iterator[Verdict]:
    policy = redrive(a, queue, "RedrivePolicy") or {}
    match = re.match(r"arn:[^:]+:sqs:(?P<region>[^:]*):(?P<account>[^:]*):", str(policy.get("deadLetterTargetArn")))
    here = a.templates[queue.template]
    own: list[str] = [here.region or "${Region}", here.account or "${AccountId}"]
    there = [match["region"], match["account"]] if match else own
    for part, other in zip(own, there, strict=True):
        if part == other:
            continue
        if part.startswith("${") or other.startswith("${"):
            raise NotKnown(
                queue, location("RedrivePolicy"), f"the stack is in {part}, the dead-letter queue in {other}"
            )
        yield refuse(
            queue,
            location("RedrivePolicy", "deadLetterTargetArn"),
            f"the dead-letter queue is in {other}, the queue in {part}",
            fix="a dead-letter queue in the queue's own account and Region",
        )


def _allows_its_source(a: Assembly, target: Resource) -> Iterator[Verdict]:
    feeders = sources_by_dead_letters(a)[target]
    policy = redrive(a, target, "RedriveAllowPolicy") or {}
    arns = policy.get("sourceQueueArns", [])
    allowed = [a.target(arn) for arn in arns] if isinstance(arns, list) else [Unknown("no list of ARNs")]
    for found in allowed:
        if isinstance(found, Unknown):
            raise NotKnown(target, location("RedriveAllowPolicy"), found.reason)
    if policy.get("redrivePermission") != "byQueue" or set(allowed) != set(feeders):
        wanted = [{"Fn::GetAtt": [feeder.id, "Arn"]} for feeder in feeders[:MOST_SOURCES]]
        yield refuse(
            target,
            location("RedriveAllowPolicy"),
            f"any queue of the account may send its dead letters here; only {_names(feeders)} should",
            fix=f"RedriveAllowPolicy byQueue with exactly {_names(feeders)}",
            edits=[target.put("RedriveAllowPolicy", value={"redrivePermission": "byQueue", "sourceQueueArns": wanted})],
        )


def _of_one_source(a: Assembly, target: Resource) -> Iterator[Verdict]:
    feeders = sources_by_dead_letters(a)[target]
    if len(feeders) > 1:
        yield refuse(
            target,
            location(),
            f"shared by {_names(feeders)}: an alarm cannot name the cause, and a redrive to the source is ambiguous",
            fix="one dead-letter queue for each source queue",
        )


def _ends_here(a: Assembly, target: Resource) -> Iterator[Verdict]:
    if redrive(a, target, "RedrivePolicy") is not None:
        yield refuse(
            target,
            location("RedrivePolicy"),
            "a dead-letter queue that moves its own messages on: looking at them (a receive) makes them vanish",
            fix="remove dead_letter_queue from the dead-letter queue",
            edits=[target.drop("RedrivePolicy")],
        )


def _is_not_consumed(a: Assembly, target: Resource) -> Iterator[Verdict]:
    for edge in consumptions(a):
        if edge.queue is target:
            yield refuse(
                target,
                location(),
                f"{edge.function.construct_path} consumes it: dead letters are gone before anyone decides",
                fix="remove the mapping; redrive with `surehand dlq redrive` or from the console",
                edits=[
                    Edit(template=edge.mapping.template, path=("Resources", edge.mapping.id), value=None, remove=True)
                ],
            )


def _names(queues: list[Resource]) -> str:
    return ", ".join(sorted(queue.id for queue in queues))


RULES = (
    rule(
        "D01", "A consumed queue has a dead-letter queue", scope=Scope.ANY,
        why="SQS deletes what nobody could process, in silence",
        fix="a RedrivePolicy to a queue of the same kind",
        source=sources.SQS_DEAD_LETTERS, over=consumed, judge=_has_one,
    ),
    rule(
        "D02", "A queue and its dead-letter queue are of one kind", scope=Scope.ANY,
        why="SQS refuses to move a message between FIFO and standard queues",
        fix="FIFO with FIFO, standard with standard",
        source=sources.SQS_DEAD_LETTERS, over=consumed, judge=_same_kind,
    ),
    rule(
        "D03", "A dead-letter queue is in the queue's account and Region", scope=Scope.ANY,
        why="SQS refuses any other",
        fix="both queues in one stack",
        source=sources.SQS_DEAD_LETTERS, over=consumed, judge=_same_place,
    ),
    rule(
        "D05", "A dead-letter queue admits exactly its source", scope=Scope.SUREHAND,
        why="by default every queue of the account may point here, and a redrive brings strangers' messages",
        fix="RedriveAllowPolicy: byQueue with the source's ARN",
        source=sources.SQS_DEAD_LETTERS, over=sources_by_dead_letters, judge=_allows_its_source,
    ),
    rule(
        "D06", "Each queue has a dead-letter queue of its own", level=Level.WARNING, scope=Scope.ANY,
        why="the console's redrive goes to the source only where that is unambiguous",
        fix="one dead-letter queue per queue",
        source=sources.SQS_REDRIVE, over=sources_by_dead_letters, judge=_of_one_source,
    ),
    rule(
        "D10", "A dead-letter queue has no dead-letter queue", scope=Scope.ANY,
        why="dead letters wait there for a person; a second hop hides them from the alarm",
        fix="no RedrivePolicy on a redrive target",
        source=sources.SQS_DEAD_LETTERS, over=sources_by_dead_letters, judge=_ends_here,
    ),
    rule(
        "D11", "Nothing consumes a dead-letter queue", scope=Scope.ANY,
        why="a consumer repeats the failure without a decision and empties the queue that the alarm watches",
        fix="no event source mapping on a redrive target",
        source=sources.SQS_REDRIVE, over=sources_by_dead_letters, judge=_is_not_consumed,
    ),
)  # fmt: skip
