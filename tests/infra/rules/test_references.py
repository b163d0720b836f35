"""Values are followed through aliases, versions, stacks and nested stacks; what cannot be followed is said."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from surehand_cdk.rules import Finding, Template, check
from tests.infra.rules.shop import Templates, arn, broken, core, resource, shop


def spoken(templates: Templates, rule: str) -> list[Finding]:
    return [finding for finding in check(templates) if finding.rule.id == rule]


def short(core_: dict[str, Any]) -> None:
    """Make the charge queue's visibility too short, whatever leads to its function."""
    core_["ChargeQueue"]["Properties"]["VisibilityTimeout"] = 60


ALIAS = {
    "Alias": resource("AWS::Lambda::Alias", FunctionName={"Ref": "ChargeFunction"}, FunctionVersion="1", Name="live"),
    "Version": resource("AWS::Lambda::Version", FunctionName=arn("ChargeFunction")),
}


@pytest.mark.parametrize(
    "function_name",
    [
        {"Ref": "Alias"},
        {"Ref": "Version"},
        arn("ChargeFunction"),
        {"Fn::Join": ["", [arn("ChargeFunction"), ":live"]]},
        {"Fn::Sub": "${ChargeFunction.Arn}:live"},
        {"Fn::Sub": "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:shop-prod-charge:live"},
        "arn:aws:lambda:eu-west-1:123456789012:function:shop-prod-charge",
        "shop-prod-charge",
        {"Fn::If": ["Live", {"Ref": "Alias"}, {"Ref": "Alias"}]},
        {"Fn::Select": [1, ["x", {"Ref": "Alias"}]]},
        # What CDK makes of an alias as a mapping's target.
        {"Fn::Join": ["", [{"Fn::Select": [6, {"Fn::Split": [":", {"Ref": "Alias"}]}]}, ":live"]]},
        {"Fn::Select": [1, {"Fn::Split": ["/", "x/shop-prod-charge"]}]},
    ],
    ids=str,
)
def test_a_function_is_recognised_however_the_mapping_names_it(function_name: Any):
    def change(core_: dict[str, Any], _: dict[str, Any]) -> None:
        short(core_)
        core_.update(copy.deepcopy(ALIAS))
        core_["ChargeMapping"]["Properties"]["FunctionName"] = function_name

    assert [f.resource for f in spoken(broken(change), "Q01")] == ["ChargeQueue"]


@pytest.mark.parametrize(
    ("name", "latest"),
    [
        ({"Ref": "Alias"}, False),
        ({"Ref": "Version"}, False),
        ({"Fn::Join": ["", [{"Fn::Select": [6, {"Fn::Split": [":", {"Ref": "Alias"}]}]}, ":live"]]}, False),
        ({"Fn::Sub": "${ChargeFunction.Arn}:live"}, False),
        ("arn:aws:lambda:eu-west-1:123456789012:function:shop-prod-charge:live", False),
        ("arn:aws:lambda:eu-west-1:123456789012:function:shop-prod-charge", True),
        (arn("ChargeFunction"), True),
        ("shop-prod-charge", True),
    ],
    ids=str,
)
def test_a_snapshot_is_missed_only_by_what_calls_the_function_itself(name: Any, latest: bool):
    def change(core_: dict[str, Any], _: dict[str, Any]) -> None:
        core_.update(copy.deepcopy(ALIAS))
        core_["ChargeFunction"]["Properties"]["SnapStart"] = {"ApplyOn": "PublishedVersions"}
        core_["ChargeMapping"]["Properties"]["FunctionName"] = name

    assert [f.resource for f in spoken(broken(change), "F08")] == ["ChargeMapping"] * latest


@pytest.mark.parametrize(
    "reference",
    [
        {"Fn::ImportValue": "shop:Queue"},
        {"Fn::ImportValue": {"Fn::Sub": "shop:Queue"}},
        {"Fn::GetStackOutput": {"StackName": "core", "OutputName": "Queue", "Region": {"Ref": "AWS::Region"}}},
    ],
    ids=str,
)
def test_a_queue_of_another_stack_is_followed(reference: Any):
    templates = shop()
    mapping = templates["core"]["Resources"].pop("ChargeMapping")
    mapping["Properties"] |= {"EventSourceArn": reference, "FunctionName": "shop-prod-charge"}
    templates["core"]["Outputs"]["Queue"] = {"Value": arn("ChargeQueue"), "Export": {"Name": "shop:Queue"}}
    templates["consumer"] = {"Resources": {"Mapping": mapping}}
    short(templates["core"]["Resources"])

    assert [f.resource for f in spoken(templates, "Q01")] == ["ChargeQueue"]


def test_a_nested_stack_is_read_with_the_parameters_that_its_parent_gives():
    nested = core()
    nested["Parameters"] = {"Seconds": {"Type": "Number", "Default": 180}}
    nested["Resources"]["ChargeQueue"]["Properties"]["VisibilityTimeout"] = {"Ref": "Seconds"}
    parent = {
        "Resources": {
            "Core": {
                **resource("AWS::CloudFormation::Stack", Parameters={"Seconds": 60}),
                "Metadata": {"aws:asset:path": "core"},
            }
        }
    }

    assert [f.message for f in spoken({"parent": parent, "core": nested}, "Q01")] == [
        "Queue ChargeQueue: visibility 60 s, needs 180 s (6 x 30 s timeout + 0 s window)"
    ]
    assert spoken({"parent": parent, "core": nested}, "X01") == []


def test_an_output_of_a_nested_stack_is_followed():
    nested = core()
    nested["Outputs"]["Queue"] = {"Value": arn("ChargeQueue")}
    mapping = nested["Resources"].pop("ChargeMapping")
    mapping["Properties"] |= {
        "EventSourceArn": {"Fn::GetAtt": ["Core", "Outputs.Queue"]},
        "FunctionName": "shop-prod-charge",
    }
    short(nested["Resources"])
    stack = {**resource("AWS::CloudFormation::Stack"), "Metadata": {"aws:asset:path": "core"}}

    templates = {"parent": {"Resources": {"Core": stack, "Mapping": mapping}}, "core": nested}

    assert [f.resource for f in spoken(templates, "Q01")] == ["ChargeQueue"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"Ref": "Seconds"}, "parameter Seconds gets its value at deployment"),
        ({"Fn::If": ["Prod", 180, 60]}, "depends on condition Prod"),
        ({"Fn::ImportValue": "elsewhere"}, "export elsewhere comes from a stack that is not in this app"),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "AWS::Region"}, "visibility"]}, "a key that only a deployment knows"),
        ({"Fn::Transform": {}}, "Fn::Transform is evaluated at deployment"),
        ("soon", "'soon' is no number"),
    ],
    ids=str,
)
def test_what_only_a_deployment_knows_is_reported_as_not_checkable(value: Any, reason: str):
    def change(core_: dict[str, Any], _: dict[str, Any]) -> None:
        core_["ChargeQueue"]["Properties"]["VisibilityTimeout"] = value

    templates = broken(change)
    templates["core"]["Parameters"] = {"Seconds": {"Type": "Number", "Default": 180}}

    (finding,) = spoken(templates, "Q01")

    assert (finding.checkable, finding.level) == (False, "warning")
    assert finding.at == "Properties.VisibilityTimeout"
    assert "not checkable" in finding.message
    assert reason in finding.message


def test_a_mapping_of_a_known_map_is_looked_up():
    def change(core_: dict[str, Any], _: dict[str, Any]) -> None:
        core_["ChargeQueue"]["Properties"]["VisibilityTimeout"] = {"Fn::FindInMap": ["Sizes", "all", "visibility"]}

    templates = broken(change)
    templates["core"]["Mappings"] = {"Sizes": {"all": {"visibility": 60}}}

    assert "visibility 60 s" in spoken(templates, "Q01")[0].message


def test_numbers_written_as_text_are_numbers():
    def change(core_: dict[str, Any], _: dict[str, Any]) -> None:
        core_["ChargeQueue"]["Properties"]["VisibilityTimeout"] = "60"

    assert "visibility 60 s" in spoken(broken(change), "Q01")[0].message


def test_a_redrive_policy_written_as_json_text_is_read():
    def change(core_: dict[str, Any], _: dict[str, Any]) -> None:
        core_["ChargeQueue"]["Properties"]["RedrivePolicy"] = {
            "Fn::Sub": '{"deadLetterTargetArn": "${ChargeLetters.Arn}", "maxReceiveCount": 1}'
        }

    assert "maxReceiveCount 1" in spoken(broken(change), "Q05")[0].message


def test_a_mapping_without_known_ends_is_reported_and_not_passed():
    def change(core_: dict[str, Any], _: dict[str, Any]) -> None:
        core_["ChargeMapping"]["Properties"]["FunctionName"] = "arn:aws:lambda:eu-west-1:123456789012:function:theirs"

    (finding,) = spoken(broken(change), "Q03")

    assert (finding.resource, finding.level, finding.checkable) == ("ChargeMapping", "warning", False)


def test_a_stream_is_no_queue_and_no_rule_speaks_of_it():
    def change(core_: dict[str, Any], _: dict[str, Any]) -> None:
        core_["Stream"] = resource(
            "AWS::Lambda::EventSourceMapping",
            EventSourceArn="arn:aws:kinesis:eu-west-1:123456789012:stream/clicks",
            FunctionName={"Ref": "ChargeFunction"},
        )

    assert check(broken(change)) == []


def test_a_dead_letter_queue_in_another_region_is_refused_when_the_stack_names_its_own():
    def change(core_: dict[str, Any], _: dict[str, Any]) -> None:
        core_["ChargeQueue"]["Properties"]["RedrivePolicy"]["deadLetterTargetArn"] = (
            "arn:aws:sqs:us-east-1:123456789012:shop-prod-charge-dlq"
        )

    bodies = broken(change)
    templates = {
        name: Template.read(name, body, region="eu-west-1", account="123456789012") for name, body in bodies.items()
    }

    (finding,) = [f for f in check(templates) if f.rule.id == "D03"]

    assert (finding.level, finding.checkable) == ("error", True)
    assert "the dead-letter queue is in us-east-1, the queue in eu-west-1" in finding.message


def test_references_that_go_round_in_a_circle_are_reported():
    templates = shop()
    templates["core"]["Outputs"]["Round"] = {"Value": {"Fn::ImportValue": "round"}, "Export": {"Name": "round"}}
    templates["core"]["Resources"]["ChargeQueue"]["Properties"]["VisibilityTimeout"] = {"Fn::ImportValue": "round"}

    assert "circle" in spoken(templates, "Q01")[0].message
