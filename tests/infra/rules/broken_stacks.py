# ruff: noqa: E501 - a table, one broken stack a row
"""One deliberately broken stack for every rule, and more than one where a rule has several edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.infra.rules.shop import DAY, RUNBOOK, arn, resource, statement

Resources = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Broken:
    """How the good stacks are broken (core and watch resources), and what must be said: rule, resource, part of the text.

    *applies* is whether the computed fix is mechanical: applied, the rule is content. *also* are rules that rightly speak
    up as well.
    """

    rule: str
    resource: str
    says: str
    break_it: Callable[[Resources, Resources], object]
    applies: bool = True
    also: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.rule}-{self.resource}"


def put(id: str, *path: str | int, value: Any) -> Callable[[Resources, Resources], None]:
    """Set a property of a core or watch resource; None removes it."""

    def change(core: Resources, watch: Resources) -> None:
        node = (core if id in core else watch)[id]["Properties"]
        for step in path[:-1]:
            node = node[step]
        if value is None:
            del node[path[-1]]
        else:
            node[path[-1]] = value

    return change


def attribute(id: str, name: str, value: str) -> Callable[[Resources, Resources], None]:
    def change(core: Resources, watch: Resources) -> None:
        core[id][name] = value

    return change


def both(*changes: Callable[[Resources, Resources], object]) -> Callable[[Resources, Resources], None]:
    def change(core: Resources, watch: Resources) -> None:
        for one in changes:
            one(core, watch)

    return change


def add(id: str, body: dict[str, Any], *, where: str = "core") -> Callable[[Resources, Resources], None]:
    def change(core: Resources, watch: Resources) -> None:
        (core if where == "core" else watch)[id] = body

    return change


def remove(*ids: str) -> Callable[[Resources, Resources], None]:
    def change(core: Resources, watch: Resources) -> None:
        for id in ids:
            (core if id in core else watch).pop(id)

    return change


def grant(id: str, allowed: dict[str, Any]) -> Callable[[Resources, Resources], None]:
    def change(core: Resources, watch: Resources) -> None:
        core[id]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"].append(allowed)

    return change


def second_mapping(core: Resources, watch: Resources) -> None:
    core["SecondMapping"] = {
        "Type": core["ShipMapping"]["Type"],
        "Properties": dict(core["ExportMapping"]["Properties"]),
    }
    core["SecondMapping"]["Properties"]["EventSourceArn"] = arn("ChargeQueue")


def shared_role(core: Resources, watch: Resources) -> None:
    core["ExportRole"]["Properties"]["Policies"] += core["IngressRole"]["Properties"]["Policies"]
    core["IngressFunction"]["Properties"]["Role"] = arn("ExportRole")


def drop_alarms(*suffixes: str) -> Callable[[Resources, Resources], None]:
    def change(core: Resources, watch: Resources) -> None:
        for id in [id for id in watch if id.endswith(suffixes)]:
            watch.pop(id)
        watch["Cause"]["Properties"]["AlarmRule"] = {"Fn::Sub": 'ALARM("${LedgerThrottled}")'}

    return change


BROKEN = (
    Broken("Q01", "ChargeQueue", "visibility 60 s, needs 180 s (6 x 30 s timeout + 0 s window)",
           put("ChargeQueue", "VisibilityTimeout", value=60)),
    Broken("Q01", "ShipQueue", "needs 240 s (6 x 40 s timeout + 0 s window)", put("ShipFunction", "Timeout", value=40)),
    Broken("Q02", "ChargeFunction", "timeout 1000 s",
           both(put("ChargeFunction", "Timeout", value=1000), put("ChargeQueue", "VisibilityTimeout", value=6000)),),
    Broken("Q02", "ChargeQueue", "visibility 50000 s", put("ChargeQueue", "VisibilityTimeout", value=50_000),
           also=("Q06",)),
    Broken("Q17", "ShipQueue", "waits 30 s", put("ShipQueue", "DelaySeconds", value=30)),
    Broken("Q03", "ChargeMapping", "not checkable",
           put("ChargeMapping", "EventSourceArn", value={"Fn::ImportValue": "elsewhere"}), applies=False,
           also=("F05",)),
    Broken("Q04", "ChargeMapping", "without ReportBatchItemFailures",
           put("ChargeMapping", "FunctionResponseTypes", value=None)),
    Broken("Q11", "ChargeMapping", "EventCount metrics are off", put("ChargeMapping", "MetricsConfig", value=None)),
    Broken("Q14", "ChargeMapping", "is read by ExportFunction too", second_mapping, applies=False,
           also=("F15", "P01", "A02")),
    Broken("Q15", "ChargeMapping", "deletes every message",
           put("ChargeMapping", "FilterCriteria", value={"Filters": [{"Pattern": "{}"}]})),
    Broken("Q16", "ChargeMapping", "is disabled", put("ChargeMapping", "Enabled", value=False)),
    Broken("Q05", "ChargeQueue", "maxReceiveCount 1, needs 5",
           put("ChargeQueue", "RedrivePolicy", "maxReceiveCount", value=1)),
    Broken("Q18", "ChargeQueue", "maxReceiveCount 50",
           put("ChargeQueue", "RedrivePolicy", "maxReceiveCount", value=50)),
    Broken("Q06", "ChargeQueue", "10 receives of 20000 s", put("ChargeQueue", "VisibilityTimeout", value=20_000)),
    Broken("Q07", "ChargeMapping", "batch size 100 without a batching window", put("ChargeMapping", "BatchSize", value=100),
           also=()),
    Broken("Q19", "ShipMapping", "batch size 20 on a FIFO queue", put("ShipMapping", "BatchSize", value=20)),
    Broken("Q19", "ShipMapping", "a batching window of 5 s",
           both(put("ShipMapping", "MaximumBatchingWindowInSeconds", value=5),
                put("ShipQueue", "VisibilityTimeout", value=185))),
    Broken("Q08", "ChargeMapping", "maximum concurrency not set", put("ChargeMapping", "ScalingConfig", value=None)),
    Broken("Q08", "ExportMapping", "maximum concurrency 1,",
           put("ExportMapping", "ScalingConfig", value={"MaximumConcurrency": 1})),
    Broken("Q10", "ChargeMapping", "exclude each other",
           put("ChargeMapping", "ProvisionedPollerConfig", value={"MinimumPollers": 2, "MaximumPollers": 20})),
    Broken("Q09", "ChargeFunction", "reserves 950", put("ChargeFunction", "ReservedConcurrentExecutions", value=950),
           applies=False),
    Broken("F09", "ChargeFunction", "reserved concurrency 5, its mappings may ask for 10",
           put("ChargeFunction", "ReservedConcurrentExecutions", value=5)),
    Broken("D01", "ChargeQueue", "no dead-letter queue",
           both(put("ChargeQueue", "RedrivePolicy", value=None), remove("ChargeLetters", "ChargeLettersTls", "ChargeDead"),
                put("Cause", "AlarmRule", value={"Fn::Sub": 'ALARM("${ChargeAge}")'}))),
    Broken("D02", "ShipQueue", "a FIFO queue with the standard dead-letter queue",
           put("ShipLetters", "FifoQueue", value=None), also=()),
    Broken("D03", "ChargeQueue", "not checkable: the stack is in ${Region}",
           put("ChargeQueue", "RedrivePolicy", "deadLetterTargetArn",
               value={"Fn::Sub": "arn:aws:sqs:us-east-1:${AWS::AccountId}:shop-prod-charge-dlq"}), applies=False),
    Broken("D04", "ChargeLetters", "keeps dead letters 345600 s, needs 1209600 s",
           put("ChargeLetters", "MessageRetentionPeriod", value=None), also=("D12",)),
    Broken("D05", "ChargeLetters", "any queue of the account", put("ChargeLetters", "RedriveAllowPolicy", value=None)),
    Broken("D06", "ChargeLetters", "shared by ChargeQueue, ExportQueue",
           both(put("ExportQueue", "RedrivePolicy", "deadLetterTargetArn", value=arn("ChargeLetters")),
                remove("ExportLetters", "ExportLettersTls", "ExportDead"),
                put("ChargeLetters", "RedriveAllowPolicy", "sourceQueueArns", value=[arn("ChargeQueue"), arn("ExportQueue")])),
           applies=False),
    Broken("D10", "ChargeLetters", "moves its own messages on",
           put("ChargeLetters", "RedrivePolicy", value={"deadLetterTargetArn": arn("TickLetters"), "maxReceiveCount": 5}),
           also=("D05", "D12", "E02", "N03", "A13")),
    Broken("D11", "ChargeLetters", "consumes it",
           add("Rescue", resource("AWS::Lambda::EventSourceMapping", EventSourceArn=arn("ChargeLetters"),
                                  FunctionName={"Ref": "ExportFunction"}, FunctionResponseTypes=["ReportBatchItemFailures"],
                                  MetricsConfig={"Metrics": ["EventCount"]}, ScalingConfig={"MaximumConcurrency": 2})),
           also=("Q01", "D01", "F15", "P01", "A02")),
    Broken("D12", "ChargeQueue", "keeps a message 1123200 s", put("ChargeQueue", "MessageRetentionPeriod", value=13 * DAY)),
    Broken("T06", "ChargeFunction", "the ledger forgets after 3600 s",
           put("ChargeFunction", "Environment", "Variables", "SUREHAND_LEDGER_RETENTION", value="3600")),
    Broken("E01", "ChargeQueue", "encryption at rest is switched off", put("ChargeQueue", "SqsManagedSseEnabled", value=False)),
    Broken("E02", "ChargeQueue", "without TLS", remove("ChargeQueueTls")),
    Broken("D09", "ChargeQueue", "alias/aws/sqs, which sns.amazonaws.com may not use",
           both(put("ChargeQueue", "KmsMasterKeyId", value="alias/aws/sqs"),
                add("Subscription", resource("AWS::SNS::Subscription", Protocol="sqs", Endpoint=arn("ChargeQueue"))))),
    Broken("D09", "ExportQueue", "does not let events.amazonaws.com encrypt",
           both(put("ExportQueue", "KmsMasterKeyId", value=arn("Key")),
                add("Key", resource("AWS::KMS::Key", KeyPolicy={"Statement": []})),
                add("Events", resource("AWS::Events::Rule", Targets=[{"Id": "a", "Arn": arn("ExportQueue")}])))),
    Broken("E03", "Topic", "alias/aws/sns, which CloudWatch alarms may not use",
           put("Topic", "KmsMasterKeyId", value="alias/aws/sns"), applies=False),
    Broken("E03", "Topic", "does not let cloudwatch.amazonaws.com encrypt",
           put("TopicKey", "KeyPolicy", value={"Version": "2012-10-17", "Statement": []})),
    Broken("S01", "Tick", "no dead-letter queue", put("Tick", "Target", "DeadLetterConfig", value=None)),
    Broken("S01", "Tick", "is FIFO, which Scheduler does not support", put("TickLetters", "FifoQueue", value=True)),
    Broken("S02", "Tick", "185 retries over 86400 s", put("Tick", "Target", "RetryPolicy", value=None)),
    Broken("S03", "Tick", "without a time zone", put("Tick", "ScheduleExpressionTimezone", value=None)),
    Broken("S03", "Tick", "a flexible window of 1440 min",
           put("Tick", "FlexibleTimeWindow", value={"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 1440})),
    Broken("S04", "Tick", "default group", put("Tick", "GroupName", value=None), also=("A04",)),
    Broken("S06", "Tick", "does not carry <aws.scheduler.scheduled-time>", put("Tick", "Target", "Input", value="{}")),
    Broken("S07", "Tick", "invokes ExportFunction directly", put("Tick", "Target", "Arn", value=arn("ExportFunction")),
           applies=False),
    Broken("S07", "Tick", "without a message group",
           both(put("Tick", "Target", "Arn", value=arn("ShipQueue")),
                put("TickRole", "Policies", 0, "PolicyDocument", "Statement",
                    value=[statement("sqs:SendMessage", [arn("ShipQueue"), arn("TickLetters")])]))),
    Broken("S08", "Tick", "its role may not send to TickLetters",
           put("TickRole", "Policies", 0, "PolicyDocument", "Statement",
               value=[statement("sqs:SendMessage", [arn("ExportQueue")])])),
    Broken("S09", "Tick", "its role may lambda:InvokeFunction",
           put("TickRole", "Policies", 0, "PolicyDocument", "Statement", 0, "Action",
               value=["sqs:SendMessage", "lambda:InvokeFunction"]), applies=False),
    Broken("T09", "Ledger", "keys {'HASH': 'pk'}",
           put("Ledger", "KeySchema", value=[{"AttributeName": "pk", "KeyType": "HASH"}])),
    Broken("T01", "Ledger", "time to live on no attribute", put("Ledger", "TimeToLiveSpecification", value=None)),
    Broken("T01", "Ledger", "time to live on expires",
           put("Ledger", "TimeToLiveSpecification", "AttributeName", value="expires")),
    Broken("T04", "Ledger", "provisioned capacity",
           put("Ledger", "BillingMode", value="PROVISIONED")),
    Broken("T07", "Ledger", "no index attention", put("Ledger", "GlobalSecondaryIndexes", value=None)),
    Broken("T02", "Ledger", "no point-in-time recovery", put("Ledger", "PointInTimeRecoverySpecification", value=None)),
    Broken("T03", "Ledger", "no deletion protection", put("Ledger", "DeletionProtectionEnabled", value=None)),
    Broken("N03", "ChargeQueue", "UpdateReplacePolicy Delete", attribute("ChargeQueue", "UpdateReplacePolicy", "Delete")),
    Broken("W01", "Url", "anyone may call",
           add("Url", resource("AWS::Lambda::Url", TargetFunctionArn=arn("IngressFunction"), AuthType="NONE"))),
    Broken("W02", "ApiStage", "no throttling of its own", put("ApiStage", "DefaultRouteSettings", value=None)),
    Broken("W03", "ApiStage", "no access log", put("ApiStage", "AccessLogSettings", value=None)),
    Broken("W04", "IngressFunction", "timeout 60 s behind an HTTP API", put("IngressFunction", "Timeout", value=60)),
    Broken("W06", "ApiIntegration", "calls the handler ChargeFunction directly",
           put("ApiIntegration", "IntegrationUri", value=arn("ChargeFunction")), applies=False, also=("W04",)),
    Broken("F01", "ChargeFunction", "MemorySize left to Lambda's defaults", put("ChargeFunction", "MemorySize", value=None)),
    Broken("F10", "ChargeFunction", "runtime python3.8", put("ChargeFunction", "Runtime", value="python3.8")),
    Broken("F02", "ChargeFunction", "plain text logs", put("ChargeFunction", "LoggingConfig", "LogFormat", value="Text")),
    Broken("F12", "ChargeFunction", "no log group of its own", put("ChargeFunction", "LoggingConfig", "LogGroup", value=None)),
    Broken("F12", "ExportFunction", "keeps logs for ever", put("ExportLogs", "RetentionInDays", value=None)),
    Broken("F03", "ChargeFunction", "tracing is not active", put("ChargeFunction", "TracingConfig", value=None)),
    Broken("F04", "ChargeFunction", "recursion is allowed", put("ChargeFunction", "RecursiveLoop", value="Allow")),
    Broken("F05", "IngressFunction", "shares its role with ExportFunction", shared_role, applies=False),
    Broken("F08", "ChargeMapping", "calls $LATEST",
           put("ChargeFunction", "SnapStart", value={"ApplyOn": "PublishedVersions"}), applies=False),
    Broken("F08", "ApiIntegration", "calls $LATEST",
           put("IngressFunction", "SnapStart", value={"ApplyOn": "PublishedVersions"}), applies=False),
    Broken("F07", "ChargeFunction", "STRIPE_SECRET looks like a secret",
           put("ChargeFunction", "Environment", "Variables", "STRIPE_SECRET", value="hunter2")),
    Broken("F07", "ExportFunction", "SETTING looks like a secret",
           put("ExportFunction", "Environment", "Variables", "SETTING", value="whsec_abcdefgh12345678")),
    Broken("F06", "ChargeFunction", "bytes of environment",
           put("ChargeFunction", "Environment", "Variables", "RULES", value="x" * 4096), applies=False),
    Broken("F13", "ChargeFunction", "SUREHAND_TABLE is not set",
           put("ChargeFunction", "Environment", "Variables", "SUREHAND_TABLE", value=None), applies=False),
    Broken("F15", "ChargeFunction", "does not hold the URL of ChargeQueue",
           put("ChargeFunction", "Environment", "Variables", "SUREHAND_QUEUE_CHARGE", value={"Ref": "ExportQueue"})),
    Broken("F14", "ShipFunction", "is also the name of ChargeFunction",
           put("ShipFunction", "Environment", "Variables", "SUREHAND_HANDLER", value="charge"), applies=False, also=("F15", "P04")),
    Broken("P01", "ChargeFunction", "may not sqs:ChangeMessageVisibility on ChargeQueue",
           put("ChargeRole", "Policies", 0, "PolicyDocument", "Statement", 0, "Action",
               value=["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"])),
    Broken("P02", "ChargeFunction", "may not dynamodb:GetItem, dynamodb:BatchGetItem, dynamodb:PartiQLInsert",
           put("ChargeRole", "Policies", 0, "PolicyDocument", "Statement", 1, "Action", value="dynamodb:UpdateItem")),
    Broken("P03", "ChargeFunction", "may dynamodb:DeleteItem on the ledger",
           grant("ChargeRole", statement("dynamodb:DeleteItem", arn("Ledger"))), applies=False),
    Broken("P04", "IngressFunction", "SUREHAND_QUEUE_CHARGE names ChargeQueue, and its role may not send there",
           put("IngressRole", "Policies", value=[])),
    Broken("D07", "ChargeFunction", "may send to the dead-letter queue ChargeLetters",
           grant("ChargeRole", statement("sqs:SendMessage", arn("ChargeLetters"))), applies=False),
    Broken("D07", "ExportFunction", "may send to the dead-letter queue ExportLetters",
           grant("ExportRole", statement("sqs:Send*", {"Fn::Sub": "arn:aws:sqs:*:${AWS::AccountId}:*-export-dlq"})),
           applies=False),
    Broken("F11", "ChargeFunction", "may s3:GetObject on everything",
           grant("ChargeRole", statement("s3:GetObject", "*")), applies=False),
    Broken("F11", "ExportFunction", "may sqs:* on its resources",
           grant("ExportRole", statement("sqs:*", arn("ExportQueue"))), applies=False),
    Broken("A01", "ChargeQueue", "no alarm on its backlog", drop_alarms("Age"), applies=False),
    Broken("A13", "ChargeLetters", "no alarm on its content", drop_alarms("Dead"), applies=False),
    Broken("A02", "ChargeMapping", "no alarm on what it polls or puts back", drop_alarms("Failed"), applies=False),
    Broken("A03", "IngressFunction", "no alarm on throttles", remove("IngressThrottles"), applies=False),
    Broken("A04", "Tick", "no alarm on dropped ticks", remove("TicksDropped"), applies=False),
    Broken("A05", "Ledger", "no alarm on throttling", remove("LedgerThrottled"), applies=False),
    Broken("A06", "ShipAge", "no action", put("ShipAge", "AlarmActions", value=None), applies=False),
    Broken("A07", "ShipDead", "watches NumberOfMessagesSent of ShipLetters",
           put("ShipDead", "MetricName", value="NumberOfMessagesSent"), also=("A13",)),
    Broken("A08", "ChargePoison", "dimension tenant on surehand/DeadLettered",
           put("ChargePoison", "Dimensions", value=[{"Name": "handler", "Value": "charge"}, {"Name": "tenant", "Value": "t"}]),
           applies=False),
    Broken("A09", "ShipAge", "does not say what missing data means", put("ShipAge", "TreatMissingData", value=None)),
    Broken("A10", "ShipAge", "no link to a runbook heading", put("ShipAge", "AlarmDescription", value="Old messages."),
           applies=False),
    Broken("A11", "Sum", "11 metrics in one alarm",
           add("Sum", resource("AWS::CloudWatch::Alarm", AlarmDescription=RUNBOOK, AlarmActions=[{"Ref": "Topic"}],
                               TreatMissingData="notBreaching", EvaluationPeriods=1, Threshold=1,
                               Metrics=[{"Id": f"m{i}", "MetricStat": {"Period": 60, "Stat": "Sum", "Metric": {
                                   "Namespace": "surehand", "MetricName": "Attempts",
                                   "Dimensions": [{"Name": "handler", "Value": f"h{i}"}]}}} for i in range(11)]),
               where="watch"), applies=False),
    Broken("S05", "ShipAge", "1000 periods of 300 s",
           both(put("ShipAge", "Period", value=300), put("ShipAge", "EvaluationPeriods", value=1000))),
    Broken("A12", "Cause", "not checkable: alarm gone is in none",
           put("Cause", "AlarmRule", value={"Fn::Sub": 'ALARM("gone") OR ALARM("${ChargeAge}")'}), applies=False),
    Broken("X01", "Other", "not checkable: its template is not part",
           add("Other", resource("AWS::CloudFormation::Stack", TemplateURL="s3://elsewhere/template.json")), applies=False),
    Broken("X02", "Transform", "adds resources when it expands",
           add("Function", resource("AWS::Serverless::Function")), applies=False),
    Broken("N02", "ChargeQueue", "stack watch refers to it weakly",
           put("ChargeAge", "Dimensions", 0, "Value",
               value={"Fn::GetStackOutput": {"StackName": "core", "OutputName": "ExportChargeQueue"}}), applies=False),
)  # fmt: skip
