"""Every declared handler becomes a function, its queue and its dead-letter queue, with nothing typed twice."""

from __future__ import annotations

import pytest

from tests.infra.deployed import Deployed, Parts
from tests.infra.granted import granted_actions, statements
from tests.infra.wide_service import WARNINGS, echo, gathering, longest_name, ordered, plain

pytestmark = pytest.mark.infra

DAY = 86_400


def source_arn(parts: Parts, name: str) -> dict:
    return {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":sqs:", {"Ref": "AWS::Region"}, ":",
                              {"Ref": "AWS::AccountId"}, f":{name}"]]}  # fmt: skip


class TestQueues:
    def test_a_message_stays_hidden_for_six_timeouts_and_the_window(self, parts: Parts) -> None:
        options = parts.handler.options
        assert parts.queue["VisibilityTimeout"] == 6 * options.timeout.seconds + options.batch_window.seconds

    def test_it_keeps_messages_as_long_as_declared(self, parts: Parts) -> None:
        assert parts.queue["MessageRetentionPeriod"] == parts.handler.options.retention.total_seconds()

    def test_it_is_fifo_exactly_when_a_group_is_declared(self, parts: Parts) -> None:
        fifo = parts.handler.options.group is not None
        assert parts.queue.get("FifoQueue", False) is fifo
        assert parts.dead_letters.get("FifoQueue", False) is fifo

    def test_a_fifo_queue_never_deduplicates_by_content(self, parts: Parts) -> None:
        assert not parts.queue.get("ContentBasedDeduplication")

    def test_it_is_encrypted(self, parts: Parts) -> None:
        assert parts.queue["SqsManagedSseEnabled"] is True
        assert parts.dead_letters["SqsManagedSseEnabled"] is True

    def test_it_refuses_requests_without_tls(self, parts: Parts, of_service: Deployed) -> None:
        denied = [
            statement["Resource"]["Fn::GetAtt"][0]
            for policy in of_service.synthesis.of_type("AWS::SQS::QueuePolicy").values()
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
            if statement["Effect"] == "Deny"
            and statement["Principal"] == {"AWS": "*"}
            and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        ]
        assert {parts.queue_id, parts.dead_letters_id} <= set(denied)


class TestDeadLetters:
    def test_sqs_moves_a_message_after_more_receives_than_attempts(self, parts: Parts) -> None:
        policy, options = parts.queue["RedrivePolicy"], parts.handler.options
        assert policy["deadLetterTargetArn"] == {"Fn::GetAtt": [parts.dead_letters_id, "Arn"]}
        fifo = options.group is not None
        assert policy["maxReceiveCount"] == (
            options.max_attempts * options.batch_size + 50
            if fifo
            else options.max_attempts + (205 if parts.handler.trigger == "schedule" else 5)
        )

    def test_they_outlive_the_source_queue_by_a_day_or_more(self, parts: Parts) -> None:
        kept = parts.dead_letters["MessageRetentionPeriod"]
        assert kept == 14 * DAY
        assert kept - parts.queue["MessageRetentionPeriod"] >= DAY

    def test_only_the_own_queue_may_move_messages_there(self, parts: Parts) -> None:
        assert parts.dead_letters["RedriveAllowPolicy"] == {
            "redrivePermission": "byQueue",
            "sourceQueueArns": [source_arn(parts, parts.queue["QueueName"])],
        }

    def test_a_dead_letter_queue_has_none_itself(self, parts: Parts) -> None:
        assert "RedrivePolicy" not in parts.dead_letters


class TestMapping:
    def test_it_reads_the_own_queue(self, parts: Parts) -> None:
        assert parts.mapping["EventSourceArn"] == {"Fn::GetAtt": [parts.queue_id, "Arn"]}

    def test_failures_are_reported_message_by_message(self, parts: Parts) -> None:
        assert parts.mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]

    def test_its_own_metrics_are_on(self, parts: Parts) -> None:
        assert parts.mapping["MetricsConfig"] == {"Metrics": ["EventCount"]}

    def test_batches_and_concurrency_are_the_declared_ones(self, parts: Parts) -> None:
        options = parts.handler.options
        assert parts.mapping["BatchSize"] == options.batch_size
        assert parts.mapping.get("MaximumBatchingWindowInSeconds", 0) == options.batch_window.seconds
        assert parts.mapping["ScalingConfig"] == {"MaximumConcurrency": options.max_concurrency}


class TestFunction:
    def test_it_runs_the_declared_handler_on_the_deployed_python(self, parts: Parts) -> None:
        assert parts.function["Handler"] == f"{parts.handler.__module__}.{parts.handler.__name__}"
        assert parts.function["Runtime"] == "python3.13"
        assert parts.function["Architectures"] == ["arm64"]

    def test_timeout_and_memory_are_the_declared_ones(self, parts: Parts) -> None:
        assert parts.function["Timeout"] == parts.handler.options.timeout.total_seconds()
        assert parts.function["MemorySize"] == parts.handler.options.memory

    def test_it_is_traced(self, parts: Parts) -> None:
        assert parts.function["TracingConfig"] == {"Mode": "Active"}

    def test_it_logs_into_a_group_that_forgets(self, parts: Parts, of_service: Deployed) -> None:
        group = of_service.synthesis.template["Resources"][parts.function["LoggingConfig"]["LogGroup"]["Ref"]]
        assert group["Properties"]["LogGroupName"] == f"/aws/lambda/{parts.function['FunctionName']}"
        assert group["Properties"]["RetentionInDays"] == (90 if of_service.protect else 30)

    def test_its_environment_is_the_whole_contract(self, parts: Parts, of_service: Deployed) -> None:
        variables = dict(parts.function["Environment"]["Variables"])
        queues = {name: variables.pop(name) for name in list(variables) if name.startswith("SUREHAND_QUEUE_")}
        assert len(variables.pop("SUREHAND_VERSION")) == 12
        assert ("SUREHAND_WEBHOOK_BODIES" in variables) is (parts.handler.trigger == "webhook")
        variables.pop("SUREHAND_WEBHOOK_BODIES", None)
        table, _ = of_service.table
        longest = max(handler.options.retention for handler in of_service.service.handlers)
        assert variables == {
            "SUREHAND_SERVICE": of_service.service.name,
            "SUREHAND_STAGE": "dev",
            "SUREHAND_HANDLER": parts.handler.name,
            "SUREHAND_TABLE": {"Ref": table},
            "SUREHAND_LEDGER_RETENTION": str(int(longest.total_seconds()) + 14 * DAY + 12 * DAY),
        }
        own = "SUREHAND_QUEUE_" + parts.handler.name.upper().replace("-", "_")
        assert queues[own] == {"Ref": parts.queue_id}

    def test_it_knows_the_queues_that_it_sends_to_and_no_other(self, wide: Deployed) -> None:
        known = {
            name: {key for key in wide[handler].function["Environment"]["Variables"] if "QUEUE" in key}
            for name, handler in {"plain": plain, "gathering": gathering, "echo": echo}.items()
        }
        assert known == {
            "plain": {"SUREHAND_QUEUE_PLAIN"},
            "gathering": {"SUREHAND_QUEUE_GATHERING", "SUREHAND_QUEUE_ORDERED", "SUREHAND_QUEUE_PLAIN"},
            "echo": {"SUREHAND_QUEUE_ECHO"},
        }

    def test_its_whole_environment_fits_into_lambda(self, parts: Parts) -> None:
        texts = [key + str(value) for key, value in parts.function["Environment"]["Variables"].items()]
        assert len("".join(texts)) < 4_096

    def test_it_has_a_role_of_its_own(self, of_service: Deployed) -> None:
        roles = [each.function["Role"]["Fn::GetAtt"][0] for each in of_service]
        assert len(set(roles)) == len(roles)

    def test_no_role_has_a_managed_policy(self, of_service: Deployed) -> None:
        roles = of_service.synthesis.of_type("AWS::IAM::Role").values()
        assert [role for role in roles if role["Properties"].get("ManagedPolicyArns")] == []


class TestPermissions:
    def test_it_consumes_its_own_queue_alone(self, parts: Parts, of_service: Deployed) -> None:
        consumed = [
            resources
            for resources, actions in statements(of_service.synthesis.template, parts.handler)
            if "sqs:ReceiveMessage" in actions
        ]
        assert consumed == [[{"Fn::GetAtt": [parts.queue_id, "Arn"]}]]

    def test_it_sends_to_declared_handlers_and_renews_on_its_own_standard_queue(self, wide: Deployed) -> None:
        reached = {
            handler.name: {
                resource["Fn::GetAtt"][0]
                for resources, actions in statements(wide.synthesis.template, handler)
                if "sqs:SendMessage" in actions
                for resource in resources
            }
            for handler in (plain, gathering, ordered, echo)
        }
        queue = {each.handler.name: each.queue_id for each in wide}
        assert reached == {
            "plain": {queue["plain"]},
            "gathering": {queue["gathering"], queue["ordered"], queue["plain"]},
            "ordered": {queue["gathering"]},
            "echo": {queue["echo"]},
        }

    def test_no_function_may_touch_a_dead_letter_queue(self, parts: Parts, of_service: Deployed) -> None:
        letters = {"Fn::GetAtt": [parts.dead_letters_id, "Arn"]}
        reached = [
            actions
            for each in of_service
            for resources, actions in statements(of_service.synthesis.template, each.handler)
            if letters in resources
        ]
        assert reached == []

    def test_the_ledger_is_reached_by_its_own_arn_and_no_index(self, parts: Parts, of_service: Deployed) -> None:
        table, _ = of_service.table
        reached = [
            resources
            for resources, actions in statements(of_service.synthesis.template, parts.handler)
            if any(action.startswith("dynamodb:") for action in actions)
        ]
        assert reached == [[{"Fn::GetAtt": [table, "Arn"]}]]

    def test_a_handler_may_neither_delete_nor_list_what_the_ledger_holds(
        self, parts: Parts, of_service: Deployed
    ) -> None:
        granted = granted_actions(of_service.synthesis.template, parts.handler)
        assert not granted & {"dynamodb:DeleteItem", "dynamodb:Scan", "dynamodb:Query", "dynamodb:PartiQLDelete"}

    def test_nothing_but_tracing_is_allowed_on_everything(self, parts: Parts, of_service: Deployed) -> None:
        everywhere = [
            action
            for resources, actions in statements(of_service.synthesis.template, parts.handler)
            if "*" in resources
            for action in actions
        ]
        assert sorted(everywhere) == ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]

    def test_no_action_is_a_pattern(self, parts: Parts, of_service: Deployed) -> None:
        granted = granted_actions(of_service.synthesis.template, parts.handler)
        assert [action for action in granted if "*" in action] == []


class TestLedger:
    def test_its_keys_ttl_and_recovery_are_those_that_the_code_expects(self, shop: Deployed) -> None:
        _, table = shop.table
        properties = table["Properties"]
        assert properties["TableName"] == "shop-dev-ledger"
        assert properties["KeySchema"] == [
            {"AttributeName": "id", "KeyType": "HASH"},
            {"AttributeName": "part", "KeyType": "RANGE"},
        ]
        assert properties["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
        assert properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True
        assert properties["BillingMode"] == "PAY_PER_REQUEST"

    def test_the_index_of_what_needs_attention_holds_whole_items(self, shop: Deployed) -> None:
        _, table = shop.table
        (index,) = table["Properties"]["GlobalSecondaryIndexes"]
        assert index["IndexName"] == "attention"
        assert index["KeySchema"] == [
            {"AttributeName": "attention", "KeyType": "HASH"},
            {"AttributeName": "attention_at", "KeyType": "RANGE"},
        ]
        assert index["Projection"] == {"ProjectionType": "ALL"}

    def test_every_key_has_the_type_that_the_code_writes(self, shop: Deployed) -> None:
        _, table = shop.table
        types = {each["AttributeName"]: each["AttributeType"] for each in table["Properties"]["AttributeDefinitions"]}
        assert types == {"id": "S", "part": "S", "attention": "S", "attention_at": "N"}


class TestProtection:
    STATEFUL = ("AWS::SQS::Queue", "AWS::DynamoDB::Table", "AWS::Logs::LogGroup")

    def stateful(self, service: Deployed) -> list[tuple[str, str]]:
        return [
            (resource["DeletionPolicy"], resource["UpdateReplacePolicy"])
            for kind in self.STATEFUL
            for resource in service.synthesis.of_type(kind).values()
        ]

    def test_what_holds_state_survives_a_protected_stack_but_not_a_failed_first_deployment(
        self, shop: Deployed
    ) -> None:
        assert set(self.stateful(shop)) == {("RetainExceptOnCreate", "Retain")}

    def test_an_unprotected_stack_leaves_nothing_behind(self, wide: Deployed) -> None:
        assert set(self.stateful(wide)) == {("Delete", "Delete")}

    def test_a_protected_ledger_refuses_to_be_deleted(self, shop: Deployed, wide: Deployed) -> None:
        assert shop.table[1]["Properties"]["DeletionProtectionEnabled"] is True
        assert wide.table[1]["Properties"].get("DeletionProtectionEnabled", False) is False


class TestValidation:
    def test_no_layer_finds_anything_that_is_not_acknowledged(self, shop: Deployed, wide: Deployed) -> None:
        assert shop.synthesis.findings == ()
        assert {finding.rule for finding in wide.synthesis.findings} == WARNINGS

    def test_names_of_the_greatest_length_are_deployable(self, wide: Deployed) -> None:
        assert len(wide[longest_name].function["FunctionName"]) <= 64
