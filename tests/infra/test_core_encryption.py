"""With a key of the team's own everything is encrypted by it, and every sender can still send."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions

from app_stacks.core import CoreStack
from app_stacks.settings import SettingError, Settings
from surehand_cdk import ServiceConstruct
from tests.infra.granted import statements
from tests.infra.synthesis import WITHOUT_CODE, Synthesis, new_app, synthesise, validated
from tests.infra.wide_service import WARNINGS, WIDE, gathering

pytestmark = pytest.mark.infra


@pytest.fixture(scope="module")
def encrypted() -> Synthesis:
    app = new_app(**WITHOUT_CODE)
    stack = Stack(app, "core")
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    wide = ServiceConstruct(stack, "Service", WIDE, stage="dev", protect=False, encryption_key=key)
    topic = sns.Topic(stack, "Topic", enforce_ssl=True)
    topic.add_subscription(subscriptions.SqsSubscription(wide[gathering].queue))
    rule = events.Rule(stack, "Rule", event_pattern=events.EventPattern(source=["wide"]))
    rule.add_target(targets.SqsQueue(wide[gathering].queue))
    return validated(app, wide)


def key_policy(synthesis: Synthesis) -> list[dict[str, Any]]:
    (key,) = synthesis.of_type("AWS::KMS::Key").values()
    found: list[dict[str, Any]] = key["Properties"]["KeyPolicy"]["Statement"]
    return found


@pytest.mark.parametrize(
    ("kind", "attribute"),
    [("AWS::SQS::Queue", "KmsMasterKeyId"), ("AWS::Logs::LogGroup", "KmsKeyId")],
)
def test_queues_and_logs_are_encrypted_by_it(encrypted: Synthesis, kind: str, attribute: str) -> None:
    (key,) = encrypted.of_type("AWS::KMS::Key")
    used = [resource["Properties"].get(attribute) for resource in encrypted.of_type(kind).values()]
    assert used == [{"Fn::GetAtt": [key, "Arn"]}] * len(used)


def test_the_ledger_is_encrypted_by_it(encrypted: Synthesis) -> None:
    (key,) = encrypted.of_type("AWS::KMS::Key")
    (table,) = encrypted.of_type("AWS::DynamoDB::Table").values()
    assert table["Properties"]["SSESpecification"] == {
        "KMSMasterKeyId": {"Fn::GetAtt": [key, "Arn"]},
        "SSEEnabled": True,
        "SSEType": "KMS",
    }


@pytest.mark.parametrize("handler", WIDE.handlers, ids=lambda handler: handler.name)
def test_each_function_uses_it_through_sqs_and_dynamodb_only(encrypted: Synthesis, handler: Any) -> None:
    policies = [
        statement
        for policy in encrypted.of_type("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if any(action.startswith("kms:") for action in statement["Action"])
    ]
    assert all(list(statement["Condition"]) == ["StringEquals"] for statement in policies)
    through = [statement["Condition"]["StringEquals"]["kms:ViaService"] for statement in policies]
    assert [len(services) for services in through if isinstance(services, list)] == [2] * len(WIDE.handlers)
    (of_sweep,) = [service for service in through if not isinstance(service, list)]
    assert "dynamodb." in str(of_sweep)
    granted = {action for _, actions in statements(encrypted.template, handler) for action in actions}
    assert {"kms:Decrypt", "kms:GenerateDataKey"} <= granted


@pytest.mark.parametrize("sender", ["sns.amazonaws.com", "events.amazonaws.com"])
def test_topics_and_rules_that_a_user_adds_may_use_it(encrypted: Synthesis, sender: str) -> None:
    actions = {
        action
        for statement in key_policy(encrypted)
        if statement["Principal"].get("Service") == sender
        for action in statement["Action"]
    }
    assert "kms:Decrypt" in actions
    assert {"kms:GenerateDataKey*", "kms:GenerateDataKey"} & actions


def test_cloudwatch_logs_may_use_it_for_the_services_groups_alone(encrypted: Synthesis) -> None:
    (statement,) = [each for each in key_policy(encrypted) if "ArnLike" in each.get("Condition", {})]
    assert "/aws/lambda/wide-dev-*" in str(statement["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"])


def test_it_draws_no_finding_of_its_own(encrypted: Synthesis) -> None:
    assert {finding.rule for finding in encrypted.findings} == WARNINGS


class TestTheApp:
    def stack(self, **context: Any) -> Any:
        app = new_app(**WITHOUT_CODE, **context)
        CoreStack(app, Settings.of(app))
        return synthesise(app)

    def test_it_creates_a_rotating_key_on_demand(self) -> None:
        (key,) = self.stack(kms="create", env="prod").of_type("AWS::KMS::Key").values()
        assert key["Properties"]["EnableKeyRotation"] is True
        assert key["DeletionPolicy"] == "Retain"

    def test_it_takes_an_existing_key(self) -> None:
        arn = "arn:aws:kms:eu-west-1:000000000000:key/12345678-1234-1234-1234-123456789012"
        queues = self.stack(kms=arn).of_type("AWS::SQS::Queue").values()
        assert {queue["Properties"]["KmsMasterKeyId"] for queue in queues} == {arn}

    def test_what_is_neither_is_refused(self) -> None:
        with pytest.raises(SettingError, match="-c kms=yes: write 'create', or the ARN"):
            self.stack(kms="yes")
