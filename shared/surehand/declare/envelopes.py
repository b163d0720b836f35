"""Unwrap what AWS puts around a payload on its way to the queue.

Sources: https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html (a subscription without raw
delivery wraps the message as a JSON object with `Type`, `MessageId`, `TopicArn`, `Message`) and
https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html (`id`, `detail-type`, `detail`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from surehand.declare.options import Envelope
from surehand.declare.payload import NotValid
from surehand.declare.tick import SCHEDULED_TIME, moment_text
from surehand.declare.when import When
from surehand.delivery import Delivery


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The payload's JSON and what the envelope says of it, for `job.attributes`.

    *key* and *tenant* are what a webhook's envelope names; a declared field takes their place. *unsigned_id* is an id
    that nobody signs, by which a replay can be suspected.
    """

    body: str | bytes
    attributes: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    tenant: str | None = None
    unsigned_id: str | None = None


def unwrap(envelope: Envelope, delivery: Delivery) -> Unwrapped:
    """Return the payload inside the declared envelope.

    Raises:
        NotValid: `input.envelope`: it is not that envelope. The text says what is missing.
    """
    if envelope == "sns":
        return _sns(delivery.body)
    if envelope == "eventbridge":
        return _eventbridge(delivery.body)
    return Unwrapped(delivery.body)


def scheduled(when: When, delivery: Delivery) -> Unwrapped:
    """Return a tick's JSON with the moment that it stands for.

    Where the schedule's literal placeholder arrives, because an emulator or a hand has sent it, the moment is the last
    one on the schedule's own grid by the time the message was sent.

    Raises:
        NotValid: `input.schema`: there was none yet.
    """
    if SCHEDULED_TIME not in delivery.body:
        return Unwrapped(delivery.body)
    moment = when.latest(delivery.sent_at)
    if moment is None:
        raise NotValid("input.schema", f"{SCHEDULED_TIME} was not replaced, and the schedule had not begun by then")
    return Unwrapped(delivery.body.replace(SCHEDULED_TIME, moment_text(moment)))


def _sns(body: str) -> Unwrapped:
    wrapped = _object(body, "an SNS notification")
    message = wrapped.get("Message")
    if wrapped.get("Type") != "Notification" or not isinstance(message, str):
        raise NotValid(
            "input.envelope",
            "the body is no SNS notification (Type, Message); for raw delivery declare envelope='none'",
        )
    attributes = {"sns.message_id": wrapped.get("MessageId"), "sns.topic": wrapped.get("TopicArn")}
    sent = wrapped.get("MessageAttributes")
    if isinstance(sent, Mapping):
        attributes |= {str(name): value.get("Value") for name, value in sent.items() if isinstance(value, Mapping)}
    return Unwrapped(message, _texts(attributes))


def _eventbridge(body: str) -> Unwrapped:
    wrapped = _object(body, "an EventBridge event")
    if "detail" not in wrapped or not isinstance(wrapped.get("detail-type"), str):
        raise NotValid("input.envelope", "the body is no EventBridge event (detail-type, detail)")
    attributes = {
        "eventbridge.id": wrapped.get("id"),
        "eventbridge.type": wrapped["detail-type"],
        "eventbridge.source": wrapped.get("source"),
        "eventbridge.time": wrapped.get("time"),
    }
    return Unwrapped(json.dumps(wrapped["detail"], separators=(",", ":"), ensure_ascii=False), _texts(attributes))


def _object(body: str, what: str) -> Mapping[str, object]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        raise NotValid("input.malformed", "the body is not JSON") from None
    if not isinstance(parsed, Mapping):
        raise NotValid("input.envelope", f"the body is not {what}, which is a JSON object")
    return parsed


def _texts(attributes: Mapping[str, object]) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if isinstance(value, str)}
