"""Where alarms go: an encrypted SNS topic whose key CloudWatch may use."""

from __future__ import annotations

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct


def alarm_topic(scope: Construct, id: str, *, name: str) -> sns.Topic:
    """A topic that only alarms of this account may publish to, over TLS.

    Its key is a customer managed one, because CloudWatch may not use ``alias/aws/sns``: alarms would be silent.
    Source: https://repost.aws/knowledge-center/cloudwatch-configure-alarm-sns
    """
    account = Stack.of(scope).account
    cloudwatch = iam.ServicePrincipal(
        "cloudwatch.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": account}}
    )
    key = kms.Key(
        scope,
        f"{id}Key",
        description=f"Encrypts the alarms of {name}",
        enable_key_rotation=True,
        removal_policy=RemovalPolicy.DESTROY,
    )
    key.grant(cloudwatch, "kms:Decrypt", "kms:GenerateDataKey*")
    topic = sns.Topic(scope, id, topic_name=name, display_name=name, master_key=key, enforce_ssl=True)
    topic.grant_publish(cloudwatch)
    return topic
