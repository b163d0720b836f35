"""A user's own resources beside ours never stop a synthesis; a stack without ours is judged as what it is."""

from __future__ import annotations

from typing import Any

import pytest

from surehand_cdk.rules import check
from tests.infra.rules.shop import arn, resource, role, shop, statement

ORDINARY: dict[str, dict[str, Any]] = {
    "a bucket": {"Pictures": resource("AWS::S3::Bucket")},
    "a topic that feeds our queue": {
        "Orders": resource("AWS::SNS::Topic"),
        "Subscription": resource(
            "AWS::SNS::Subscription", Protocol="sqs", TopicArn={"Ref": "Orders"}, Endpoint=arn("ChargeQueue")
        ),
        "Policy": resource(
            "AWS::SQS::QueuePolicy",
            Queues=[{"Ref": "ChargeQueue"}],
            PolicyDocument={
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "sns.amazonaws.com"},
                        "Action": "sqs:SendMessage",
                        "Resource": arn("ChargeQueue"),
                        "Condition": {"ArnEquals": {"aws:SourceArn": {"Ref": "Orders"}}},
                    }
                ]
            },
        ),
    },
    "an event rule that feeds our queue": {
        "Uploads": resource("AWS::Events::Rule", Targets=[{"Id": "a", "Arn": arn("ChargeQueue")}]),
    },
    "a network": {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")},
    "a queue that nothing of ours consumes": {"Jobs": resource("AWS::SQS::Queue")},
    "a function with defaults only": {
        "Report": resource("AWS::Lambda::Function", Role="arn:aws:iam::123456789012:role/report"),
    },
    "a function that sends to our queue": {
        "Shop": resource("AWS::Lambda::Function", Role=arn("ShopRole")),
        "ShopRole": role(statement("sqs:SendMessage", arn("ChargeQueue"))),
    },
    "a table with defaults": {"Carts": resource("AWS::DynamoDB::Table", KeySchema=[])},
    "an alarm without action": {
        "Busy": resource("AWS::CloudWatch::Alarm", Namespace="AWS/EC2", MetricName="CPUUtilization", Threshold=1)
    },
    "a log group that is kept for ever": {"Logs": resource("AWS::Logs::LogGroup")},
    "an HTTP API of their own": {
        "Site": resource("AWS::ApiGatewayV2::Api"),
        "SiteStage": resource("AWS::ApiGatewayV2::Stage", ApiId={"Ref": "Site"}),
    },
}

BROKEN: dict[str, dict[str, Any]] = {
    "a consumer without a dead-letter queue": {
        "Jobs": resource("AWS::SQS::Queue"),
        "Worker": resource("AWS::Lambda::Function", Timeout=30, Role=arn("WorkerRole")),
        "WorkerRole": role(),
        "WorkerMapping": resource(
            "AWS::Lambda::EventSourceMapping", EventSourceArn=arn("Jobs"), FunctionName={"Ref": "Worker"}
        ),
    },
    "a function URL for everyone": {
        "Worker": resource("AWS::Lambda::Function", Role=arn("WorkerRole")),
        "WorkerRole": role(),
        "Url": resource("AWS::Lambda::Url", TargetFunctionArn=arn("Worker"), AuthType="NONE"),
    },
}


def with_own(resources: dict[str, Any]) -> dict[str, dict[str, Any]]:
    templates = shop()
    templates["core"]["Resources"] |= resources
    return templates


@pytest.mark.parametrize("resources", ORDINARY.values(), ids=ORDINARY.keys())
def test_an_ordinary_addition_beside_our_constructs_has_no_error(resources: dict[str, Any]):
    assert [f.text for f in check(with_own(resources)) if f.level == "error"] == []


@pytest.mark.parametrize(
    "resources",
    [v for k, v in ORDINARY.items() if k != "a function with defaults only"],
    ids=[k for k in ORDINARY if k != "a function with defaults only"],
)
def test_an_ordinary_addition_beside_our_constructs_has_not_even_a_warning(resources: dict[str, Any]):
    assert [f.text for f in check(with_own(resources))] == []


def test_a_function_whose_role_is_elsewhere_is_said_to_be_not_checkable_and_passes():
    findings = check(with_own(ORDINARY["a function with defaults only"]))

    assert [(f.rule.id, f.resource, f.level, f.checkable) for f in findings] == [("D07", "Report", "warning", False)]


def test_extra_environment_on_our_function_is_no_business_of_ours():
    templates = shop()
    variables = templates["core"]["Resources"]["ChargeFunction"]["Properties"]["Environment"]["Variables"]
    variables |= {"STRIPE_SECRET_ARN": "arn:aws:secretsmanager:eu-west-1:1:secret:s", "TOKEN_TABLE": "t", "LOG": "INFO"}

    assert check(templates) == []


@pytest.mark.parametrize("resources", BROKEN.values(), ids=BROKEN.keys())
def test_a_violation_by_the_users_own_is_only_warned_about_beside_our_handlers(resources: dict[str, Any]):
    assert {f.level for f in check(with_own(resources))} == {"warning"}


@pytest.mark.parametrize("resources", BROKEN.values(), ids=BROKEN.keys())
def test_a_stack_without_our_handlers_is_refused(resources: dict[str, Any]):
    assert "error" in {f.level for f in check({"stack": {"Resources": resources}})}


@pytest.mark.parametrize("resources", BROKEN.values(), ids=BROKEN.keys())
def test_the_users_own_is_refused_beside_ours_when_he_asks_for_it(resources: dict[str, Any]):
    assert "error" in {f.level for f in check(with_own(resources), unmarked="refuse")}


@pytest.mark.parametrize("resources", BROKEN.values(), ids=BROKEN.keys())
def test_the_users_own_is_left_alone_when_he_asks_for_it(resources: dict[str, Any]):
    assert check(with_own(resources), unmarked="ignore") == []


def test_a_rule_about_our_handlers_does_not_speak_of_others():
    findings = check({"stack": {"Resources": BROKEN["a consumer without a dead-letter queue"]}})

    assert {f.rule.scope for f in findings} == {"any"}
