"""What a handler's function, and the sweep, must be allowed: for deployments without our constructs.

The constructs say the same in CDK's words; a test compares both action by action, since neither may import the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from surehand import Handler, Service
from surehand.declare import physical_name, queue_name, table_name, target_names
from surehand.declare.ingress import INGRESS, secrets
from surehand.declare.sweeping import function_name
from surehand.webhooks.source import Source

_LEDGER = (
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:GetItem",
    "dynamodb:PartiQLInsert",
    "dynamodb:PartiQLUpdate",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
)
_RECEIVE = ("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")
_SEND = ("sqs:SendMessage",)
_LOGS = ("logs:CreateLogStream", "logs:PutLogEvents")
_TRACES = ("xray:PutTelemetryRecords", "xray:PutTraceSegments")


@dataclass(frozen=True, slots=True)
class Statement:
    """One Allow statement of an IAM policy."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    condition: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as IAM has it."""
        said: dict[str, Any] = {"Effect": "Allow", "Action": list(self.actions), "Resource": list(self.resources)}
        return {**said, "Condition": self.condition} if self.condition is not None else said


def handler_statements(service: Service, stage: str, handler: Handler[Any]) -> list[Statement]:
    """Return what a handler's function must be allowed."""
    own = _sqs(queue_name(service.name, stage, handler))
    # On a standard queue a message that SQS would soon delete is sent again to its own queue (rule P7).
    receiving = _RECEIVE if handler.options.fifo else (*_RECEIVE, *_SEND)
    found = [
        Statement(receiving, (own,)),
        Statement(_LEDGER, (_table(service, stage),)),
        Statement(_LOGS, (_log_group(physical_name(service.name, stage, handler.name)),)),
        Statement(_TRACES, ("*",)),
    ]
    others = [name for name in target_names(handler) if name != handler.name]
    if others:
        arns = tuple(_sqs(queue_name(service.name, stage, service[name])) for name in others)
        found.append(Statement(_SEND, arns))
    if bodies_of(handler):
        found.append(Statement(("s3:GetObject",), (f"arn:aws:s3:::{{bodies}}/{handler.name}/*",)))
    return found


def sweep_statements(service: Service, stage: str, position: str) -> list[Statement]:
    """Return what the sweep's function must be allowed: to read the table, and to write its own position."""
    table = (_table(service, stage),)
    only = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [position]}}
    return [
        Statement(("dynamodb:BatchGetItem", "dynamodb:Scan"), table),
        Statement(("dynamodb:GetItem", "dynamodb:PutItem"), table, only),
        Statement(_LOGS, (_log_group(function_name(service.name, stage)),)),
        Statement(_TRACES, ("*",)),
    ]


def ingress_statements(service: Service, stage: str, sources: Sequence[Source]) -> list[Statement]:
    """Return what the ingress must be allowed: to send to its queues, put under its prefixes and read its secrets."""
    return [
        Statement(_SEND, tuple(_sqs(queue_name(service.name, stage, service[one.name])) for one in sources)),
        Statement(("s3:PutObject",), tuple(f"arn:aws:s3:::{{bodies}}/{one.name}/*" for one in sources)),
        Statement(("secretsmanager:GetSecretValue",), tuple(_secret(name) for name in secrets(sources))),
        Statement(_LOGS, (_log_group(physical_name(service.name, stage, INGRESS)),)),
        Statement(_TRACES, ("*",)),
    ]


def bodies_of(handler: Handler[Any]) -> bool:
    """Tell whether the handler fetches large bodies from the webhooks' bucket."""
    return handler.options.webhook is not None


def _sqs(name: str) -> str:
    return f"arn:aws:sqs:{{region}}:{{account}}:{name}"


def _secret(name: str) -> str:
    """Secrets Manager appends a hyphen and six characters to a secret's name."""
    return name if name.startswith("arn:") else f"arn:aws:secretsmanager:{{region}}:{{account}}:secret:{name}-??????"


def _table(service: Service, stage: str) -> str:
    return f"arn:aws:dynamodb:{{region}}:{{account}}:table/{table_name(service.name, stage)}"


def _log_group(name: str) -> str:
    return f"arn:aws:logs:{{region}}:{{account}}:log-group:/aws/lambda/{name}:*"


Statements = Sequence[Statement]
