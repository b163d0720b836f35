"""What a handler's function may do: the actions that its code and Lambda itself use, and no other.

A test compares these lists with the calls that the framework makes; change them together.
"""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs

#: Claim, settle, release and extend: PartiQL statements for batches, single items otherwise. Reads are consistent.
LEDGER_ACTIONS = (
    "dynamodb:BatchGetItem",
    "dynamodb:PartiQLInsert",
    "dynamodb:PartiQLUpdate",
    "dynamodb:UpdateItem",
)
#: Any handler may save a cursor: a transaction that checks the operation and puts the cursor. IAM knows the parts of a
#: transaction, not the call. Source:
#: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
CURSOR_ACTIONS = ("dynamodb:ConditionCheckItem", "dynamodb:GetItem", "dynamodb:PutItem")
#: The sweep reads the table page by page, and once more what it knows to be stuck; …
SWEEP_ACTIONS = ("dynamodb:BatchGetItem", "dynamodb:Scan")
#: … and keeps its position between two runs.
POSITION_ACTIONS = ("dynamodb:GetItem", "dynamodb:PutItem")
#: The event source mapping polls with the function's role.
#: Source: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html#events-sqs-permissions
MAPPING_ACTIONS = ("sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")
#: Backoff, deferral and fast-forward are visibilities of the handler's own messages.
VISIBILITY_ACTIONS = ("sqs:ChangeMessageVisibility",)
#: Sending to another handler; on the own standard queue it renews a message that SQS would soon delete (rule P7).
SEND_ACTIONS = ("sqs:SendMessage",)
#: The group exists already, so nothing may create one (with no retention) after it was deleted.
LOG_ACTIONS = ("logs:CreateLogStream", "logs:PutLogEvents")
#: X-Ray knows no resources. Source:
#: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsx-ray.html
TRACE_ACTIONS = ("xray:PutTelemetryRecords", "xray:PutTraceSegments")
#: With a key of the user's own, SQS and DynamoDB use it in the name of the function. Sources:
#: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html,
#: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
KEY_ACTIONS = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
#: A function in a VPC attaches network interfaces; EC2 does not offer these actions for single resources at creation.
#: Source: https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
NETWORK_ACTIONS = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)


def statements(
    *,
    queue: sqs.IQueue,
    fifo: bool,
    targets: Iterable[sqs.IQueue],
    table: dynamodb.ITable,
    log_group: logs.ILogGroup,
    key: kms.IKey | None,
    in_vpc: bool,
) -> list[iam.PolicyStatement]:
    """Return what one function needs beyond tracing, which CDK adds by itself; *targets* are the queues it sends to."""
    receiving = (*MAPPING_ACTIONS, *VISIBILITY_ACTIONS, *(() if fifo else SEND_ACTIONS))
    allowed = [
        iam.PolicyStatement(actions=list(receiving), resources=[queue.queue_arn]),
        iam.PolicyStatement(actions=[*LEDGER_ACTIONS, *CURSOR_ACTIONS], resources=[table.table_arn]),
        iam.PolicyStatement(actions=list(LOG_ACTIONS), resources=[log_group.log_group_arn]),
    ]
    arns = [target.queue_arn for target in targets]
    if arns:
        allowed.append(iam.PolicyStatement(actions=list(SEND_ACTIONS), resources=arns))
    if key is not None:
        services = [f"{service}.{Stack.of(table).region}.amazonaws.com" for service in ("dynamodb", "sqs")]
        allowed.append(
            iam.PolicyStatement(
                actions=list(KEY_ACTIONS),
                resources=[key.key_arn],
                conditions={"StringEquals": {"kms:ViaService": services}},
            )
        )
    if in_vpc:
        allowed.append(iam.PolicyStatement(actions=list(NETWORK_ACTIONS), resources=["*"]))
    return allowed
