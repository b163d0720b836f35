"""Every service has a sweep of its ledger: scheduled, small, and allowed to do next to nothing."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_kms as kms

from surehand import Service, queue
from surehand.declare.sweeping import MOST_MEGABYTES, POSITION, Task
from surehand.errors import DeclarationError
from surehand_cdk import ServiceConstruct
from surehand_cdk.watch import Watch
from tests.infra.deployed import Deployed
from tests.infra.granted import granted_actions, statements
from tests.infra.synthesis import WITHOUT_CODE, Synthesis, new_app, synthesise
from tests.infra.wide_service import WIDE

pytestmark = pytest.mark.infra

SCHEDULE, FUNCTION, ALARM = "AWS::Scheduler::Schedule", "AWS::Lambda::Function", "AWS::CloudWatch::Alarm"


@queue("sweep", key="id")
def sweep(message: dict[str, Any]) -> None:
    """Sweep the floor."""


def built(service: Service = WIDE, *, encrypted: bool = False, **options: Any) -> Synthesis:
    """Return core and full watch stack of a service."""
    app = new_app(**WITHOUT_CODE)
    stack = Stack(app, "core")
    key = kms.Key(stack, "Key", enable_key_rotation=True) if encrypted else None
    construct = ServiceConstruct(stack, "Service", service, stage="dev", encryption_key=key, **options)
    Watch(Stack(app, "watch"), "Watch", construct, profile="full")
    return synthesise(app)


def named(synthesis: Synthesis, kind: str, attribute: str, name: str) -> list[Mapping[str, Any]]:
    return [
        resource["Properties"]
        for resource in synthesis.of_type(kind).values()
        if resource["Properties"].get(attribute) == name
    ]


def gauged(synthesis: Synthesis) -> set[str]:
    """Return the handlers whose gauge has an alarm."""
    return {
        name.removeprefix("wide-dev-").removesuffix("-stuck-states")
        for resource in synthesis.templates["watch"]["Resources"].values()
        if resource["Type"] == ALARM and (name := resource["Properties"]["AlarmName"]).endswith("-stuck-states")
    }


@pytest.fixture(scope="module")
def watched() -> Synthesis:
    return built()


@pytest.fixture(params=["shop", "wide"])
def either(request: pytest.FixtureRequest) -> Deployed:
    found: Deployed = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def function(either: Deployed) -> Mapping[str, Any]:
    (found,) = named(either.synthesis, FUNCTION, "FunctionName", f"{either.service.name}-dev-sweep")
    return found


@pytest.fixture
def schedule(either: Deployed) -> Mapping[str, Any]:
    (found,) = named(either.synthesis, SCHEDULE, "Name", f"{either.service.name}-dev-sweep")
    return found


class TestFunction:
    def test_it_runs_the_entry_that_the_code_has(self, function: Mapping[str, Any]) -> None:
        module, _, name = function["Handler"].rpartition(".")
        assert callable(getattr(importlib.import_module(module), name))

    def test_it_is_small(self, function: Mapping[str, Any]) -> None:
        assert (function["MemorySize"], function["Timeout"]) == (256, 60)

    def test_it_knows_its_ledger_and_no_queue(self, function: Mapping[str, Any], either: Deployed) -> None:
        table, _ = either.table
        variables = dict(function["Environment"]["Variables"])
        assert len(variables.pop("SUREHAND_VERSION")) == 12
        assert variables == {
            "SUREHAND_SERVICE": either.service.name,
            "SUREHAND_STAGE": "dev",
            "SUREHAND_TABLE": {"Ref": table},
        }

    def test_a_lost_run_is_not_repeated(self, either: Deployed) -> None:
        (sweep,) = [
            id
            for id, resource in either.synthesis.of_type(FUNCTION).items()
            if resource["Properties"]["FunctionName"] == f"{either.service.name}-dev-sweep"
        ]
        configs = either.synthesis.of_type("AWS::Lambda::EventInvokeConfig").values()
        retries = [
            one["Properties"]["MaximumRetryAttempts"]
            for one in configs
            if one["Properties"]["FunctionName"] == {"Ref": sweep}
        ]
        assert retries == [0]


class TestRole:
    def test_it_may_read_the_table_and_write_its_own_position_alone(self, either: Deployed) -> None:
        table, _ = either.table
        policies = [
            statement
            for resource in either.synthesis.of_type("AWS::IAM::Policy").values()
            for statement in resource["Properties"]["PolicyDocument"]["Statement"]
            if "Sweep" in resource["Properties"]["PolicyName"] and "dynamodb:" in json.dumps(statement["Action"])
        ]
        assert [(one["Resource"], one["Action"], one.get("Condition")) for one in policies] == [
            ({"Fn::GetAtt": [table, "Arn"]}, ["dynamodb:BatchGetItem", "dynamodb:Scan"], None),
            (
                {"Fn::GetAtt": [table, "Arn"]},
                ["dynamodb:GetItem", "dynamodb:PutItem"],
                {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [POSITION]}},
            ),
        ]

    def test_it_may_do_nothing_with_any_queue(self, either: Deployed) -> None:
        granted = granted_actions(either.synthesis.template, f"{either.service.name}-dev-sweep")
        assert {action.partition(":")[0] for action in granted} == {"dynamodb", "logs", "xray"}

    def test_nothing_but_tracing_is_allowed_on_everything(self, either: Deployed) -> None:
        everywhere = [
            action
            for resources, actions in statements(either.synthesis.template, f"{either.service.name}-dev-sweep")
            if "*" in resources
            for action in actions
        ]
        assert sorted(everywhere) == ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]


class TestSchedule:
    def test_it_fires_every_five_minutes_and_retries_nothing(self, schedule: Mapping[str, Any]) -> None:
        assert schedule["ScheduleExpression"] == "rate(5 minutes)"
        assert schedule["State"] == "ENABLED"
        assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
        assert schedule["Target"]["RetryPolicy"] == {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0}

    def test_it_tells_the_function_how_patient_to_be_with_each_handler(
        self, schedule: Mapping[str, Any], either: Deployed
    ) -> None:
        assert Task.read(json.loads(schedule["Target"]["Input"])) == Task.of(either.service.handlers)

    def test_it_has_a_group_of_its_own_so_that_ticks_are_watched_apart(
        self, schedule: Mapping[str, Any], either: Deployed
    ) -> None:
        group = either.synthesis.template["Resources"][schedule["GroupName"]["Ref"]]
        assert group["Properties"]["Name"] == f"{either.service.name}-dev-sweep"

    def test_its_role_may_invoke_the_sweep_and_nothing_else(
        self, schedule: Mapping[str, Any], either: Deployed
    ) -> None:
        role = schedule["Target"]["RoleArn"]["Fn::GetAtt"][0]
        allowed = [
            (statement["Action"], statement["Resource"])
            for resource in either.synthesis.of_type("AWS::IAM::Policy").values()
            if {"Ref": role} in resource["Properties"]["Roles"]
            for statement in resource["Properties"]["PolicyDocument"]["Statement"]
        ]
        assert allowed == [("lambda:InvokeFunction", schedule["Target"]["Arn"])]

    def test_only_scheduler_may_take_that_role_and_only_for_this_group(
        self, schedule: Mapping[str, Any], either: Deployed
    ) -> None:
        role = either.synthesis.template["Resources"][schedule["Target"]["RoleArn"]["Fn::GetAtt"][0]]
        (trust,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
        assert trust["Condition"]["StringEquals"]["aws:SourceArn"] == {
            "Fn::GetAtt": [schedule["GroupName"]["Ref"], "Arn"]
        }


class TestOptions:
    def test_each_handlers_gauge_is_watched(self, watched: Synthesis) -> None:
        assert gauged(watched) == {handler.name for handler in WIDE.handlers}

    def test_without_it_nothing_is_deployed_and_no_gauge_is_missed(self) -> None:
        without = built(sweep_megabytes=0)
        assert not named(without, FUNCTION, "FunctionName", "wide-dev-sweep")
        assert not named(without, SCHEDULE, "Name", "wide-dev-sweep")
        assert gauged(without) == set()

    def test_where_schedules_sleep_it_sleeps_too_and_no_gauge_is_missed(self) -> None:
        asleep = built(schedules_enabled=False)
        (schedule,) = named(asleep, SCHEDULE, "Name", "wide-dev-sweep")
        assert schedule["State"] == "DISABLED"
        assert gauged(asleep) == set()

    def test_how_much_it_reads_is_the_constructs_to_say(self) -> None:
        (schedule,) = named(built(sweep_megabytes=7), SCHEDULE, "Name", "wide-dev-sweep")
        assert json.loads(schedule["Target"]["Input"])["megabytes"] == 7

    @pytest.mark.parametrize("megabytes", [-1, MOST_MEGABYTES + 1])
    def test_more_than_fits_into_a_run_is_refused(self, megabytes: int) -> None:
        with pytest.raises(DeclarationError, match=rf"sweep_megabytes={megabytes}: a run reads up to 80 MB"):
            built(sweep_megabytes=megabytes)

    def test_a_handler_of_its_name_is_refused_unless_it_is_off(self) -> None:
        service = Service("swept", (sweep,))
        with pytest.raises(DeclarationError, match="has a handler called 'sweep'"):
            built(service)

    def test_with_a_key_of_the_teams_own_it_can_read_write_and_fire(self) -> None:
        encrypted = built(encrypted=True)
        ((key, _),) = encrypted.of_type("AWS::KMS::Key").items()
        (schedule,) = named(encrypted, SCHEDULE, "Name", "wide-dev-sweep")
        assert schedule["KmsKeyArn"] == {"Fn::GetAtt": [key, "Arn"]}
        granted = granted_actions(encrypted.templates["core"], "wide-dev-sweep")
        assert {"kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"} <= granted
