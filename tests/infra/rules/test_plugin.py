"""The pack in a real synthesis: one line applies it, an error stops it, an acknowledgement lets it pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnResource, Duration, NestedStack, RemovalPolicy, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs

from handlers.orders import charge_order
from handlers.service import SHOP
from surehand_cdk import ServiceConstruct
from surehand_cdk.rules import SurehandRules, acknowledge
from tests.infra.synthesis import WITHOUT_CODE, new_app

pytestmark = pytest.mark.infra


def consumer(scope: Stack, *, visibility: int) -> sqs.Queue:
    """A queue and a function, by hand: the timeout is 30 s, so 180 s are needed."""
    letters = sqs.Queue(scope, "Letters", retention_period=Duration.days(14))
    queue = sqs.Queue(
        scope,
        "Jobs",
        visibility_timeout=Duration.seconds(visibility),
        dead_letter_queue=sqs.DeadLetterQueue(queue=letters, max_receive_count=5),
    )
    function = lambda_.Function(
        scope,
        "Worker",
        runtime=lambda_.Runtime.PYTHON_3_13,
        handler="index.handler",
        code=lambda_.Code.from_inline("def handler(event, context): return {}"),
        timeout=Duration.seconds(30),
    )
    function.add_event_source(sources.SqsEventSource(queue, report_batch_item_failures=True))
    return queue


def report(app: App, directory: Path) -> list[tuple[str, str, str]]:
    """Rule, level and construct path of what our plugin found."""
    app.synth()
    written = directory / "validation-report.json"
    if not written.is_file():
        return []
    return [
        (violation["ruleName"], violation["severity"], construct["constructPath"])
        for plugin in json.loads(written.read_text())["pluginReports"]
        if plugin["pluginName"] == "surehand"
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    ]


def judged(directory: Path, build: Callable[[App], object]) -> list[tuple[str, str, str]]:
    app = new_app(directory, **WITHOUT_CODE)
    build(app)
    Validations.of(app).add_plugins(SurehandRules())
    return report(app, directory)


def test_a_stack_written_by_hand_that_breaks_a_rule_is_not_synthesised(tmp_path: Path):
    with pytest.raises(RuntimeError, match=r"visibility 60 s, needs 180 s \(6 x 30 s timeout \+ 0 s window\)"):
        judged(tmp_path, lambda app: consumer(Stack(app, "by-hand"), visibility=60))


def test_a_stack_written_by_hand_that_keeps_the_rules_is_synthesised(tmp_path: Path):
    assert judged(tmp_path, lambda app: consumer(Stack(app, "by-hand"), visibility=180)) == []


def test_an_acknowledgement_on_the_construct_lets_it_pass_and_says_why(tmp_path: Path):
    def build(app: App) -> None:
        acknowledge(consumer(Stack(app, "by-hand"), visibility=60), "Q01", "the function ends within a second")

    assert judged(tmp_path, build) == []
    assert "the function ends within a second" in (tmp_path / "validation-report.json").read_text()


@pytest.mark.parametrize(("id", "reason"), [("Q99", "there is no such rule"), ("Q01", " ")])
def test_an_acknowledgement_of_nothing_or_without_a_reason_is_refused(id: str, reason: str):
    with pytest.raises(ValueError, match=r"Q99|needs a reason"):
        acknowledge(App(), id, reason)


def test_a_nested_stack_is_judged_with_its_parent(tmp_path: Path):
    with pytest.raises(RuntimeError, match="visibility 60 s, needs 180 s"):
        judged(tmp_path, lambda app: consumer(NestedStack(Stack(app, "parent"), "nested"), visibility=60))


def test_a_queue_in_another_stack_is_judged_with_its_consumer(tmp_path: Path):
    def build(app: App) -> None:
        queue = consumer(Stack(app, "producer"), visibility=180)
        function = lambda_.Function(
            Stack(app, "other"),
            "Second",
            runtime=lambda_.Runtime.PYTHON_3_13,
            handler="index.handler",
            code=lambda_.Code.from_inline("def handler(event, context): return {}"),
            timeout=Duration.seconds(300),
        )
        function.add_event_source(sources.SqsEventSource(queue, report_batch_item_failures=True))

    with pytest.raises(RuntimeError, match="visibility 180 s, needs 1800 s"):
        judged(tmp_path, build)


@pytest.mark.parametrize("protect", [True, False])
def test_the_example_service_has_no_finding_with_a_users_own_resources_beside_it(tmp_path: Path, protect: bool):
    def build(app: App) -> None:
        stack = Stack(app, "core")
        network = ec2.Vpc(stack, "Network", max_azs=2, nat_gateways=0)
        shop = ServiceConstruct(
            stack,
            "Service",
            SHOP,
            stage="dev",
            protect=protect,
            functions={
                charge_order: lambda_.FunctionOptions(
                    environment={
                        "LOG_LEVEL": "INFO",
                        "STRIPE_SECRET_ARN": "arn:aws:secretsmanager:eu-west-1:1:secret:s",
                    },
                    vpc=network,
                    vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED),
                    allow_all_outbound=True,
                )
            },
        )
        pictures = s3.Bucket(stack, "Pictures", removal_policy=RemovalPolicy.DESTROY)
        pictures.grant_read(shop[charge_order].function)
        orders = sns.Topic(stack, "Orders")
        orders.add_subscription(subscriptions.SqsSubscription(shop[charge_order].queue))
        sqs.Queue(stack, "Exports")
        CfnResource(stack, "Other", type="AWS::S3::Bucket")

    assert judged(tmp_path, build) == []


def test_a_production_stack_without_alarms_is_refused(tmp_path: Path):
    def build(app: App) -> None:
        ServiceConstruct(Stack(app, "core"), "Service", SHOP, stage="prod")

    with pytest.raises(RuntimeError, match="no alarm on its backlog"):
        judged(tmp_path, build)


def test_the_plugin_names_its_rules_for_the_report() -> None:
    plugin: Any = SurehandRules()

    assert (plugin.name, plugin.rule_ids[0]) == ("surehand", "Q01")
