"""The IAM documents for viewers and operators allow what the commands call, and nothing that no command calls."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from botocore.client import BaseClient

from surehand.testing import World
from tests.ops.burial import Consumer, mend, parcels
from tests.ops.conftest import Surehand
from tests.ops.depot import STATE, ship

#: Its stubs hide what is recorded here.
CLIENT: Any = BaseClient
POLICIES = Path(__file__).resolve().parents[2] / "ops" / "policies"
#: moto has no move tasks, uses no keys and invokes nothing; what is left is for `--unwatched` and other rare options.
NOT_ON_MOTO = {
    "kms:Decrypt", "kms:GenerateDataKey", "lambda:InvokeFunction", "sqs:CancelMessageMoveTask",
    "sqs:StartMessageMoveTask", "scheduler:GetSchedule",
}  # fmt: skip
#: IAM knows the single call only. Source: the service authorization reference of SQS.
IAM = {
    "sqs:SendMessageBatch": "sqs:SendMessage",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
}


def statements(name: str) -> list[dict[str, Any]]:
    text = (POLICIES / f"{name}.json").read_text(encoding="utf-8")
    for placeholder, value in {"SERVICE": "depot", "STAGE": "test", "REGION": "eu-west-1", "ACCOUNT": "1"}.items():
        text = text.replace(placeholder, value)
    found: list[dict[str, Any]] = json.loads(text)["Statement"]
    return found


def allowed(call: tuple[str, str], *names: str) -> bool:
    action, resource = call
    return any(
        action in statement["Action"] and any(fnmatch.fnmatch(resource, one) for one in _listed(statement["Resource"]))
        for name in names
        for statement in statements(name)
    )


def actions(*names: str) -> set[str]:
    return {action for name in names for statement in statements(name) for action in statement["Action"]}


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


@contextmanager
def recorded() -> Iterator[set[tuple[str, str]]]:
    """Record every call of the AWS SDK as IAM sees it: action and resource."""
    calls: set[tuple[str, str]] = set()
    usual = CLIENT._make_api_call

    def record(self: Any, operation: str, request: dict[str, Any]) -> Any:
        service = self.meta.service_model.signing_name.replace("monitoring", "cloudwatch")
        action = f"{service}:{operation}"
        calls.update((IAM.get(action, action), resource) for resource in _resources(action, request))
        return usual(self, operation, request)

    CLIENT._make_api_call = record
    try:
        yield calls
    finally:
        CLIENT._make_api_call = usual


def _resources(action: str, request: dict[str, Any]) -> list[str]:
    if action.startswith("sqs:"):
        name = request.get("QueueName") or str(request.get("QueueUrl") or request.get("SourceArn")).replace(":", "/")
        return [f"arn:aws:sqs:eu-west-1:1:{name.rpartition('/')[2]}"]
    if action.startswith("dynamodb:"):
        tables = [request["TableName"]] if "TableName" in request else list(request["RequestItems"])
        index = f"/index/{request['IndexName']}" if "IndexName" in request else ""
        return [f"arn:aws:dynamodb:eu-west-1:1:table/{table}{index}" for table in tables]
    if action == "lambda:GetFunctionConfiguration":
        return [f"arn:aws:lambda:eu-west-1:1:function:{request['FunctionName']}"]
    return ["*"]


@pytest.fixture
def dead(consumer: Consumer, depot: World, monkeypatch: pytest.MonkeyPatch) -> Consumer:
    """Twelve dead letters. What the function itself calls is not recorded, since it has permissions of its own."""
    consumer.bury(parcels(12))
    STATE.act = mend
    return consumer


def test_a_viewer_may_do_what_every_reading_verb_does(dead: Consumer, surehand: Surehand, depot: World) -> None:
    operation = depot.operation(ship, parcels(1)[0])
    assert operation is not None
    with recorded() as calls:
        for command in (
            ("dlq", "ls"),
            ("dlq", "snapshot", "parcels", "--no-tell", "-o", "s.jsonl"),
            ("dlq", "stats", "parcels"),
            ("dlq", "list", "parcels"),
            ("dlq", "plan", "parcels", "--all", "-o", "p.json"),
            ("dlq", "redrive", "parcels", "--all", "--stop-on-alarm", "a"),
            ("dlq", "native", "status", "parcels"),
            ("ledger", "show", operation.id),
            ("ledger", "list"),
            ("ledger", "list", "--state", "succeeded"),
            ("ledger", "sweep"),
            ("doctor",),
        ):
            surehand(*command)
    unmet = {call for call in calls if not allowed(call, "viewer")} - {("sts:GetCallerIdentity", "*")}
    assert unmet == set()
    assert actions("viewer") - {action for action, _ in calls} - NOT_ON_MOTO == set()


def test_an_operator_may_do_what_every_writing_verb_does(
    dead: Consumer, surehand: Surehand, depot: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = ("--execute", "--reason", "x", "--rate", "500/s")
    played = ("--despite", "mapping")
    # The consumer's own calls are the function's: it rests while a command runs, and works between two commands.
    monkeypatch.setattr(Consumer, "consume", lambda self: 0)
    Path("rows.jsonl").write_text('{"number":"new","tenant":"acme"}\n')
    with recorded() as calls:
        surehand("dlq", "snapshot", "parcels")
        for code in ("data.address", "code.KeyError"):
            surehand("dlq", "redrive", "parcels", "--code", code, "--unwatched", *played, *go)
        surehand("dlq", "redrive", "parcels", "--all", "--max-backlog", "1", "--patience", "1", *played, *go)
        surehand("dlq", "park", "parcels", "--code", "data.weight", "--create", *go)
        surehand("ledger", "cancel", "parcels", "new", "--tenant", "acme", "--execute", "--reason", "x")
        surehand("send", "parcels", "-f", "rows.jsonl", *go)
    unmet = {call for call in calls if not allowed(call, "viewer", "operator")} - {("sts:GetCallerIdentity", "*")}
    assert unmet == set()
    assert actions("operator") - {action for action, _ in calls} - NOT_ON_MOTO == set()


def test_a_viewer_who_takes_a_snapshot_is_told_that_the_ledger_was_not(
    dead: Consumer, surehand: Surehand, monkeypatch: pytest.MonkeyPatch
) -> None:
    from botocore.exceptions import ClientError

    usual = CLIENT._make_api_call

    def refuse(self: Any, operation: str, request: dict[str, Any]) -> Any:
        if operation == "UpdateItem":
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": ""}}, operation)
        return usual(self, operation, request)

    monkeypatch.setattr(CLIENT, "_make_api_call", refuse)
    said = surehand("dlq", "snapshot", "parcels")
    assert said.status == 0
    assert "The ledger was not told what was seen (AccessDeniedException)" in said.err
