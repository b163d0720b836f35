"""A declared schedule becomes one of EventBridge Scheduler's, which sends ticks to the handler's queue and no more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_kms as kms

from surehand import Service
from surehand_cdk import ServiceConstruct, validate
from tests.infra.synthesis import WITHOUT_CODE, Synthesis, new_app, synthesise
from tests.infra.timed_service import TIMED
from tests.infra.wide_service import WIDE

pytestmark = pytest.mark.infra

SCHEDULE, GROUP, QUEUE = "AWS::Scheduler::Schedule", "AWS::Scheduler::ScheduleGroup", "AWS::SQS::Queue"
NAMES = ["nightly", "window", "minutely", "odd", "twice"]


def built(service: Service = TIMED, *, encrypted: bool = False, **options: Any) -> Synthesis:
    app: App = new_app(**WITHOUT_CODE)
    stack = Stack(app, "core")
    key = kms.Key(stack, "Key", enable_key_rotation=True) if encrypted else None
    ServiceConstruct(stack, "Service", service, stage="dev", encryption_key=key, sweep_megabytes=0, **options)
    validate(app)
    return synthesise(app)


@pytest.fixture(scope="module")
def timed() -> Synthesis:
    return built()


def schedule(synthesis: Synthesis, name: str) -> Mapping[str, Any]:
    by_name = {one["Properties"]["Name"]: one["Properties"] for one in synthesis.of_type(SCHEDULE).values()}
    found: Mapping[str, Any] = by_name[f"timed-dev-{name}"]
    return found


def queue_id(synthesis: Synthesis, name: str) -> str:
    (found,) = [
        identity
        for identity, resource in synthesis.of_type(QUEUE).items()
        if resource["Properties"]["QueueName"] == name
    ]
    return found


def test_every_declared_schedule_is_deployed_and_no_other(timed: Synthesis) -> None:
    assert sorted(one["Properties"]["Name"] for one in timed.of_type(SCHEDULE).values()) == sorted(
        f"timed-dev-{name}" for name in NAMES
    )


def test_what_is_deployed_passes_every_rule(timed: Synthesis) -> None:
    assert timed.findings == ()


def test_a_team_s_own_key_passes_every_rule_and_may_be_used_by_the_schedules() -> None:
    synthesis = built(encrypted=True)
    assert synthesis.findings == ()
    key = next(iter(synthesis.of_type("AWS::KMS::Key")))
    assert schedule(synthesis, "nightly")["KmsKeyArn"] == {"Fn::GetAtt": [key, "Arn"]}


@pytest.mark.parametrize(
    ("name", "expression", "zone"),
    [
        ("nightly", "cron(30 2 * * ? *)", "Europe/Berlin"),
        ("window", "cron(0 0 L * ? *)", "Etc/UTC"),
        ("minutely", "cron(* * * * ? *)", "Etc/UTC"),
        ("odd", "rate(90 minutes)", "Etc/UTC"),
        ("twice", "cron(5,50 8 ? * MON-FRI *)", "Etc/UTC"),
    ],
)
def test_it_fires_as_declared_and_says_its_time_zone(timed: Synthesis, name: str, expression: str, zone: str) -> None:
    made = schedule(timed, name)
    assert (made["ScheduleExpression"], made["ScheduleExpressionTimezone"]) == (expression, zone)


@pytest.mark.parametrize("name", NAMES)
def test_a_tick_goes_to_the_handler_s_queue_and_says_its_moment(timed: Synthesis, name: str) -> None:
    target = schedule(timed, name)["Target"]
    assert target["Arn"] == {"Fn::GetAtt": [queue_id(timed, f"timed-dev-{name}"), "Arn"]}
    assert json.loads(target["Input"]) == {"at": "<aws.scheduler.scheduled-time>"}


@pytest.mark.parametrize(
    ("name", "age"), [("nightly", 3_600), ("window", 86_400), ("minutely", 60), ("odd", 2_700), ("twice", 1_350)]
)
def test_delivery_is_tried_for_less_than_the_time_to_the_next_tick(timed: Synthesis, name: str, age: int) -> None:
    policy = schedule(timed, name)["Target"]["RetryPolicy"]
    assert policy == {"MaximumEventAgeInSeconds": age, "MaximumRetryAttempts": 5}


@pytest.mark.parametrize("name", NAMES)
def test_a_tick_that_cannot_be_delivered_is_kept_for_fourteen_days(timed: Synthesis, name: str) -> None:
    dead = queue_id(timed, "timed-dev-ticks-dlq")
    assert schedule(timed, name)["Target"]["DeadLetterConfig"] == {"Arn": {"Fn::GetAtt": [dead, "Arn"]}}
    properties = timed.of_type(QUEUE)[dead]["Properties"]
    assert (properties["MessageRetentionPeriod"], properties["SqsManagedSseEnabled"]) == (1_209_600, True)


def test_the_service_has_a_group_of_its_own(timed: Synthesis) -> None:
    ((group, resource),) = timed.of_type(GROUP).items()
    assert resource["Properties"]["Name"] == "timed-dev"
    for one in timed.of_type(SCHEDULE).values():
        assert one["Properties"]["GroupName"] == "timed-dev"
        assert group in one["DependsOn"]


def test_only_a_declared_window_is_flexible(timed: Synthesis) -> None:
    windows = {name: schedule(timed, name)["FlexibleTimeWindow"] for name in NAMES}
    assert windows.pop("window") == {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 90}
    assert all(one == {"Mode": "OFF"} for one in windows.values())


def test_the_role_may_send_to_that_queue_and_the_dead_letter_queue_and_no_more(timed: Synthesis) -> None:
    role = schedule(timed, "nightly")["Target"]["RoleArn"]["Fn::GetAtt"][0]
    (policy,) = [
        resource["Properties"]["PolicyDocument"]["Statement"]
        for resource in timed.of_type("AWS::IAM::Policy").values()
        if {"Ref": role} in resource["Properties"]["Roles"]
    ]
    allowed = {resource["Fn::GetAtt"][0] for one in policy for resource in _listed(one["Resource"])}
    assert allowed == {queue_id(timed, "timed-dev-nightly"), queue_id(timed, "timed-dev-ticks-dlq")}
    assert {action for one in policy for action in _listed(one["Action"])} <= {
        "sqs:SendMessage",
        "sqs:GetQueueAttributes",
        "sqs:GetQueueUrl",
    }


def test_only_schedules_of_the_own_group_and_account_may_take_the_role(timed: Synthesis) -> None:
    role = schedule(timed, "nightly")["Target"]["RoleArn"]["Fn::GetAtt"][0]
    (statement,) = timed.of_type("AWS::IAM::Role")[role]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert statement["Condition"]["StringEquals"]["aws:SourceAccount"] == {"Ref": "AWS::AccountId"}
    assert "aws:SourceArn" in statement["Condition"]["StringEquals"]


def test_schedules_can_be_deployed_asleep() -> None:
    states = {one["Properties"]["State"] for one in built(schedules_enabled=False).of_type(SCHEDULE).values()}
    assert states == {"DISABLED"}


def test_a_service_without_schedules_has_no_group_and_no_queue_for_ticks() -> None:
    synthesis = built(WIDE)
    assert synthesis.of_type(GROUP) == {}
    assert not [one for one in synthesis.of_type(QUEUE).values() if "ticks" in one["Properties"]["QueueName"]]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
