"""A team's own resources stand beside ours in plain CDK, and trip none of our rules."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs

from surehand import DeclarationError, Service
from surehand.declare import dead_letter_queue_name
from surehand_cdk import ServiceConstruct
from surehand_cdk.function_options import DERIVED
from tests.infra.granted import granted_actions
from tests.infra.synthesis import WITHOUT_CODE, Synthesis, new_app, synthesise, validated
from tests.infra.wide_service import WIDE, ordered, plain

pytestmark = pytest.mark.infra

TWO = Service("two", (plain,))


def built(stack: Stack, **arguments: Any) -> ServiceConstruct:
    return ServiceConstruct(stack, "Service", TWO, stage="dev", protect=False, **arguments)


def function_of(synthesis: Synthesis) -> dict[str, Any]:
    function: dict[str, Any]
    (function,) = [
        resource["Properties"]
        for resource in synthesis.of_type("AWS::Lambda::Function").values()
        if resource["Properties"].get("FunctionName") == "two-dev-plain"
    ]
    return function


@pytest.fixture(scope="module")
def extended() -> Synthesis:
    app = new_app(**WITHOUT_CODE)
    stack = Stack(app, "stack")
    network = ec2.Vpc(stack, "Network", max_azs=2)
    two = built(
        stack,
        functions={
            plain: lambda_.FunctionOptions(
                environment={"PAYMENTS_URL": "https://payments.example"},
                memory_size=1_024,
                vpc=network,
                description="Ours",
                reserved_concurrent_executions=20,
            )
        },
    )
    bucket = s3.Bucket(stack, "Invoices")
    bucket.grant_read(two[plain].function)
    two[plain].function.add_environment("BUCKET", bucket.bucket_name)
    topic = sns.Topic(stack, "Topic")
    topic.add_subscription(subscriptions.SqsSubscription(two[plain].queue))
    rule = events.Rule(stack, "Rule", event_pattern=events.EventPattern(source=["shop"]))
    rule.add_target(targets.SqsQueue(two[plain].queue))
    return validated(app, two)


class TestAdding:
    def test_variables_of_the_user_stand_beside_ours(self, extended: Synthesis) -> None:
        variables = function_of(extended)["Environment"]["Variables"]
        assert variables["PAYMENTS_URL"] == "https://payments.example"
        assert "Ref" in variables["BUCKET"]
        assert variables["SUREHAND_HANDLER"] == "plain"

    def test_what_is_declared_gives_way_where_the_user_says_more(self, extended: Synthesis) -> None:
        function = function_of(extended)
        assert function["MemorySize"] == 1_024
        assert function["Description"] == "Ours"
        assert function["ReservedConcurrentExecutions"] == 20

    def test_a_function_in_a_vpc_may_attach_its_interfaces(self, extended: Synthesis) -> None:
        assert function_of(extended)["VpcConfig"]["SubnetIds"]
        granted = granted_actions(extended.template, plain)
        assert {"ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface"} <= granted

    def test_grants_reach_the_functions_own_role(self, extended: Synthesis) -> None:
        assert "s3:GetObject*" in granted_actions(extended.template, plain)

    def test_topics_and_rules_may_send_to_the_queue(self, extended: Synthesis) -> None:
        senders = {
            statement["Principal"]["Service"]
            for policy in extended.of_type("AWS::SQS::QueuePolicy").values()
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
            if statement["Effect"] == "Allow" and statement["Action"] == "sqs:SendMessage"
        } | {
            statement["Principal"]["Service"]
            for policy in extended.of_type("AWS::SQS::QueuePolicy").values()
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
            if statement["Effect"] == "Allow" and "sqs:SendMessage" in statement["Action"]
        }
        assert senders == {"sns.amazonaws.com", "events.amazonaws.com"}

    def test_only_nag_finds_something_and_only_in_what_the_user_added(self, extended: Synthesis) -> None:
        added = ("stack/Network", "stack/Invoices", "stack/Topic")
        ours = [
            finding
            for finding in extended.findings
            if not finding.path.startswith(added) and "s3:" not in finding.rule and "Invoices" not in finding.rule
        ]
        assert ours == []
        assert {finding.plugin for finding in extended.findings} == {"AwsSolutions"}


class TestRefusing:
    @pytest.mark.parametrize("option", sorted(DERIVED))
    def test_each_derived_option_is_refused_by_its_name(self, option: str) -> None:
        stack = Stack(new_app(**WITHOUT_CODE), "stack")
        options = lambda_.FunctionOptions()
        options._values[option] = "given"
        with pytest.raises(
            DeclarationError, match=rf"^Handler 'plain': FunctionOptions\({option}=…\) is derived: .+\.$"
        ):
            built(stack, functions={plain: options})

    def test_every_derived_option_exists(self) -> None:
        known = set(dir(lambda_.FunctionOptions))
        assert set(DERIVED) <= known

    def test_variables_of_the_contract_are_refused_by_name(self) -> None:
        stack = Stack(new_app(**WITHOUT_CODE), "stack")
        options = lambda_.FunctionOptions(environment={"SUREHAND_TABLE": "other"})
        with pytest.raises(DeclarationError, match=r"'plain'.* SUREHAND_TABLE is derived"):
            built(stack, functions={plain: options})

    @pytest.mark.parametrize("argument", ["functions", "queue_names"])
    def test_a_handler_of_another_service_is_refused(self, argument: str) -> None:
        stack = Stack(new_app(**WITHOUT_CODE), "stack")
        with pytest.raises(DeclarationError, match=rf"{argument}= names .*'ordered'.*service 'two' \(plain\)"):
            built(stack, **{argument: {ordered: "anything"}})

    def test_a_name_beyond_sixty_four_characters_is_refused_with_its_length(self) -> None:
        stack = Stack(new_app(**WITHOUT_CODE), "stack")
        with pytest.raises(DeclarationError, match=r"has \d+ characters, and Lambda allows 64"):
            ServiceConstruct(stack, "Service", WIDE, stage="a-stage-with-a-long-name")

    def test_a_stage_that_cannot_be_part_of_a_name_is_refused(self) -> None:
        stack = Stack(new_app(**WITHOUT_CODE), "stack")
        with pytest.raises(DeclarationError, match=r"Stage name 'Dev_1'"):
            ServiceConstruct(stack, "Service", TWO, stage="Dev_1")

    def test_a_stranger_is_no_key(self) -> None:
        two = built(Stack(new_app(**WITHOUT_CODE), "stack"))
        with pytest.raises(KeyError, match="Service 'two' has no handler 'ordered', only plain"):
            two[ordered]


@pytest.fixture(scope="module")
def adopted() -> Synthesis:
    app = new_app(**WITHOUT_CODE)
    return validated(app, built(Stack(app, "stack"), queue_names={plain: "orders-of-old"}))


class TestAdopting:
    def test_no_second_queue_is_made(self, adopted: Synthesis) -> None:
        names = [queue["Properties"]["QueueName"] for queue in adopted.of_type("AWS::SQS::Queue").values()]
        assert names == [dead_letter_queue_name("two", "dev", plain)]

    def test_mapping_grants_and_variable_point_to_the_adopted_queue(self, adopted: Synthesis) -> None:
        (mapping,) = adopted.of_type("AWS::Lambda::EventSourceMapping").values()
        variables = function_of(adopted)["Environment"]["Variables"]
        assert str(mapping["Properties"]["EventSourceArn"]).endswith(":orders-of-old']]}")
        assert str(variables["SUREHAND_QUEUE_PLAIN"]).endswith("/orders-of-old']]}")
        assert "sqs:ReceiveMessage" in granted_actions(adopted.template, plain)

    def test_an_output_says_what_the_owner_must_set(self, adopted: Synthesis) -> None:
        (output,) = [each for each in adopted.template["Outputs"].values() if "Description" in each]
        assert "VisibilityTimeout" in str(output["Value"])
        assert "maxReceiveCount" in str(output["Value"])

    def test_it_is_free_of_findings(self, adopted: Synthesis) -> None:
        assert adopted.findings == ()

    def test_a_standard_queue_cannot_serve_a_fifo_handler(self) -> None:
        stack = Stack(new_app(**WITHOUT_CODE), "stack")
        with pytest.raises(
            DeclarationError, match=r"'ordered' needs a FIFO queue .* 'orders-of-old' is a standard one"
        ):
            ServiceConstruct(stack, "Service", WIDE, stage="dev", queue_names={ordered: "orders-of-old"})


def test_another_stack_holds_on_to_a_queue_by_a_strong_reference() -> None:
    app = new_app(**WITHOUT_CODE)
    two = built(Stack(app, "core"))
    CfnOutput(Stack(app, "other"), "Queue", value=two[plain].queue.queue_arn)
    exported = [
        output["Value"]["Fn::GetAtt"][0]
        for output in synthesise(app).templates["core"]["Outputs"].values()
        if "Export" in output
    ]
    assert exported
    assert all("Queue" in name for name in exported)


def test_a_queue_below_the_functions_timeout_is_refused_by_the_strict_engine() -> None:
    app = new_app(**WITHOUT_CODE)
    two = built(Stack(app, "stack"))
    queue = two[plain].queue.node.default_child
    assert isinstance(queue, sqs.CfnQueue)
    queue.visibility_timeout = 5
    found = {(finding.plugin, finding.rule) for finding in validated(app, two).findings}
    assert {("cdk-preflight", "E3505"), ("surehand", "Q01")} <= found
