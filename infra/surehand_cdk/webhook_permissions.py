"""What the ingress and a webhook's handler may do beyond what every handler may.

A test compares these lists with the calls that the framework makes; change them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

from surehand.declare.ingress import secrets
from surehand.webhooks.source import Source
from surehand_cdk.permissions import LOG_ACTIONS, SEND_ACTIONS

#: Secrets Manager appends a hyphen and six characters to a secret's name.
#: Source: https://docs.aws.amazon.com/secretsmanager/latest/userguide/auth-and-access_examples.html
_SUFFIX = "-??????"


def may_receive(
    sources: Sequence[Source],
    queues: Iterable[sqs.IQueue],
    bodies: s3.IBucket,
    *,
    log_group: logs.ILogGroup,
    key: kms.IKey | None,
) -> list[iam.PolicyStatement]:
    """Return what the ingress needs beyond tracing: to send to its queues, put under its prefixes, read its secrets.

    A secret that the team encrypts with a key of its own needs that key's decryption granted beside this.
    """
    prefixes = [bodies.arn_for_objects(f"{source.name}/*") for source in sources]
    allowed = [
        iam.PolicyStatement(actions=list(SEND_ACTIONS), resources=[queue.queue_arn for queue in queues]),
        iam.PolicyStatement(actions=["s3:PutObject"], resources=prefixes),
        iam.PolicyStatement(
            actions=["secretsmanager:GetSecretValue"], resources=secret_arns(Stack.of(bodies), sources)
        ),
        iam.PolicyStatement(actions=list(LOG_ACTIONS), resources=[log_group.log_group_arn]),
    ]
    if key is not None:
        allowed.append(_through(key, bodies, ("kms:Decrypt", "kms:GenerateDataKey"), ("s3", "sqs")))
    return allowed


def may_fetch(bodies: s3.IBucket, name: str, key: kms.IKey | None) -> list[iam.PolicyStatement]:
    """Return what the handler called *name* needs to fetch its own large bodies, and nobody else's."""
    allowed = [iam.PolicyStatement(actions=["s3:GetObject"], resources=[bodies.arn_for_objects(f"{name}/*")])]
    if key is not None:
        allowed.append(_through(key, bodies, ("kms:Decrypt",), ("s3",)))
    return allowed


def secret_arns(stack: Stack, sources: Iterable[Source]) -> list[str]:
    """Return the ARNs of the sources' secrets, one for each tenant that has its own."""
    return [
        name
        if name.startswith("arn:")
        else stack.format_arn(
            service="secretsmanager",
            resource="secret",
            resource_name=name + _SUFFIX,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        for name in secrets(sources)
    ]


def _through(key: kms.IKey, bodies: s3.IBucket, actions: Sequence[str], services: Sequence[str]) -> iam.PolicyStatement:
    region = Stack.of(bodies).region
    return iam.PolicyStatement(
        actions=list(actions),
        resources=[key.key_arn],
        conditions={"StringEquals": {"kms:ViaService": [f"{service}.{region}.amazonaws.com" for service in services]}},
    )
