"""What becomes of data at rest: how it is encrypted, how long logs stay, and whether it outlives its stack."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """One policy for queues, ledger and logs. Without a *key* each service encrypts with a key of its own."""

    protect: bool
    key: kms.IKey | None

    @property
    def removal(self) -> RemovalPolicy:
        """Protected resources outlive the stack, but a failed first deployment leaves nothing behind."""
        return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if self.protect else RemovalPolicy.DESTROY

    @property
    def log_retention(self) -> logs.RetentionDays:
        """Long enough to look into a dead letter at the end of its fourteen days, and much longer where it is real."""
        return logs.RetentionDays.THREE_MONTHS if self.protect else logs.RetentionDays.ONE_MONTH


def admit_logs(key: kms.IKey, stack: Stack, group_prefix: str) -> None:
    """Let CloudWatch Logs use *key* for the groups of *stack* whose names begin with *group_prefix*.

    An imported key's policy is its owner's to write: nothing happens then. Source:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    """
    groups = stack.format_arn(
        service="logs",
        resource="log-group",
        resource_name=group_prefix + "*",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal(f"logs.{stack.region}.amazonaws.com")],
            actions=["kms:Decrypt*", "kms:Describe*", "kms:Encrypt*", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
            resources=["*"],
            conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
        )
    )
