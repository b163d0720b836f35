"""Dead letters of EventBridge, Scheduler, SNS and Lambda: explained, redriven to their target, refused if truncated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from surehand.states import State
from surehand.testing import World
from surehand_cli.account.session import Account
from tests.ops.burial import Consumer, mend
from tests.ops.conftest import Said, Surehand
from tests.ops.depot import STATE, Parcel, ship

WHY = ("--despite", "mapping", "--execute", "--reason", "INC-17", "--json")


@pytest.fixture
def foreign(consumer: Consumer) -> str:
    """A dead-letter queue that no queue of SQS has, as a rule or a schedule has one."""
    STATE.act = mend
    return str(consumer.sqs.create_queue(QueueName="rules-dlq")["QueueUrl"])


def leave(consumer: Consumer, url: str, body: object, **attributes: str) -> None:
    consumer.sqs.send_message(
        QueueUrl=url,
        MessageBody=json.dumps(body),
        MessageAttributes={name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()},
    )


def arn(consumer: Consumer) -> str:
    answer = consumer.sqs.get_queue_attributes(QueueUrl=consumer.url, AttributeNames=["QueueArn"])
    return str(answer["Attributes"]["QueueArn"])


def counts(said: Said) -> dict[str, int]:
    found: dict[str, int] = said.lines[-1]["counts"]
    return found


def test_a_letter_of_a_rule_goes_to_the_rules_target_and_runs_there(
    consumer: Consumer, depot: World, foreign: str, surehand: Surehand
) -> None:
    parcel = Parcel(number="1")
    leave(consumer, foreign, parcel.model_dump(), RULE_ARN="arn:rule", TARGET_ARN=arn(consumer), ERROR_CODE="THROTTLED")
    (line,) = surehand("dlq", "list", "rules-dlq", "--json").lines
    assert "EventBridge (arn:rule) could not deliver it" in line["foreign"]
    assert line["verdict"] == f"to {arn(consumer)}"
    said = surehand("dlq", "redrive", "rules-dlq", "--all", *WHY)
    assert said.status == 0, said.err
    assert counts(said) == {"moved": 1}
    consumer.consume()
    operation = depot.operation(ship, parcel)
    assert operation is not None
    assert operation.state is State.SUCCEEDED


def test_a_truncated_letter_stays_and_is_said_to(consumer: Consumer, foreign: str, surehand: Surehand) -> None:
    leave(consumer, foreign, {}, SCHEDULE_ARN="arn:s", TARGET_ARN=arn(consumer), IS_PAYLOAD_TRUNCATED="true")
    said = surehand("dlq", "redrive", "rules-dlq", "--all", *WHY)
    assert said.status == 2
    assert "its payload was truncated" in said.err


def test_a_letter_that_names_no_target_goes_where_it_is_told(
    consumer: Consumer, foreign: str, surehand: Surehand
) -> None:
    body = {"Type": "Notification", "TopicArn": "arn:topic", "MessageId": "1", "Message": "{}"}
    leave(consumer, foreign, body)
    refused = surehand("dlq", "redrive", "rules-dlq", "--all", *WHY)
    assert (refused.status, "--to" in refused.err) == (2, True)
    said = surehand("dlq", "redrive", "rules-dlq", "--all", "--to", "depot-test-parcels", *WHY)
    assert said.status == 0, said.err
    (message,) = consumer.sqs.receive_message(QueueUrl=consumer.url)["Messages"]
    assert json.loads(message["Body"]) == body


def test_a_record_of_a_lambda_destination_invokes_the_function_with_its_event(
    consumer: Consumer, foreign: str, surehand: Surehand, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lambda:
        def __init__(self, real: Any) -> None:
            self._real = real

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

        invoked: list[dict[str, Any]] = []  # noqa: RUF012 - one test's own record

        def invoke(self, **request: Any) -> dict[str, Any]:
            self.invoked.append(request)
            return {"StatusCode": 202, "ResponseMetadata": {"RequestId": "r-1"}}

    usual = Account.client
    made = Lambda(usual(Account(), "lambda"))
    monkeypatch.setattr(Account, "client", lambda self, name: made if name == "lambda" else usual(self, name))
    context = {"functionArn": "arn:aws:lambda:eu-west-1:1:function:f:$LATEST", "condition": "RetriesExhausted"}
    leave(consumer, foreign, {"requestContext": context, "requestPayload": {"order": 1}})
    said = surehand("dlq", "redrive", "rules-dlq", "--all", *WHY)
    assert said.status == 0, said.err
    assert made.invoked == [
        {
            "FunctionName": "arn:aws:lambda:eu-west-1:1:function:f",
            "InvocationType": "Event",
            "Payload": b'{"order": 1}',
        }
    ]


def test_a_queue_that_nobody_names_as_its_dead_letter_queue_needs_a_destination(
    consumer: Consumer, foreign: str, surehand: Surehand
) -> None:
    leave(consumer, foreign, {"anything": 1})
    said = surehand("dlq", "redrive", "rules-dlq", "--all", *WHY)
    assert (said.status, "--to" in said.err) == (2, True)
