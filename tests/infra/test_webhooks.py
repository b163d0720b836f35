"""One ingress for all webhooks: at the declared paths only, throttled, logged, and allowed next to nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_

from surehand import DeclarationError, Service, webhook
from surehand.webhooks.config import load_sources
from surehand_cdk import Edge, ServiceConstruct
from tests.infra.granted import statements
from tests.infra.hooked_service import HOOKED, OWN, SECRET, on_slack, on_stripe, plain
from tests.infra.synthesis import WITHOUT_CODE, Synthesis, new_app, synthesise, validated

pytestmark = pytest.mark.infra

INGRESS = "hooked-dev-webhooks"
DAY = 86_400


def made(*, key: bool = False, edge: Edge | None = None) -> Synthesis:
    app = new_app(**WITHOUT_CODE)
    stack = Stack(app, "core")
    own = kms.Key(stack, "Key", enable_key_rotation=True) if key else None
    construct = ServiceConstruct(stack, "Service", HOOKED, stage="dev", encryption_key=own, edge=edge)
    return validated(app, construct)


@pytest.fixture(scope="module")
def hooked() -> Synthesis:
    return made()


def one(synthesis: Synthesis, kind: str) -> dict[str, Any]:
    (resource,) = synthesis.of_type(kind).values()
    found: dict[str, Any] = resource["Properties"]
    return found


def function(synthesis: Synthesis, name: str = INGRESS) -> dict[str, Any]:
    (found,) = [
        resource["Properties"]
        for resource in synthesis.of_type("AWS::Lambda::Function").values()
        if resource["Properties"].get("FunctionName") == name
    ]
    return dict(found)


def allowed(synthesis: Synthesis, *actions: str) -> list[Any]:
    """Return the resources on which the ingress may do these actions."""
    return [
        resource
        for resources, granted in statements(synthesis.template, INGRESS)
        if set(actions) & set(granted)
        for resource in resources
    ]


def test_no_layer_of_validation_finds_anything(hooked: Synthesis) -> None:
    assert hooked.findings == ()


def test_each_source_has_a_path_of_its_own_and_nothing_else_is_reachable(hooked: Synthesis) -> None:
    routes = {route["Properties"]["RouteKey"] for route in hooked.of_type("AWS::ApiGatewayV2::Route").values()}
    assert routes == {"ANY /hooks/stripe", "ANY /hooks/slack", "ANY /hooks/shops/{tenant}", "ANY /hooks/own"}
    assert hooked.of_type("AWS::Lambda::Url") == {}


def test_one_function_stands_behind_all_of_them(hooked: Synthesis) -> None:
    assert len(hooked.of_type("AWS::ApiGatewayV2::Integration")) == 1
    integration = one(hooked, "AWS::ApiGatewayV2::Integration")
    assert integration["PayloadFormatVersion"] == "2.0"
    assert function(hooked)["Handler"] == "surehand.ingress.handle"


def test_a_flood_is_stopped_by_source_before_it_reaches_all(hooked: Synthesis) -> None:
    stage = one(hooked, "AWS::ApiGatewayV2::Stage")
    whole = stage["DefaultRouteSettings"]
    each = stage["RouteSettings"]
    assert set(each) == {"ANY /hooks/stripe", "ANY /hooks/slack", "ANY /hooks/shops/{tenant}", "ANY /hooks/own"}
    for limits in each.values():
        assert 0 < limits["ThrottlingRateLimit"] < whole["ThrottlingRateLimit"]
        assert 0 < limits["ThrottlingBurstLimit"] < whole["ThrottlingBurstLimit"]


def test_route_settings_wait_for_their_routes(hooked: Synthesis) -> None:
    (stage,) = hooked.of_type("AWS::ApiGatewayV2::Stage").values()
    assert set(hooked.of_type("AWS::ApiGatewayV2::Route")) <= set(stage["DependsOn"])


def test_the_access_log_says_neither_path_nor_query(hooked: Synthesis) -> None:
    logged = json.loads(one(hooked, "AWS::ApiGatewayV2::Stage")["AccessLogSettings"]["Format"])
    assert {"$context.status", "$context.routeKey", "$context.requestId"} <= set(logged.values())
    assert not any("path" in value or "query" in value.lower() for value in logged.values())


def test_it_may_send_to_its_queues_and_no_other(hooked: Synthesis) -> None:
    queues = {id: resource["Properties"]["QueueName"] for id, resource in hooked.of_type("AWS::SQS::Queue").items()}
    reached = {queues[resource["Fn::GetAtt"][0]] for resource in allowed(hooked, "sqs:SendMessage")}
    assert reached == {f"hooked-dev-{name}" for name in ("stripe", "slack", "shops", "own")}


def test_it_may_put_under_its_prefixes_and_neither_read_nor_delete(hooked: Synthesis) -> None:
    (bucket,) = hooked.of_type("AWS::S3::Bucket")
    prefixes = [resource["Fn::Join"][1] for resource in allowed(hooked, "s3:PutObject")]
    assert {arn["Fn::GetAtt"][0] for arn, _ in prefixes} == {bucket}
    assert sorted(prefix for _, prefix in prefixes) == ["/own/*", "/shops/*", "/slack/*", "/stripe/*"]
    assert allowed(hooked, "s3:GetObject", "s3:DeleteObject", "s3:ListBucket") == []


def test_it_may_read_the_secrets_of_its_sources_and_no_other(hooked: Synthesis) -> None:
    reached = allowed(hooked, "secretsmanager:GetSecretValue")
    names = [resource if isinstance(resource, str) else resource["Fn::Join"][1][-1] for resource in reached]
    assert sorted(names) == [
        ":secret:hooked/dev/webhooks/slack-??????",
        ":secret:hooked/dev/webhooks/stripe-??????",
        ":secret:shops/dev/acme-??????",
        ":secret:shops/dev/bolt-??????",
        SECRET,
    ]


def test_it_may_do_nothing_else(hooked: Synthesis) -> None:
    granted = {action for _, actions in statements(hooked.template, INGRESS) for action in actions}
    assert granted == {
        "logs:CreateLogStream",
        "logs:PutLogEvents",
        "s3:PutObject",
        "secretsmanager:GetSecretValue",
        "sqs:SendMessage",
        "xray:PutTelemetryRecords",
        "xray:PutTraceSegments",
    }


def test_a_handler_reads_the_bodies_of_its_own_source_only(hooked: Synthesis) -> None:
    (bucket,) = hooked.of_type("AWS::S3::Bucket")
    for handler in (on_stripe, on_slack):
        (reached,) = [
            resources for resources, actions in statements(hooked.template, handler) if "s3:GetObject" in actions
        ]
        assert reached == [{"Fn::Join": ["", [{"Fn::GetAtt": [bucket, "Arn"]}, f"/{handler.name}/*"]]}]
        variables = function(hooked, f"hooked-dev-{handler.name}")["Environment"]["Variables"]
        assert variables["SUREHAND_WEBHOOK_BODIES"] == {"Ref": bucket}


def test_a_handler_of_another_trigger_knows_nothing_of_the_bucket(hooked: Synthesis) -> None:
    assert "SUREHAND_WEBHOOK_BODIES" not in function(hooked, "hooked-dev-plain")["Environment"]["Variables"]
    assert [actions for _, actions in statements(hooked.template, plain) if "s3:GetObject" in actions] == []


def test_its_environment_is_what_the_ingress_reads(hooked: Synthesis) -> None:
    variables = function(hooked)["Environment"]["Variables"]
    sources = load_sources(variables["SUREHAND_WEBHOOK_SOURCES"], lambda name: name)
    assert set(sources) == {"stripe", "slack", "shops", "own"}
    assert sources["stripe"].secret == "hooked/dev/webhooks/stripe"
    assert sources["own"].scheme is OWN
    assert sources["own"].url == "https://hooks.dev.example.com/hooks/own"
    assert {name for name in variables if name.startswith("SUREHAND_QUEUE_")} == {
        f"SUREHAND_QUEUE_{name}" for name in ("STRIPE", "SLACK", "SHOPS", "OWN")
    }
    assert "SUREHAND_HANDLER" not in variables


def test_it_ends_soon_after_the_shortest_of_its_senders_has_gone(hooked: Synthesis) -> None:
    assert function(hooked)["Timeout"] == 4
    assert function(hooked)["MemorySize"] >= 1_024


def test_bodies_are_private_encrypted_and_outlive_every_message_that_points_at_them(hooked: Synthesis) -> None:
    bucket = one(hooked, "AWS::S3::Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    (rule,) = bucket["LifecycleConfiguration"]["Rules"]
    longest = max(handler.options.retention for handler in HOOKED.handlers).days
    assert rule["ExpirationInDays"] > longest + 14
    assert list(hooked.of_type("AWS::S3::Bucket")) == ["ServiceWebhooksBodies59D1698C"]  # another id is a new bucket


def test_with_a_key_of_the_team_s_own_bodies_are_encrypted_by_it_and_the_ingress_may_use_it() -> None:
    encrypted = made(key=True)
    (key,) = encrypted.of_type("AWS::KMS::Key")
    rules = one(encrypted, "AWS::S3::Bucket")["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rules[0]["ServerSideEncryptionByDefault"]["KMSMasterKeyID"] == {"Fn::GetAtt": [key, "Arn"]}
    assert allowed(encrypted, "kms:GenerateDataKey") == [{"Fn::GetAtt": [key, "Arn"]}]
    assert encrypted.findings == ()


def test_what_a_flood_may_cost_is_the_team_s_to_say() -> None:
    limited = made(edge=Edge(rate=20, burst=40, source_rate=10, source_burst=15, concurrency=7, memory=2_048))
    stage = one(limited, "AWS::ApiGatewayV2::Stage")
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 20, "ThrottlingBurstLimit": 40}
    assert stage["RouteSettings"]["ANY /hooks/slack"] == {"ThrottlingRateLimit": 10, "ThrottlingBurstLimit": 15}
    assert function(limited)["ReservedConcurrentExecutions"] == 7
    assert function(limited)["MemorySize"] == 2_048


@webhook("wordy", scheme="github", drop_types=[f"an-event-type-that-nobody-wants-{number}" for number in range(120)])
def wordy(event: dict[str, Any]) -> None:
    """Says more than an environment holds."""


def test_sources_that_no_environment_holds_are_refused_with_the_numbers() -> None:
    stack = Stack(new_app(**WITHOUT_CODE), "core")
    with pytest.raises(DeclarationError, match="Lambda takes 4,096"):
        ServiceConstruct(stack, "Service", Service("wordy", (wordy,)), stage="dev")


def test_a_service_without_webhooks_has_neither_api_nor_bucket() -> None:
    app = new_app(**WITHOUT_CODE)
    made = ServiceConstruct(Stack(app, "core"), "Service", Service("quiet", (plain,)), stage="dev")
    synthesis = synthesise(app)
    assert made.webhooks is None
    assert synthesis.of_type("AWS::ApiGatewayV2::Api") == {}
    assert synthesis.of_type("AWS::S3::Bucket") == {}


def test_a_function_url_is_the_cheap_way_in_once_somebody_has_said_why() -> None:
    app = new_app(**WITHOUT_CODE)
    stack = Stack(app, "core")
    shop = ServiceConstruct(stack, "Service", HOOKED, stage="dev", edge=Edge(concurrency=5))
    assert shop.webhooks is not None
    url = shop.webhooks.function.add_function_url(auth_type=lambda_.FunctionUrlAuthType.NONE)
    why = "Reserved concurrency of 5 bounds it to 50 requests a second."
    Validations.of(url).acknowledge(Acknowledgment(id="surehand::W01", reason=why))

    synthesis = validated(app, shop)

    assert synthesis.findings == ()
    permitted = {
        resource["Properties"]["Action"]
        for resource in synthesis.of_type("AWS::Lambda::Permission").values()
        if resource["Properties"]["Principal"] == "*"
    }
    # Both are needed since October 2025: https://docs.aws.amazon.com/lambda/latest/dg/urls-auth.html
    assert permitted == {"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"}
