"""What AWS puts around a payload is unwrapped where the declaration says so, and told to the handler as attributes."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel

from surehand import Job, Service, queue
from surehand.testing import world

SEEN: list[tuple[str, dict[str, str]]] = []


class Thing(BaseModel):
    """A payload."""

    number: str


@queue("by-sns", key="number", envelope="sns")
def by_sns(thing: Thing, job: Job) -> None:
    """Takes SNS notifications."""
    SEEN.append((thing.number, dict(job.attributes)))


@queue("by-events", key="number", envelope="eventbridge")
def by_events(thing: Thing, job: Job) -> None:
    """Takes EventBridge events."""
    SEEN.append((thing.number, dict(job.attributes)))


POST = Service("post", (by_sns, by_events))


@pytest.fixture(autouse=True)
def seen():
    SEEN.clear()


def notification(**changes) -> str:
    wrapped = {
        "Type": "Notification",
        "MessageId": "sns-1",
        "TopicArn": "arn:aws:sns:eu-west-1:000000000000:things",
        "Message": '{"number":"1"}',
        "MessageAttributes": {"colour": {"Type": "String", "Value": "red"}},
    }
    return json.dumps({name: value for name, value in (wrapped | changes).items() if value is not None})


def event(**changes) -> str:
    wrapped = {
        "version": "0",
        "id": "event-1",
        "detail-type": "Object Created",
        "source": "aws.s3",
        "time": "2026-01-01T00:00:00Z",
        "detail": {"number": "1"},
    }
    return json.dumps({name: value for name, value in (wrapped | changes).items() if value is not None})


def test_an_sns_notification_is_unwrapped_with_its_id_topic_and_attributes() -> None:
    with world(POST) as made:
        assert by_sns(made.event(by_sns, notification()), None) == {"batchItemFailures": []}
    ((number, attributes),) = SEEN
    assert number == "1"
    assert attributes == {
        "sns.message_id": "sns-1",
        "sns.topic": "arn:aws:sns:eu-west-1:000000000000:things",
        "colour": "red",
    }


def test_an_eventbridge_event_is_unwrapped_with_its_id_type_and_source() -> None:
    with world(POST) as made:
        assert by_events(made.event(by_events, event()), None) == {"batchItemFailures": []}
    ((number, attributes),) = SEEN
    assert number == "1"
    assert attributes["eventbridge.id"] == "event-1"
    assert attributes["eventbridge.type"] == "Object Created"
    assert attributes["eventbridge.source"] == "aws.s3"


def test_two_notifications_of_one_message_are_one_operation() -> None:
    with world(POST) as made:
        by_sns(made.event(by_sns, notification(), notification(MessageId="sns-2")), None)
    assert len(SEEN) == 1


@pytest.mark.parametrize(
    ("handler", "body", "code"),
    [
        (by_sns, "not json", "input.malformed"),
        (by_sns, "[]", "input.envelope"),
        (by_sns, '{"number":"1"}', "input.envelope"),
        (by_sns, notification(Type="SubscriptionConfirmation"), "input.envelope"),
        (by_sns, notification(Message=None), "input.envelope"),
        (by_sns, notification(Message="not json"), "input.malformed"),
        (by_sns, notification(Message='{"number": 1}'), "input.schema"),
        (by_events, event(detail=None), "input.envelope"),
        (by_events, '{"number":"1"}', "input.envelope"),
        (by_events, event(detail={"number": ""}), "input.key"),
    ],
)
def test_what_is_not_that_envelope_is_a_permanent_failure(handler, body, code) -> None:
    with world(POST) as made:
        assert len(handler(made.event(handler, body), None)["batchItemFailures"]) == 1
        assert made.teller.endings[0].code == code
    assert SEEN == []
