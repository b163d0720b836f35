"""Encryption at rest and in transit, and keys that the senders may use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from . import sources
from .assembly import Assembly, location
from .consumption import consumed, sources_by_dead_letters
from .rule import NotKnown, Scope, Verdict, refuse, rule
from .shapes import dig, listed
from .template import Edit, Resource, Unknown
from .watching import topics

AWS_MANAGED = ("alias/aws/sqs", "alias/aws/sns")


def _queues(a: Assembly) -> list[Resource]:
    return list(dict.fromkeys([*consumed(a), *sources_by_dead_letters(a)]))


def _at_rest(a: Assembly, queue: Resource) -> Iterator[Verdict]:
    managed = a.flag(queue, "SqsManagedSseEnabled", default=True)
    key = a.peek(queue, "KmsMasterKeyId")
    if not managed and key is None:
        yield refuse(
            queue,
            location("SqsManagedSseEnabled"),
            "encryption at rest is switched off",
            fix="encryption=QueueEncryption.SQS_MANAGED",
            edits=[queue.put("SqsManagedSseEnabled", value=True)],
        )


def _in_transit(a: Assembly, queue: Resource) -> Iterator[Verdict]:
    for policy in a.resources("AWS::SQS::QueuePolicy"):
        queues = [a.target(a.resolve(raw, within=policy.template)) for raw in listed(policy.properties.get("Queues"))]
        if queue in queues and any(_denies_plain_text(s) for s in _statements(a, policy)):
            return
    statement = {
        "Effect": "Deny", "Principal": "*", "Action": "sqs:*",
        "Resource": {"Fn::GetAtt": [queue.id, "Arn"]},
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }  # fmt: skip
    document = {"Version": "2012-10-17", "Statement": [statement]}
    yield refuse(
        queue,
        location(),
        "no queue policy refuses requests without TLS",
        fix="enforce_ssl=True",
        edits=[
            Edit(
                template=queue.template,
                path=("Resources", f"{queue.id}TlsOnly"),
                value={
                    "Type": "AWS::SQS::QueuePolicy",
                    "Properties": {"Queues": [{"Ref": queue.id}], "PolicyDocument": document},
                },
            )
        ],
    )


def _statements(a: Assembly, policy: Resource) -> list[Any]:
    return listed(a.peek(policy, "PolicyDocument", "Statement"))


def _denies_plain_text(statement: Any) -> bool:
    if not isinstance(statement, Mapping) or statement.get("Effect") != "Deny":
        return False
    return str(dig(statement, "Condition", "Bool", "aws:SecureTransport")).lower() == "false"


def _feeders(a: Assembly, queue: Resource) -> Iterator[str]:
    """The services that deliver into *queue* by themselves."""
    for subscription in a.resources("AWS::SNS::Subscription"):
        if a.target(a.peek(subscription, "Endpoint")) is queue:
            yield "sns.amazonaws.com"
    for event_rule in a.resources("AWS::Events::Rule"):
        for index in range(len(listed(event_rule.properties.get("Targets")))):
            if a.target(a.peek(event_rule, "Targets", index, "Arn")) is queue:
                yield "events.amazonaws.com"
    for schedule in a.resources("AWS::Scheduler::Schedule"):
        if a.target(a.peek(schedule, "Target", "Arn")) is queue:
            yield "scheduler.amazonaws.com"


def _usable_key(a: Assembly, queue: Resource) -> Iterator[Verdict]:
    key = a.value(queue, "KmsMasterKeyId")
    feeders = sorted(set(_feeders(a, queue)))
    if key is None or not feeders:
        return
    if str(key).endswith(AWS_MANAGED[0]):
        yield refuse(
            queue,
            location("KmsMasterKeyId"),
            f"encrypted with {AWS_MANAGED[0]}, which {', '.join(feeders)} may not use: its messages are dropped",
            fix="encryption=QueueEncryption.SQS_MANAGED, or a customer managed key that names the service",
            edits=[queue.drop("KmsMasterKeyId")],
        )
        return
    owner = a.target(key)
    if isinstance(owner, Unknown):
        raise NotKnown(queue, location("KmsMasterKeyId"), owner.reason)
    for service in feeders:
        # Scheduler encrypts with its own role; the other services ask the key's policy.
        if service != "scheduler.amazonaws.com" and not _key_admits(a, owner, service):
            yield _key_refusal(a, queue, owner, service)


def _key_admits(a: Assembly, key: Resource, service: str) -> bool:
    for statement in listed(a.peek(key, "KeyPolicy", "Statement")):
        text = " ".join(map(str, listed(dig(statement, "Action"))))
        if service in listed(dig(statement, "Principal", "Service")) and (
            "kms:*" in text or ("kms:GenerateDataKey" in text and "kms:Decrypt" in text)
        ):
            return True
    return False


def _key_refusal(a: Assembly, subject: Resource, key: Resource, service: str) -> Verdict:
    statements = listed(a.peek(key, "KeyPolicy", "Statement"))
    statement = {
        "Effect": "Allow", "Principal": {"Service": service},
        "Action": ["kms:Decrypt", "kms:GenerateDataKey*"], "Resource": "*",
    }  # fmt: skip
    return refuse(
        subject,
        location("KmsMasterKeyId"),
        f"the policy of key {key.id} does not let {service} encrypt",
        fix=f"allow {service} kms:Decrypt and kms:GenerateDataKey* in the policy of {key.id}",
        edits=[key.put("KeyPolicy", "Statement", len(statements), value=statement)],
    )


def _topic_reachable(a: Assembly, topic: Resource) -> Iterator[Verdict]:
    key = a.value(topic, "KmsMasterKeyId")
    if key is None:
        return
    if str(key).endswith(AWS_MANAGED[1]):
        yield refuse(
            topic,
            location("KmsMasterKeyId"),
            f"encrypted with {AWS_MANAGED[1]}, which CloudWatch alarms may not use: every alarm is silent",
            fix="a customer managed key that allows cloudwatch.amazonaws.com kms:Decrypt and kms:GenerateDataKey*",
        )
        return
    owner = a.target(key)
    if isinstance(owner, Unknown):
        raise NotKnown(topic, location("KmsMasterKeyId"), owner.reason)
    if not _key_admits(a, owner, "cloudwatch.amazonaws.com"):
        yield _key_refusal(a, topic, owner, "cloudwatch.amazonaws.com")


RULES = (
    rule(
        "E01", "Queues are encrypted at rest", scope=Scope.ANY,
        why="messages carry payloads of customers",
        fix="SQS-managed encryption, or a customer managed key",
        source=sources.SQS_SECURITY, over=_queues, judge=_at_rest,
    ),
    rule(
        "E02", "Queues refuse requests without TLS",
        why="a payload must not travel in the clear",
        fix="a queue policy that denies aws:SecureTransport false",
        source=sources.SQS_SECURITY, over=_queues, judge=_in_transit,
    ),
    rule(
        "D09", "Who feeds an encrypted queue may use its key", scope=Scope.ANY,
        why="the delivery fails at the sender, out of sight of this stack's alarms",
        fix="a customer managed key whose policy names the sending service",
        source=sources.SQS_KEYS, over=_queues, judge=_usable_key,
    ),
    rule(
        "E03", "CloudWatch may use the key of the alarm topic", scope=Scope.ANY,
        why="an alarm whose notification cannot be encrypted reaches nobody and says so nowhere",
        fix="a customer managed key whose policy names cloudwatch.amazonaws.com",
        source=sources.ALARM_TOPIC_KEY, over=topics, judge=_topic_reachable,
    ),
)  # fmt: skip
