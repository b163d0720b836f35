"""The sweep: a scheduled function that reads the ledger and tells which operations are stuck. It touches no queue.

Its role may read the table, and write one item of it: the sweep's own position. A condition on the partition key holds
the code to that. Source:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html (dynamodb:LeadingKeys)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from aws_cdk import Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_assets as s3_assets
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from surehand import Service
from surehand.declare import SCHEDULED_TIME
from surehand.declare.sweeping import EVERY, MEMORY, MOST_MEGABYTES, POSITION, SWEEP, TIMEOUT, Task, function_name
from surehand.errors import DeclarationError
from surehand_cdk.acknowledged import FUNCTION, SWEEPING, TRACING, acknowledge
from surehand_cdk.keeping import Keeping
from surehand_cdk.permissions import KEY_ACTIONS, LOG_ACTIONS, POSITION_ACTIONS, SWEEP_ACTIONS
from surehand_cdk.queues import seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResources:
    """What the sweep consists of, and whether its schedule fires."""

    function: lambda_.Function
    schedule: scheduler.CfnSchedule
    log_group: logs.LogGroup
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSetting:
    """What the service gives to its sweep. *enabled* is whether the schedule fires; *variables* are the function's."""

    stage: str
    table: dynamodb.Table
    code: s3_assets.Asset
    keeping: Keeping
    variables: Mapping[str, str]
    megabytes: int
    enabled: bool


def sweep(scope: Construct, service: Service, setting: SweepSetting) -> SweepResources | None:
    """Create the sweep of a service's ledger in *scope*; None if it shall read nothing.

    Raises:
        DeclarationError: It is told to read more than fits into its time, or a handler has its name.
    """
    _check(service, setting.megabytes)
    if not setting.megabytes:
        return None
    acknowledge(scope, SWEEPING)
    name = function_name(service.name, setting.stage)
    log_group = logs.LogGroup(
        scope,
        "Logs",
        log_group_name=f"/aws/lambda/{name}",
        retention=setting.keeping.log_retention,
        removal_policy=setting.keeping.removal,
        encryption_key=setting.keeping.key,
    )
    function = _function(scope, name, setting, log_group)
    task = Task.of(service.handlers, megabytes=setting.megabytes)
    return SweepResources(
        function=function,
        schedule=_schedule(scope, name, setting, function, task),
        log_group=log_group,
        enabled=setting.enabled,
    )


def _check(service: Service, megabytes: int) -> None:
    if not 0 <= megabytes <= MOST_MEGABYTES:
        raise DeclarationError(
            f"sweep_megabytes={megabytes}: a run reads up to {MOST_MEGABYTES} MB; 0 switches the sweep off."
        )
    if megabytes and any(handler.name == SWEEP for handler in service.handlers):
        raise DeclarationError(
            f"Service '{service.name}' has a handler called '{SWEEP}', which is the name of the function that sweeps "
            "the ledger. Rename the handler before its first deployment, or switch the sweep off: sweep_megabytes=0."
        )


def _function(scope: Construct, name: str, setting: SweepSetting, log_group: logs.LogGroup) -> lambda_.Function:
    role = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    for statement in _statements(setting, log_group):
        role.add_to_policy(statement)
    function = lambda_.Function(
        scope,
        "Function",
        function_name=name,
        description="Tells which operations of the ledger are stuck",
        handler="surehand.entrypoint.sweep",
        code=lambda_.Code.from_bucket_v2(setting.code.bucket, setting.code.s3_object_key),
        runtime=lambda_.Runtime.PYTHON_3_13,
        architecture=lambda_.Architecture.ARM_64,
        timeout=seconds(TIMEOUT),
        memory_size=MEMORY,
        role=role,
        tracing=lambda_.Tracing.ACTIVE,
        log_group=log_group,
        logging_format=lambda_.LoggingFormat.JSON,
        environment=dict(setting.variables),
        # The next run makes good a lost one, at the same place of the table.
        retry_attempts=0,
        max_event_age=seconds(EVERY),
    )
    setting.code.add_resource_metadata(cast("lambda_.CfnFunction", function.node.default_child), "Code")
    acknowledge(function, FUNCTION)
    acknowledge(role, TRACING)
    return function


def _statements(setting: SweepSetting, log_group: logs.LogGroup) -> list[iam.PolicyStatement]:
    table = setting.table.table_arn
    allowed = [
        iam.PolicyStatement(actions=list(SWEEP_ACTIONS), resources=[table]),
        iam.PolicyStatement(
            actions=list(POSITION_ACTIONS),
            resources=[table],
            conditions={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [POSITION]}},
        ),
        iam.PolicyStatement(actions=list(LOG_ACTIONS), resources=[log_group.log_group_arn]),
    ]
    if setting.keeping.key is not None:
        through = f"dynamodb.{Stack.of(setting.table).region}.amazonaws.com"
        allowed.append(
            iam.PolicyStatement(
                actions=list(KEY_ACTIONS),
                resources=[setting.keeping.key.key_arn],
                conditions={"StringEquals": {"kms:ViaService": through}},
            )
        )
    return allowed


def _schedule(
    scope: Construct, name: str, setting: SweepSetting, function: lambda_.Function, task: Task
) -> scheduler.CfnSchedule:
    """Return the schedule, in a group of its own: the alarms on dropped ticks watch the handlers' group.

    Not the L2, whose target grants the role every version of the function too.
    """
    group = scheduler.CfnScheduleGroup(scope, "Group", name=name)
    account = Stack.of(scope).account
    theirs = {"StringEquals": {"aws:SourceAccount": account, "aws:SourceArn": group.attr_arn}}
    role = iam.Role(
        scope,
        "ScheduleRole",
        assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com", conditions=theirs),
        description="Invokes the sweep",
    )
    role.add_to_policy(iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[function.function_arn]))
    key = setting.keeping.key
    if key is not None:
        role.add_to_policy(iam.PolicyStatement(actions=["kms:Decrypt"], resources=[key.key_arn]))
    return scheduler.CfnSchedule(
        scope,
        "Schedule",
        name=name,
        group_name=group.ref,
        description="Sweeps the ledger",
        schedule_expression=f"rate({EVERY // timedelta(minutes=1)} minutes)",
        flexible_time_window={"mode": "OFF"},
        state="ENABLED" if setting.enabled else "DISABLED",
        kms_key_arn=None if key is None else key.key_arn,
        target=scheduler.CfnSchedule.TargetProperty(
            arn=function.function_arn,
            role_arn=role.role_arn,
            input=json.dumps({"at": SCHEDULED_TIME, **task.dump()}, separators=(",", ":")),
            retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                maximum_event_age_in_seconds=60, maximum_retry_attempts=0
            ),
        ),
    )
