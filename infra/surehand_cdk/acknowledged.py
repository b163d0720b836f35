"""Public rules that do not fit what we build, each acknowledged once with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct

#: On a handler's function and role.
FUNCTION: Mapping[str, str] = {
    "AwsSolutions-L1": "The run time is the one that the bundle is built and tested for; it is raised with the lock.",
}
TRACING: Mapping[str, str] = {
    "AwsSolutions-IAM5[Resource::*]": "X-Ray's actions, and EC2's for a function in a VPC, know no single resources.",
}
CODE: Mapping[str, str] = {
    "@aws-cdk/aws-lambda:codeFromBucketObjectVersionNotSpecified": "The key is the hash of what it holds.",
}
ADOPTED_SOURCE: Mapping[str, str] = {
    "surehand::Q03": "The queue is adopted: its attributes are its owner's, and an output says what they must be.",
}
ADOPTED: Mapping[str, str] = {
    "AwsSolutions-SQS3": "It is the dead-letter queue of an adopted queue, whose redrive policy stands elsewhere.",
}
TICKS: Mapping[str, str] = {
    "AwsSolutions-SQS3": "It is the dead-letter queue of the service's schedules, whose targets name it.",
}
#: On the sweep as a whole: its function and its schedule.
SWEEPING: Mapping[str, str] = {
    "surehand::S01": "A run that was not delivered is made good by the next one; a gauge that is missing is an alarm.",
    "surehand::S07": "The sweep has no queue and must have none: it only reads, and a repeated run does nothing twice.",
    "surehand::S09": "Its role may invoke the sweep, and nothing else.",
    "surehand::A03": "A sweep that fails or is throttled tells no gauge, and a gauge that is missing is an alarm.",
    "surehand::A04": "A sweep that is not started tells no gauge, and a gauge that is missing is an alarm.",
}
#: On a role that a grant of CDK's lets use the team's key.
KEY_GRANTS: Mapping[str, str] = {
    "AwsSolutions-IAM5[Action::kms:GenerateDataKey*]": "CDK's grant of a key names its actions so; the key is one.",
    "AwsSolutions-IAM5[Action::kms:ReEncrypt*]": "CDK's grant of a key names its actions so; the key is one.",
}


def acknowledge(scope: IConstruct, reasons: Mapping[str, str]) -> None:
    """Acknowledge rules (id → reason) on *scope* and everything in it."""
    Validations.of(scope).acknowledge(*(Acknowledgment(id=id, reason=reason) for id, reason in reasons.items()))
