"""A handler's function: its role, its logs, and the mapping that feeds it from the queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_assets as s3_assets
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from surehand import Handler
from surehand.declare import lambda_handler, physical_name
from surehand_cdk.acknowledged import ADOPTED_SOURCE, FUNCTION, TRACING, acknowledge
from surehand_cdk.function_options import accepted
from surehand_cdk.keeping import Keeping
from surehand_cdk.permissions import statements
from surehand_cdk.queues import QueuePair, seconds
from surehand_cdk.snapshot import published


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerResources:
    """What one handler consists of, as plain L2 constructs. *alias* is what the mapping calls with SnapStart."""

    function: lambda_.Function
    alias: lambda_.Alias | None
    queue: sqs.IQueue
    dead_letters: sqs.Queue
    mapping: lambda_.EventSourceMapping
    log_group: logs.LogGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the service gives to one of its handlers' functions."""

    service: str
    stage: str
    queues: QueuePair
    targets: tuple[sqs.IQueue, ...]
    table: dynamodb.Table
    code: s3_assets.Asset
    keeping: Keeping
    variables: Mapping[str, str]


def handler_resources(
    scope: Construct, handler: Handler[Any], setting: Setting, *, options: lambda_.FunctionOptions | None
) -> HandlerResources:
    """Create the function in *scope* and connect it with its queue."""
    log_group = _log_group(scope, handler, setting)
    function = _function(scope, handler, setting, log_group=log_group, given=accepted(handler.name, options))
    alias = published(scope, function) if options is not None and options.snap_start is not None else None
    mapping = _mapping(scope, handler, alias or function, setting.queues.queue)
    if setting.queues.adopted:
        acknowledge(mapping, ADOPTED_SOURCE)
    return HandlerResources(
        function=function,
        alias=alias,
        queue=setting.queues.queue,
        dead_letters=setting.queues.dead_letters,
        mapping=mapping,
        log_group=log_group,
    )


def _log_group(scope: Construct, handler: Handler[Any], setting: Setting) -> logs.LogGroup:
    return logs.LogGroup(
        scope,
        "Logs",
        log_group_name=f"/aws/lambda/{physical_name(setting.service, setting.stage, handler.name)}",
        retention=setting.keeping.log_retention,
        removal_policy=setting.keeping.removal,
        encryption_key=setting.keeping.key,
    )


def _function(
    scope: Construct, handler: Handler[Any], setting: Setting, *, log_group: logs.LogGroup, given: dict[str, Any]
) -> lambda_.Function:
    role = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    for statement in statements(
        queue=setting.queues.queue,
        fifo=handler.options.fifo,
        targets=setting.targets,
        table=setting.table,
        log_group=log_group,
        key=setting.keeping.key,
        in_vpc="vpc" in given,
    ):
        role.add_to_policy(statement)
    function = lambda_.Function(
        scope,
        "Function",
        **{
            "memory_size": handler.options.memory,
            "description": (handler.__doc__ or "").strip().partition("\n")[0][:256] or None,
            "tracing": lambda_.Tracing.ACTIVE,
            **given,
            "function_name": physical_name(setting.service, setting.stage, handler.name),
            "handler": lambda_handler(handler),
            "code": lambda_.Code.from_bucket_v2(setting.code.bucket, setting.code.s3_object_key),
            "runtime": lambda_.Runtime.PYTHON_3_13,
            "architecture": lambda_.Architecture.ARM_64,
            "timeout": seconds(handler.options.timeout),
            "role": role,
            "log_group": log_group,
            "logging_format": lambda_.LoggingFormat.JSON,
            "environment": {**given.get("environment", {}), **setting.variables},
        },
    )
    setting.code.add_resource_metadata(cast("lambda_.CfnFunction", function.node.default_child), "Code")
    acknowledge(function, FUNCTION)
    acknowledge(role, TRACING)
    return function


def _mapping(
    scope: Construct, handler: Handler[Any], function: lambda_.IFunction, queue: sqs.IQueue
) -> lambda_.EventSourceMapping:
    options = handler.options
    return lambda_.EventSourceMapping(
        scope,
        "Mapping",
        target=function,
        event_source_arn=queue.queue_arn,
        batch_size=options.batch_size,
        max_batching_window=seconds(options.batch_window) if options.batch_window else None,
        max_concurrency=options.max_concurrency,
        report_batch_item_failures=True,
        # Opt-in: without it FailedInvokeEventCount does not exist, and the alarms that need it stay silent.
        metrics_config=lambda_.MetricsConfig(metrics=[lambda_.MetricType.EVENT_COUNT]),
    )
