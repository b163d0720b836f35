"""Dead letters that SQS did not move: of EventBridge, Scheduler, SNS and Lambda. What they say, and where they belong.

Sources: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html (RULE_ARN, TARGET_ARN, ERROR_CODE,
ERROR_MESSAGE, RETRY_ATTEMPTS, EXHAUSTED_RETRY_CONDITION), https://docs.aws.amazon.com/scheduler/latest/UserGuide/
configuring-schedule-dlq.html (EXECUTION_ID, SCHEDULE_ARN, SCHEDULED_TIME, IS_PAYLOAD_TRUNCATED),
https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html (a dead-letter queue gets the event
with RequestID, ErrorCode, ErrorMessage; a destination gets a record with requestContext and requestPayload) and
https://docs.aws.amazon.com/sns/latest/dg/sns-dead-letter-queues.html.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surehand_cli.dlq.letter import Letter, strings


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """A dead letter that a service other than SQS left.

    *service* names it; *sender* is the rule, schedule, topic or function; *target* the ARN that did not take it, as
    far as the letter says; *error* AWS's code and text. *payload* is what to deliver there. *refusal* says why it
    cannot be redriven.
    """

    service: str
    sender: str | None
    target: str | None
    error: str
    payload: str | None
    refusal: str | None = None

    @property
    def explanation(self) -> str:
        """One sentence for people."""
        where = f" to {self.target}" if self.target else ""
        cause = f": {self.error}" if self.error else ""
        return f"{self.service} ({self.sender or 'unknown sender'}) could not deliver it{where}{cause}"


def foreign(letter: Letter, *, served: bool) -> Foreign | None:
    """Recognise a letter of another service; None for one that SQS moved or whose origin is not known.

    *served* says that the queue is the dead-letter queue of a queue of SQS: then a body that looks like a notification
    is what was sent to that queue.
    """
    if letter.source is not None:
        return None
    said = strings(letter)
    if "SCHEDULE_ARN" in said:
        return _of_scheduler(letter, said)
    if "RULE_ARN" in said:
        return _of_eventbridge(letter, said)
    if {"RequestID", "ErrorCode", "ErrorMessage"} <= said.keys():
        return Foreign(
            service="Lambda",
            sender=None,
            target=None,
            error=_error(said.get("ErrorCode"), said.get("ErrorMessage")),
            payload=letter.body,
            refusal="the letter does not say which function it was for; name it with --to",
        )
    return None if served else _by_body(letter)


def _of_scheduler(letter: Letter, said: Mapping[str, str]) -> Foreign:
    truncated = said.get("IS_PAYLOAD_TRUNCATED", "false").lower() == "true"
    return Foreign(
        service="EventBridge Scheduler",
        sender=said["SCHEDULE_ARN"],
        target=said.get("TARGET_ARN"),
        error=_error(said.get("ERROR_CODE"), said.get("ERROR_MESSAGE")),
        payload=letter.body,
        refusal="its payload was truncated" if truncated else _no_target(said),
    )


def _of_eventbridge(letter: Letter, said: Mapping[str, str]) -> Foreign:
    truncated = said.get("IS_PAYLOAD_TRUNCATED", "false").lower() == "true"
    return Foreign(
        service="EventBridge",
        sender=said["RULE_ARN"],
        target=said.get("TARGET_ARN"),
        error=_error(said.get("ERROR_CODE"), said.get("ERROR_MESSAGE")),
        payload=letter.body,
        refusal="its payload was truncated" if truncated else _no_target(said),
    )


def _by_body(letter: Letter) -> Foreign | None:
    body = _object(letter.body)
    if body is None:
        return None
    context = body.get("requestContext")
    if isinstance(context, Mapping) and "functionArn" in context and "requestPayload" in body:
        response = body.get("responseContext")
        error = response.get("functionError") if isinstance(response, Mapping) else None
        return Foreign(
            service="Lambda destination",
            sender=str(context["functionArn"]),
            target=_unqualified(str(context["functionArn"])),
            error=_error(error, context.get("condition")),
            payload=json.dumps(body["requestPayload"]),
        )
    if body.get("Type") == "Notification" and isinstance(body.get("TopicArn"), str) and "Message" in body:
        return Foreign(
            service="SNS",
            sender=str(body["TopicArn"]),
            target=None,
            error="",
            payload=letter.body,
            refusal="the letter does not say which subscription it was for; name its queue with --to",
        )
    return None


def _object(text: str | None) -> Mapping[str, Any] | None:
    if text is None or not text.startswith("{"):
        return None
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _no_target(said: Mapping[str, str]) -> str | None:
    target = said.get("TARGET_ARN")
    if target is None:
        return "the letter does not say what its target was; name a queue with --to"
    if target.split(":")[2:3] not in (["sqs"], ["lambda"]):
        return f"its target {target} is neither a queue nor a function; name a queue with --to"
    return None


def _error(code: object, text: object) -> str:
    return ": ".join(str(part)[:200] for part in (code, text) if part)


def _unqualified(arn: str) -> str:
    """A record names the version that ran; `$LATEST` cannot be invoked by its qualified ARN's permissions alone."""
    return arn.removesuffix(":$LATEST")
