"""`surehand inventory`: a stable contract, and the same as the template, in both directions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from surehand import Service
from surehand_cli.inventory.contract import inventory
from tests.ops.conftest import Surehand

pytestmark = pytest.mark.infra

QUEUE, FUNCTION, MAPPING = "AWS::SQS::Queue", "AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping"


class Template:
    """A synthesised service, read by names."""

    def __init__(self, service: Service) -> None:
        from aws_cdk import Stack

        from surehand_cdk import ServiceConstruct
        from tests.infra.synthesis import WITHOUT_CODE, new_app, synthesise

        app = new_app(**WITHOUT_CODE)
        ServiceConstruct(Stack(app, "core"), "Service", service, stage="dev", protect=False)
        self.resources: Mapping[str, Any] = synthesise(app).template["Resources"]

    def of(self, kind: str, name: str) -> dict[str, Any]:
        """Return the properties of the resources of a kind, by the value of the property that names them."""
        return {one["Properties"][name]: one["Properties"] for one in self.resources.values() if one["Type"] == kind}

    def named(self, value: Any) -> str:
        """Return what a reference refers to: the physical name, with the attribute that is asked for."""
        if isinstance(value, str):
            return value
        if "Ref" in value:
            return self._name(value["Ref"])
        if "Fn::GetAtt" in value:
            return self._name(value["Fn::GetAtt"][0])
        return "".join(self.named(part) if isinstance(part, dict) else part for part in value["Fn::Join"][1])

    def granted(self, function: str) -> set[tuple[str, str]]:
        """Return action and resource of everything that a function may do."""
        role = self.of(FUNCTION, "FunctionName")[function]["Role"]["Fn::GetAtt"][0]
        return set(self._granted(role))

    def mapping(self, function: str) -> dict[str, Any]:
        (found,) = [
            one["Properties"]
            for one in self.resources.values()
            if one["Type"] == MAPPING and self.named(one["Properties"]["FunctionName"]) == function
        ]
        return dict(found)

    def _granted(self, role: str) -> Iterator[tuple[str, str]]:
        for one in self.resources.values():
            if one["Type"] != "AWS::IAM::Policy" or {"Ref": role} not in one["Properties"]["Roles"]:
                continue
            for statement in one["Properties"]["PolicyDocument"]["Statement"]:
                for action in _listed(statement["Action"]):
                    for resource in _listed(statement["Resource"]):
                        yield action, self.named(resource)

    def _name(self, logical: str) -> str:
        if logical not in self.resources:
            return f"{{{logical}}}"
        properties = self.resources[logical]["Properties"]
        names = ("QueueName", "TableName", "LogGroupName", "FunctionName")
        return str(next((properties[name] for name in names if name in properties), logical))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _services() -> dict[str, Service]:
    from handlers.service import SHOP
    from tests.infra.hooked_service import HOOKED
    from tests.infra.timed_service import TIMED
    from tests.infra.wide_service import WIDE

    return {service.name: service for service in (SHOP, WIDE, TIMED, HOOKED)}


@pytest.fixture(scope="module", params=["shop", "wide", "timed", "hooked"])
def both(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Template]:
    """A service's inventory and its template."""
    service = _services()[request.param]
    return inventory(service, "dev"), Template(service)


def test_every_queue_of_the_template_is_in_the_inventory_and_the_other_way_round(both) -> None:
    said, template = both
    listed = {one[part]["name"] for one in said["handlers"] for part in ("queue", "dead_letters")}
    listed |= {said["tick_dead_letters"]} - {None}
    assert set(template.of(QUEUE, "QueueName")) == listed


def test_every_function_of_the_template_is_in_the_inventory_and_the_other_way_round(both) -> None:
    said, template = both
    assert set(template.of(FUNCTION, "FunctionName")) == {one["function"]["name"] for one in _working(said)}


def test_the_ingress_has_the_routes_and_the_bucket_of_the_inventory(both) -> None:
    said, template = both
    routes = set(template.of("AWS::ApiGatewayV2::Route", "RouteKey"))
    assert routes == set((said["webhooks"] or {"routes": ()})["routes"])
    buckets = [one["Properties"] for one in template.resources.values() if one["Type"] == "AWS::S3::Bucket"]
    kept = [rule["ExpirationInDays"] for one in buckets for rule in one["LifecycleConfiguration"]["Rules"]]
    assert kept == ([said["webhooks"]["bodies"]["expiration_days"]] if routes else [])


def test_queues_have_the_numbers_of_the_inventory(both) -> None:
    said, template = both
    queues = template.of(QUEUE, "QueueName")
    for one in said["handlers"]:
        queue = queues[one["queue"]["name"]]
        assert queue["VisibilityTimeout"] == one["queue"]["visibility_timeout_seconds"]
        assert queue["MessageRetentionPeriod"] == one["queue"]["retention_seconds"]
        assert queue["RedrivePolicy"]["maxReceiveCount"] == one["queue"]["max_receive_count"]
        assert template.named(queue["RedrivePolicy"]["deadLetterTargetArn"]) == one["dead_letters"]["name"]
        assert queue.get("FifoQueue", False) is one["queue"]["fifo"]
        dead = queues[one["dead_letters"]["name"]]
        assert dead["MessageRetentionPeriod"] == one["dead_letters"]["retention_seconds"]
        assert dead["RedriveAllowPolicy"]["redrivePermission"] == one["dead_letters"]["redrive_permission"]


def test_functions_have_the_settings_and_variables_of_the_inventory(both) -> None:
    said, template = both
    functions = template.of(FUNCTION, "FunctionName")
    for one in _working(said):
        wanted, function = one["function"], functions[one["function"]["name"]]
        assert function["Handler"] == wanted["handler"]
        assert (function["Timeout"], function["MemorySize"]) == (wanted["timeout_seconds"], wanted["memory_mb"])
        assert (function["Runtime"], function["Architectures"]) == (wanted["runtime"], [wanted["architecture"]])
        variables = {name: template.named(value) for name, value in function["Environment"]["Variables"].items()}
        assert variables.keys() == wanted["environment"].keys()
        for name, value in wanted["environment"].items():
            if value not in ("{version}", "{bodies}"):
                assert (value.rpartition("/")[2] if value.startswith("https:") else value) == variables[name], name


def test_mappings_have_the_settings_of_the_inventory(both) -> None:
    said, template = both
    for one in said["handlers"]:
        mapping, wanted = template.mapping(one["function"]["name"]), one["mapping"]
        assert template.named(mapping["EventSourceArn"]) == one["queue"]["name"]
        assert mapping["BatchSize"] == wanted["batch_size"]
        assert mapping.get("MaximumBatchingWindowInSeconds", 0) == wanted["batch_window_seconds"]
        assert mapping["ScalingConfig"]["MaximumConcurrency"] == wanted["max_concurrency"]
        assert mapping["FunctionResponseTypes"] == wanted["function_response_types"]
        assert mapping["MetricsConfig"]["Metrics"] == wanted["metrics"]


def test_functions_are_granted_exactly_the_statements_of_the_inventory(both) -> None:
    said, template = both
    for one in _working(said):
        wanted = {
            (action, _short(resource))
            for statement in one["policy"]
            for action in statement["Action"]
            for resource in statement["Resource"]
        }
        granted = {(action, _short(resource)) for action, resource in template.granted(one["function"]["name"])}
        assert granted == wanted, one["function"]["name"]


def test_the_table_is_the_one_of_the_inventory(both) -> None:
    said, template = both
    (table,) = template.of("AWS::DynamoDB::Table", "TableName").values()
    ledger = said["ledger"]
    assert table["TableName"] == ledger["table"]
    assert [key["AttributeName"] for key in table["KeySchema"]] == list(ledger["keys"])
    assert table["TimeToLiveSpecification"]["AttributeName"] == ledger["ttl_attribute"]
    (index,) = table["GlobalSecondaryIndexes"]
    assert index["IndexName"] == ledger["index"]["name"]
    assert [key["AttributeName"] for key in index["KeySchema"]] == list(ledger["index"]["keys"])
    types = {one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]}
    assert types == ledger["keys"] | ledger["index"]["keys"]


def test_schedules_fire_as_the_inventory_says(both) -> None:
    said, template = both
    schedules = template.of("AWS::Scheduler::Schedule", "Name")
    timed = [one for one in said["handlers"] if _kind(one) == "schedule"]
    assert set(schedules) == {one["function"]["name"] for one in timed} | {said["sweep"]["function"]["name"]}
    for one in timed:
        schedule, wanted = schedules[one["function"]["name"]], one["trigger"]
        assert schedule["ScheduleExpression"] == wanted["expression"]
        assert schedule["Target"]["Input"] == wanted["input"]
        retries = schedule["Target"]["RetryPolicy"]
        assert retries["MaximumRetryAttempts"] == wanted["retries"]
        assert retries["MaximumEventAgeInSeconds"] == wanted["longest_delivery_seconds"]


def test_the_command_prints_one_document_and_needs_no_account(surehand: Surehand) -> None:
    said = surehand("inventory", "--stage", "prod", "--json")
    assert said.status == 0
    document = json.loads(said.out)
    assert (document["contract"], document["service"], document["stage"]) == (1, "depot", "prod")
    assert [one["name"] for one in document["handlers"]] == ["parcels", "lanes", "careful"]
    assert surehand("inventory").out.count("depot-test") == 4


def test_the_document_depends_on_the_declarations_alone() -> None:
    from tests.ops.bells import TOWER

    said = inventory(TOWER, "dev")
    assert said["live"] is None
    assert [one["trigger"].get("ticks", "none") for one in said["handlers"]] == [None, None, None, "none"]


def _working(said: dict[str, Any]) -> list[dict[str, Any]]:
    """Return everything that has a function."""
    return [one for one in (*said["handlers"], said["sweep"], said["webhooks"]) if one is not None]


def _kind(handler: Mapping[str, Any]) -> str:
    return str(handler["trigger"]["kind"])


def _short(resource: str) -> str:
    """Return a resource's name: log groups have a stream's wildcard, buckets a prefix."""
    name = resource.removesuffix(":*")
    if "{bodies}" in name or "Bodies" in name:
        return "bodies/" + name.split("/", 1)[1]
    return name.rpartition("log-group:")[2] if "log-group:" in name else name.rpartition("table/")[2].rpartition(":")[2]
