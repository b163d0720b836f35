"""What the role of a schedule may do: deliver its ticks, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import sources
from .assembly import Assembly, location
from .consumption import QUEUE
from .grants import grants, may
from .ownership import SCHEDULE
from .rule import NotKnown, Scope, Verdict, refuse, rule
from .shapes import listed
from .template import Resource, Unknown


def _schedules(a: Assembly) -> Iterator[Resource]:
    return a.resources(SCHEDULE)


def _may_deliver(a: Assembly, schedule: Resource) -> Iterator[Verdict]:
    role = a.known_target(schedule, "Target", "RoleArn")
    for at in (("Target", "Arn"), ("Target", "DeadLetterConfig", "Arn")):
        queue = a.target(a.peek(schedule, *at))
        if isinstance(queue, Unknown):
            if a.peek(schedule, *at) is not None:
                raise NotKnown(schedule, location(*at), queue.reason)
            continue
        if queue.type == QUEUE and not may(a, role, "sqs:SendMessage", queue):
            yield _grant(role, schedule, queue)


def _grant(role: Resource, schedule: Resource, queue: Resource) -> Verdict:
    statement: dict[str, Any] = {
        "Effect": "Allow", "Action": "sqs:SendMessage", "Resource": {"Fn::GetAtt": [queue.id, "Arn"]},
    }  # fmt: skip
    value = {
        "PolicyName": f"SendTo{queue.id}",
        "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]},
    }
    return refuse(
        schedule,
        location("Target", "RoleArn"),
        f"its role may not send to {queue.id}, so ticks are lost without a message anywhere",
        fix=f"{queue.id}.grant_send_messages(schedule_role)",
        edits=[role.put("Policies", len(listed(role.properties.get("Policies"))), value=value)],
    )


def _only_deliver(a: Assembly, schedule: Resource) -> Iterator[Verdict]:
    role = a.known_target(schedule, "Target", "RoleArn")
    for grant in grants(a, role):
        extra = [act for act in grant.actions if not act.startswith("kms:") and act.lower() != "sqs:sendmessage"]
        if extra:
            yield refuse(
                schedule,
                grant.at,
                f"its role may {', '.join(sorted(extra))}",
                fix="only sqs:SendMessage to the target and its dead-letter queue",
            )


RULES = (
    rule(
        "S08", "A schedule's role may send to its target and its dead-letter queue", scope=Scope.ANY,
        why="Scheduler uses the role for both, and reports a missing permission in no log",
        fix="sqs:SendMessage on both queues",
        source=sources.SCHEDULER_ROLE, over=_schedules, judge=_may_deliver,
    ),
    rule(
        "S09", "A schedule's role may do nothing else",
        why="the role is assumed by a service; what it may do, every schedule that names it may do",
        fix="only sqs:SendMessage (and the key's actions)",
        source=sources.IAM_LEAST, over=_schedules, judge=_only_deliver,
    ),
)  # fmt: skip
