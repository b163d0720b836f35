"""SnapStart: what invokes a function calls the alias of its version, and what does not go with it is refused."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Size, Stack
from aws_cdk import aws_lambda as lambda_

from surehand import DeclarationError, Service
from surehand_cdk import Edge, ServiceConstruct
from surehand_cdk.function_options import accepted
from tests.infra.hooked_service import on_stripe, plain
from tests.infra.synthesis import WITHOUT_CODE, Synthesis, new_app, validated

pytestmark = pytest.mark.infra

PROVISIONED = lambda_.VersionOptions(provisioned_concurrent_executions=1)
ON = lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS
FUNCTION, VERSION, ALIAS = "AWS::Lambda::Function", "AWS::Lambda::Version", "AWS::Lambda::Alias"


@pytest.fixture(scope="module")
def snapped() -> Synthesis:
    """A queue handler and the ingress start from snapshots, the webhook's handler does not."""
    app = new_app(**WITHOUT_CODE)
    service = ServiceConstruct(
        Stack(app, "core"), "Service", Service("hooked", (on_stripe, plain)), stage="dev", protect=False,
        functions={plain: lambda_.FunctionOptions(snap_start=ON)}, edge=Edge(snap_start=True),
    )  # fmt: skip
    return validated(app, service)


def aliases(synthesis: Synthesis) -> dict[str, str]:
    """The logical id of each alias by the name of its function."""
    functions = synthesis.of_type(FUNCTION)
    return {
        functions[alias["Properties"]["FunctionName"]["Ref"]]["Properties"]["FunctionName"]: id
        for id, alias in synthesis.of_type(ALIAS).items()
    }


def test_no_layer_of_validation_finds_anything(snapped: Synthesis) -> None:
    assert snapped.findings == ()


def test_each_function_that_has_it_has_a_version_and_an_alias_of_it_and_no_other_has(snapped: Synthesis) -> None:
    functions, versions = snapped.of_type(FUNCTION), snapped.of_type(VERSION)
    on = {id for id, one in functions.items() if one["Properties"].get("SnapStart") == {"ApplyOn": "PublishedVersions"}}

    assert {functions[id]["Properties"]["FunctionName"] for id in on} == {"hooked-dev-plain", "hooked-dev-webhooks"}
    assert {version["Properties"]["FunctionName"]["Ref"] for version in versions.values()} == on
    for alias in snapped.of_type(ALIAS).values():
        properties = alias["Properties"]
        version = versions[properties["FunctionVersion"]["Fn::GetAtt"][0]]
        assert (properties["Name"], version["Properties"]["FunctionName"]) == ("live", properties["FunctionName"])
    assert aliases(snapped).keys() == {"hooked-dev-plain", "hooked-dev-webhooks"}


def test_the_mapping_calls_the_alias_and_the_other_one_its_function(snapped: Synthesis) -> None:
    called = [one["Properties"]["FunctionName"] for one in snapped.of_type("AWS::Lambda::EventSourceMapping").values()]
    functions = snapped.of_type(FUNCTION).items()
    (stripe,) = [id for id, one in functions if one["Properties"]["FunctionName"] == "hooked-dev-stripe"]
    name = {"Fn::Select": [6, {"Fn::Split": [":", {"Ref": aliases(snapped)["hooked-dev-plain"]}]}]}

    assert {"Fn::Join": ["", [name, ":live"]]} in called
    assert {"Ref": stripe} in called


def test_the_api_calls_the_ingress_s_alias_and_may_call_nothing_else(snapped: Synthesis) -> None:
    alias = {"Ref": aliases(snapped)["hooked-dev-webhooks"]}
    (integration,) = snapped.of_type("AWS::ApiGatewayV2::Integration").values()

    assert integration["Properties"]["IntegrationUri"] == alias
    permissions = snapped.of_type("AWS::Lambda::Permission").values()
    assert [one["Properties"]["FunctionName"] for one in permissions] == [alias]


@pytest.mark.parametrize(
    ("beside", "named"),
    [
        ({"ephemeral_storage_size": Size.mebibytes(1_024)}, "ephemeral_storage_size above 512 MB"),
        ({"current_version_options": PROVISIONED}, "provisioned concurrency"),
    ],
    ids=["storage", "concurrency"],
)
def test_what_does_not_go_with_a_snapshot_is_refused_by_its_name(beside: dict[str, Any], named: str) -> None:
    with pytest.raises(DeclarationError, match=f"^Handler 'plain': SnapStart does not go with {named}"):
        accepted("plain", lambda_.FunctionOptions(snap_start=ON, **beside))


def test_storage_that_a_snapshot_can_have_is_taken() -> None:
    options = lambda_.FunctionOptions(snap_start=ON, ephemeral_storage_size=Size.mebibytes(512))

    assert accepted("plain", options)["snap_start"] is ON
