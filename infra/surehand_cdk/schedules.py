"""A service's schedules: EventBridge Scheduler sends each tick to its handler's queue, and nothing else.

Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-templated.html (SQS as a target),
`managing-schedule-context-attributes.html` (what the message says) and `configuring-schedule-dlq.html`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from aws_cdk import Duration, Stack, TimeZone
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as targets
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from surehand import Service
from surehand.declare import DEAD_LETTER_RETENTION, TICK_BODY, Timing, derived, physical_name
from surehand.declare.limits import TICK_RETRIES
from surehand_cdk.acknowledged import KEY_GRANTS, TICKS, acknowledge
from surehand_cdk.keeping import Keeping


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedules:
    """*dead_letters* gets the ticks that could not be delivered; `surehand backfill` sends them again."""

    group: scheduler.ScheduleGroup
    dead_letters: sqs.Queue
    by_handler: Mapping[str, scheduler.Schedule]


def schedules(
    scope: Construct, service: Service, *, stage: str, queues: Mapping[str, sqs.IQueue], keeping: Keeping, enabled: bool
) -> Schedules | None:
    """Create the group, its dead-letter queue and a schedule for each handler that declares one; None if none does.

    Scheduler's metrics exist per group only, so the service has its own.
    """
    timed = [(handler, handler.options.timing) for handler in service.handlers if handler.options.timing is not None]
    if not timed:
        return None
    group = scheduler.ScheduleGroup(
        scope,
        "Group",
        schedule_group_name=derived.schedule_group_name(service.name, stage),
        removal_policy=keeping.removal,
    )
    dead_letters = sqs.Queue(
        scope,
        "DeadLetters",
        queue_name=derived.tick_dead_letter_queue_name(service.name, stage),
        retention_period=Duration.seconds(int(DEAD_LETTER_RETENTION.total_seconds())),
        encryption=sqs.QueueEncryption.SQS_MANAGED if keeping.key is None else sqs.QueueEncryption.KMS,
        encryption_master_key=keeping.key,
        enforce_ssl=True,
        removal_policy=keeping.removal,
    )
    acknowledge(dead_letters, TICKS)
    made = {
        handler.name: scheduler.Schedule(
            scope,
            handler.name,
            schedule_name=physical_name(service.name, stage, handler.name),
            description=(handler.__doc__ or "").strip().partition("\n")[0][:512] or None,
            schedule_group=group,
            enabled=enabled,
            key=keeping.key,
            target=_target(timing, queues[handler.name], dead_letters, role=_role(scope, handler.name, group)),
            **_times(timing),
        )
        for handler, timing in timed
    }
    for schedule in made.values():
        schedule.node.add_dependency(group)  # its name is known beforehand, so no reference says it
    return Schedules(group=group, dead_letters=dead_letters, by_handler=made)


def _role(scope: Construct, name: str, group: scheduler.ScheduleGroup) -> iam.Role:
    """Return a role that only Scheduler can take, and only for this account's schedules of this group.

    Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
    """
    account = Stack.of(scope).account
    theirs = {"StringEquals": {"aws:SourceAccount": account, "aws:SourceArn": group.schedule_group_arn}}
    role = iam.Role(
        scope,
        f"{name}-role",
        assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=theirs),
        description=f"Sends ticks to the queue of {name}",
    )
    acknowledge(role, KEY_GRANTS)
    return role


def _target(timing: Timing, queue: sqs.IQueue, dead_letters: sqs.Queue, *, role: iam.Role) -> targets.SqsSendMessage:
    return targets.SqsSendMessage(
        queue,
        input=scheduler.ScheduleTargetInput.from_text(TICK_BODY),
        dead_letter_queue=dead_letters,
        max_event_age=_whole_seconds(timing.longest_delivery),
        retry_attempts=TICK_RETRIES,
        role=role,
    )


def _times(timing: Timing) -> dict[str, Any]:
    zone = TimeZone.of("Etc/UTC" if timing.when.timezone == "UTC" else timing.when.timezone)
    window = scheduler.TimeWindow
    return {
        "schedule": scheduler.ScheduleExpression.expression(timing.when.expression, zone),
        "time_window": window.flexible(_whole_seconds(timing.flexible)) if timing.flexible else window.off(),
    }


def _whole_seconds(length: timedelta) -> Duration:
    return Duration.seconds(int(length.total_seconds()))
