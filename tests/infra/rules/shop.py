"""A whole service written by hand as CloudFormation, which keeps every rule: the good stack that tests break.

Two templates: the core, and its alarms in another stack that imports what it watches.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

Templates = dict[str, dict[str, Any]]

DAY = 86_400
TLS = {"Bool": {"aws:SecureTransport": "false"}}
LEDGER_ACTIONS = [
    "dynamodb:UpdateItem",
    "dynamodb:GetItem",
    "dynamodb:BatchGetItem",
    "dynamodb:PartiQLInsert",
    "dynamodb:PartiQLUpdate",
]
CONSUME = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"]
RUNBOOK = "Look: `surehand dlq stats shop`. Runbook: docs/runbook.md#poison"


def arn(id: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [id, "Arn"]}


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties}


def retained(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}


def statement(actions: list[str] | str, target: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": target}


def role(*statements: dict[str, Any]) -> dict[str, Any]:
    policy = {"PolicyName": "Inline", "PolicyDocument": {"Version": "2012-10-17", "Statement": list(statements)}}
    return resource(
        "AWS::IAM::Role", AssumeRolePolicyDocument={"Version": "2012-10-17", "Statement": []}, Policies=[policy]
    )


def tls_only(queue: str) -> dict[str, Any]:
    deny = {"Effect": "Deny", "Principal": "*", "Action": "sqs:*", "Resource": arn(queue), "Condition": TLS}
    return resource(
        "AWS::SQS::QueuePolicy",
        Queues=[{"Ref": queue}],
        PolicyDocument={"Version": "2012-10-17", "Statement": [deny]},
    )


def handler(name: str, *, receives: int, fifo: bool = False, alias: bool = False) -> dict[str, Any]:
    """The resources of one handler: queue, dead-letter queue, function, role, log group, mapping."""
    title = name.capitalize()
    suffix = ".fifo" if fifo else ""
    kind = {"FifoQueue": True} if fifo else {}
    variables = {
        "SUREHAND_SERVICE": "shop",
        "SUREHAND_STAGE": "prod",
        "SUREHAND_HANDLER": name,
        "SUREHAND_TABLE": {"Ref": "Ledger"},
        f"SUREHAND_QUEUE_{name.upper()}": {"Ref": f"{title}Queue"},
    }
    source = "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:shop-prod-" + name + suffix
    result = {
        f"{title}Queue": retained(
            resource(
                "AWS::SQS::Queue",
                QueueName=f"shop-prod-{name}{suffix}",
                VisibilityTimeout=180,
                MessageRetentionPeriod=4 * DAY,
                SqsManagedSseEnabled=True,
                RedrivePolicy={"deadLetterTargetArn": arn(f"{title}Letters"), "maxReceiveCount": receives},
                **kind,
            )
        ),
        f"{title}Letters": retained(
            resource(
                "AWS::SQS::Queue",
                QueueName=f"shop-prod-{name}-dlq{suffix}",
                MessageRetentionPeriod=14 * DAY,
                SqsManagedSseEnabled=True,
                RedriveAllowPolicy={"redrivePermission": "byQueue", "sourceQueueArns": [{"Fn::Sub": source}]},
                **kind,
            )
        ),
        f"{title}QueueTls": tls_only(f"{title}Queue"),
        f"{title}LettersTls": tls_only(f"{title}Letters"),
        f"{title}Logs": resource("AWS::Logs::LogGroup", RetentionInDays=30),
        f"{title}Role": role(
            statement(CONSUME, arn(f"{title}Queue")),
            statement(LEDGER_ACTIONS, arn("Ledger")),
            statement(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "*"),
        ),
        f"{title}Function": resource(
            "AWS::Lambda::Function",
            FunctionName=f"shop-prod-{name}",
            Runtime="python3.13",
            Architectures=["arm64"],
            Timeout=30,
            MemorySize=512,
            Role=arn(f"{title}Role"),
            LoggingConfig={"LogFormat": "JSON", "LogGroup": {"Ref": f"{title}Logs"}},
            TracingConfig={"Mode": "Active"},
            Environment={"Variables": variables},
        ),
        f"{title}Mapping": resource(
            "AWS::Lambda::EventSourceMapping",
            EventSourceArn=arn(f"{title}Queue"),
            FunctionName={"Ref": f"{title}Function"},
            BatchSize=10,
            FunctionResponseTypes=["ReportBatchItemFailures"],
            MetricsConfig={"Metrics": ["EventCount"]},
            ScalingConfig={"MaximumConcurrency": 10},
        ),
    }
    if alias:
        result[f"{title}Version"] = resource("AWS::Lambda::Version", FunctionName={"Ref": f"{title}Function"})
        result[f"{title}Alias"] = resource(
            "AWS::Lambda::Alias",
            FunctionName={"Ref": f"{title}Function"},
            FunctionVersion={"Fn::GetAtt": [f"{title}Version", "Version"]},
            Name="live",
        )
        result[f"{title}Mapping"]["Properties"]["FunctionName"] = {"Ref": f"{title}Alias"}
    return result


def ledger() -> dict[str, Any]:
    return retained(
        resource(
            "AWS::DynamoDB::Table",
            KeySchema=[
                {"AttributeName": "id", "KeyType": "HASH"},
                {"AttributeName": "part", "KeyType": "RANGE"},
            ],
            BillingMode="PAY_PER_REQUEST",
            TimeToLiveSpecification={"AttributeName": "expires_at", "Enabled": True},
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
            DeletionProtectionEnabled=True,
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "attention",
                    "KeySchema": [
                        {"AttributeName": "attention", "KeyType": "HASH"},
                        {"AttributeName": "attention_at", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        )
    )


def schedule() -> dict[str, Any]:
    return {
        "Ticks": resource("AWS::Scheduler::ScheduleGroup", Name="shop-prod"),
        "TickLetters": resource("AWS::SQS::Queue", MessageRetentionPeriod=14 * DAY, SqsManagedSseEnabled=True),
        "TickRole": role(statement("sqs:SendMessage", [arn("ExportQueue"), arn("TickLetters")])),
        "Tick": resource(
            "AWS::Scheduler::Schedule",
            GroupName={"Ref": "Ticks"},
            ScheduleExpression="cron(0 2 * * ? *)",
            ScheduleExpressionTimezone="Europe/Berlin",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={
                "Arn": arn("ExportQueue"),
                "RoleArn": arn("TickRole"),
                "Input": '{"at": "<aws.scheduler.scheduled-time>"}',
                "RetryPolicy": {"MaximumRetryAttempts": 3, "MaximumEventAgeInSeconds": 3_600},
                "DeadLetterConfig": {"Arn": arn("TickLetters")},
            },
        ),
    }


def ingress() -> dict[str, Any]:
    return {
        "IngressLogs": resource("AWS::Logs::LogGroup", RetentionInDays=30),
        "IngressRole": role(statement("sqs:SendMessage", arn("ChargeQueue"))),
        "IngressFunction": resource(
            "AWS::Lambda::Function",
            Runtime="python3.13",
            Architectures=["arm64"],
            Timeout=10,
            MemorySize=512,
            Role=arn("IngressRole"),
            LoggingConfig={"LogFormat": "JSON", "LogGroup": {"Ref": "IngressLogs"}},
            TracingConfig={"Mode": "Active"},
            Environment={
                "Variables": {
                    "SUREHAND_SERVICE": "shop",
                    "SUREHAND_STAGE": "prod",
                    "SUREHAND_QUEUE_CHARGE": {"Ref": "ChargeQueue"},
                }
            },
        ),
        "Api": resource("AWS::ApiGatewayV2::Api", ProtocolType="HTTP"),
        "ApiIntegration": resource(
            "AWS::ApiGatewayV2::Integration", ApiId={"Ref": "Api"}, IntegrationUri=arn("IngressFunction")
        ),
        "ApiStage": resource(
            "AWS::ApiGatewayV2::Stage",
            ApiId={"Ref": "Api"},
            StageName="$default",
            DefaultRouteSettings={"ThrottlingRateLimit": 100, "ThrottlingBurstLimit": 200},
            AccessLogSettings={"DestinationArn": arn("IngressLogs"), "Format": "$context.requestId"},
        ),
    }


def core() -> dict[str, Any]:
    resources = {
        "Ledger": ledger(),
        **handler("charge", receives=10),
        **handler("ship", receives=60, fifo=True, alias=True),
        **handler("export", receives=210),
        **schedule(),
        **ingress(),
    }
    exported = {
        **{f"{t}{p}": (f"{t}{p}", "QueueName") for t in ("Charge", "Ship", "Export") for p in ("Queue", "Letters")},
        **{f"{t}{p}": (f"{t}{p}", None) for t in ("Charge", "Ship", "Export") for p in ("Function", "Mapping")},
        "IngressFunction": ("IngressFunction", None),
        "Ledger": ("Ledger", None),
        "Ticks": ("Ticks", None),
    }
    outputs = {
        f"Export{name}": {
            "Value": {"Fn::GetAtt": [id, attribute]} if attribute else {"Ref": id},
            "Export": {"Name": f"shop:{name}"},
        }
        for name, (id, attribute) in exported.items()
    }
    return {"Resources": resources, "Outputs": outputs}


def alarm(namespace: str, metric: str, dimension: str, of: Any, **more: Any) -> dict[str, Any]:
    properties = {
        "AlarmDescription": RUNBOOK,
        "Namespace": namespace,
        "MetricName": metric,
        "Dimensions": [{"Name": dimension, "Value": of}],
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 5,
        "Threshold": 0,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": "notBreaching",
        "AlarmActions": [{"Ref": "Topic"}],
        **more,
    }
    return resource("AWS::CloudWatch::Alarm", **properties)


def watch() -> dict[str, Any]:
    def core_(name: str) -> dict[str, Any]:
        return {"Fn::ImportValue": f"shop:{name}"}

    resources: dict[str, Any] = {
        "TopicKey": resource(
            "AWS::KMS::Key",
            KeyPolicy={
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "cloudwatch.amazonaws.com"},
                        "Action": ["kms:Decrypt", "kms:GenerateDataKey*"],
                        "Resource": "*",
                    }
                ],
            },
        ),
        "Topic": resource("AWS::SNS::Topic", KmsMasterKeyId=arn("TopicKey")),
        "LedgerThrottled": alarm("AWS/DynamoDB", "WriteThrottleEvents", "TableName", core_("Ledger")),
        "TicksDropped": alarm("AWS/Scheduler", "InvocationDroppedCount", "ScheduleGroup", core_("Ticks")),
    }
    for name in ("Charge", "Ship", "Export"):
        resources |= {
            f"{name}Age": alarm("AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", core_(f"{name}Queue")),
            f"{name}Dead": alarm("AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", core_(f"{name}Letters")),
            f"{name}Failed": alarm(
                "AWS/Lambda", "FailedInvokeEventCount", "EventSourceMappingUUID", core_(f"{name}Mapping")
            ),
            f"{name}Poison": alarm("surehand", "DeadLettered", "handler", name.lower()),
        }
    for name in ("Charge", "Ship", "Export", "Ingress"):
        function = core_(f"{name}Function")
        resources |= {
            f"{name}Errors": alarm("AWS/Lambda", "Errors", "FunctionName", function),
            f"{name}Throttles": alarm("AWS/Lambda", "Throttles", "FunctionName", function),
        }
    rule = {"Fn::Join": ["", ['ALARM("', {"Ref": "ChargeAge"}, '") OR ALARM("', {"Ref": "ChargeDead"}, '")']]}
    resources["Cause"] = resource(
        "AWS::CloudWatch::CompositeAlarm",
        AlarmRule=rule,
        AlarmDescription=RUNBOOK,
        AlarmActions=[{"Ref": "Topic"}],
    )
    return {"Resources": resources}


def shop() -> Templates:
    """The good stacks, fresh."""
    return copy.deepcopy({"core": core(), "watch": watch()})


def broken(break_it: Callable[[dict[str, Any], dict[str, Any]], object]) -> Templates:
    """The good stacks after *break_it* has been let loose on their resources (core, watch)."""
    templates = shop()
    break_it(templates["core"]["Resources"], templates["watch"]["Resources"])
    return templates
