"""What each deployed function calls and what its role allows are the same actions: nothing is denied, nothing is spare.

The functions run as deployed, with the variables of the synthesised template, against the emulator's queues, ledger,
bucket and secrets; their requests are recorded as they go to the wire. Each path below is one that some granted action
exists for. Lambda's own calls with the role (receive, logs, traces) are left out on both sides (`granted.BY_LAMBDA`).
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest
from aws_cdk import Stack

from handlers.service import SHOP
from local.provider_stub import provider_stub
from surehand import Defer, Handler, Job, Reject, Retry, entrypoint, ingress
from surehand.aws.items import PART, decode, encode, key_of
from surehand.declare import max_receive_count, moment_text, operation_id
from surehand.declare.sweeping import POSITION, Task
from surehand.ledger import Operation
from surehand.states import State
from surehand.testing import again
from surehand.webhooks.request import HttpRequest
from surehand.webhooks.sign import sign
from surehand_cdk import ServiceConstruct
from tests.contracts.called import Calls, recording
from tests.contracts.deployed_stage import STAGE, DeployedStage
from tests.infra.granted import unlike
from tests.infra.synthesis import ROOT, WITHOUT_CODE, new_app, synthesise

pytestmark = pytest.mark.infra

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
FRESH = count()
BEGAN = datetime.now(UTC).replace(microsecond=0)

#: Differences that are meant: (function, action) → why. Both directions.
MEANT: Mapping[tuple[str, str], str] = {}


@pytest.fixture(scope="module")
def template() -> Mapping[str, Any]:
    app = new_app(**WITHOUT_CODE)
    ServiceConstruct(Stack(app, "core"), "Service", SHOP, stage=STAGE, protect=False)
    return synthesise(app).templates["core"]


@pytest.fixture(scope="module")
def stage(template: Mapping[str, Any], emulator: str) -> Iterator[DeployedStage]:
    made = DeployedStage(template, SHOP, emulator)
    for handler in SHOP.handlers:
        if handler.options.webhook is not None:
            source = handler.options.webhook.source(handler.name, service=SHOP.name, stage=STAGE)
            made.client("secretsmanager").create_secret(Name=source.secret, SecretString=SECRET)
    with provider_stub() as running:
        urls = ("PAYMENTS_URL", "WAREHOUSE_URL", "BILLING_URL", "ARCHIVE_URL", "ACCOUNTING_URL", "TICKETS_URL")
        with patch.dict(os.environ, dict.fromkeys(urls, running.url)), made.patient():
            yield made


# ---- messages of every handler --------------------------------------------------------------------------------------


def posted(stage: DeployedStage, handler: Handler[Any], body: bytes, calls: Calls) -> None:
    """Post a signed webhook to the ingress, and add what that calls."""
    webhook = handler.options.webhook
    assert webhook is not None
    source = webhook.source(handler.name, service=SHOP.name, stage=STAGE)
    recorded = json.loads((ROOT / "events/webhooks/http-api-stripe.json").read_text(encoding="utf-8"))
    request = HttpRequest(method="POST", path=f"/hooks/{handler.name}", body=body)
    signed = sign(source.scheme, request, SECRET, now=datetime.now(UTC), url=source.url)
    recorded["requestContext"]["http"]["path"] = recorded["rawPath"] = request.path
    event = {**recorded, "headers": dict(signed.headers), "body": signed.body.decode()}
    with stage.inside(f"{SHOP.name}-{STAGE}-webhooks"), recording(calls):
        answer = ingress.handle(event)
    assert answer["statusCode"] == 200, answer


def _order(number: int) -> str:
    return json.dumps({"order_id": f"o-{number}", "amount": 500, "card": "tok_visa"})


def _movement(number: int) -> str:
    return json.dumps({"movement_id": f"m-{number}", "sku": f"sku-{number}", "quantity": 1})


def _tick(number: int) -> str:
    return json.dumps({"at": moment_text(BEGAN - timedelta(seconds=number))})


def _paid(number: int, padding: str) -> dict[str, Any]:
    invoice = {"id": f"in_{number}", "amount_paid": 4900, "currency": "eur", "padding": padding}
    return {"id": f"evt_{number}", "type": "invoice.paid", "data": {"object": invoice}}


def _mention(number: int, padding: str) -> dict[str, Any]:
    mention = {"type": "app_mention", "channel": "C1", "ts": f"{number}.0", "text": f"help {padding}"}
    return {"type": "event_callback", "event_id": f"Ev{number}", "event": mention}


#: A body for each handler of the service, from a number; a new handler needs a line here.
BODIES: Mapping[str, Callable[[int], str]] = {"orders": _order, "stock-moves": _movement, "invoice-export": _tick}
WEBHOOKS: Mapping[str, Callable[[int, str], Mapping[str, Any]]] = {"stripe": _paid, "slack": _mention}


@dataclass(frozen=True)
class Driven:
    """One handler's function, its messages, and what it called."""

    stage: DeployedStage
    handler: Handler[Any]
    calls: Calls = field(default_factory=Calls)

    def arrive(self, number: int, *, padding: str = "") -> list[dict[str, Any]]:
        """Let so many new messages arrive, and return them as Lambda would get them."""
        self.stage.empty(self.handler)
        numbers = [next(FRESH) for _ in range(number)]
        if self.handler.options.webhook is not None:
            for one in numbers:
                posted(
                    self.stage, self.handler, json.dumps(WEBHOOKS[self.handler.name](one, padding)).encode(), Calls()
                )
        else:
            bodies = [BODIES[self.handler.name](one) for one in numbers]
            self.stage.send(self.handler, bodies, group=lambda index: f"group-{numbers[index]}")
        return self.stage.receive(self.handler, number)

    def run(
        self, records: list[dict[str, Any]], act: Callable[[Any, Job], object] | None = None, *, left: int = 300_000
    ) -> list[str]:
        """Deliver a batch. *act* stands for the handler's code, *left* is the time in ms."""
        with patch.object(self.handler, "function", act or self.handler.function), recording(self.calls):
            response = self.handler({"Records": records}, Context(left))
        return [one["itemIdentifier"] for one in response["batchItemFailures"]]

    def lapse(self, record: Mapping[str, Any]) -> None:
        """Make the record's operation one whose process died: still leased, by a lease that is over."""
        dynamodb, table = self.stage.client("dynamodb"), f"{SHOP.name}-{STAGE}-ledger"
        items = [
            one for one in dynamodb.scan(TableName=table, ConsistentRead=True)["Items"] if one["part"]["S"] == PART
        ]
        (operation,) = [one for one in map(decode, items) if record["messageId"] in one.message_ids]
        ended = datetime.now(UTC) - timedelta(minutes=1)
        lapsed = replace(operation, state=State.LEASED, lease_until=ended, not_before=None)
        dynamodb.put_item(TableName=table, Item={**key_of(lapsed.id), **encode(lapsed)})


@dataclass(frozen=True)
class Context:
    """Lambda's context, as far as it is read."""

    left: int
    aws_request_id: str = "8476a536-e9f4-11e8-9739-2dfe598c3fcd"

    def get_remaining_time_in_millis(self) -> int:
        return self.left


def done(*_: Any) -> None:
    """Succeed."""


def raising(error: Exception) -> Callable[[Any, Job], object]:
    def act(payload: Any, job: Job) -> object:
        raise error

    return act


def saving(_: Any, job: Job) -> None:
    assert job.cursor(int) is None
    job.save_cursor(1)
    job.save_cursor(2)


# ---- the paths ------------------------------------------------------------------------------------------------------


def drive(driven: Driven) -> None:
    """Take every way through the engine that calls AWS for a handler's sake."""
    handler, arrive, run = driven.handler, driven.arrive, driven.run
    now = timedelta(0)

    assert run(arrive(1)) == [], "the handler's own code"
    batch = arrive(3)
    assert run(batch, done) == [], "first delivery of a batch"
    assert run([again(one) for one in batch], done) == [], "duplicates, received before"
    assert run(batch, done) == [], "duplicates, for the first time"
    assert run(arrive(1), done) == [], "a single message"

    failing = arrive(3)
    run(failing, raising(Retry("provider.busy", after=now)))
    run([again(one) for one in failing], done)
    unstarted = arrive(3)
    assert len(run(unstarted, done, left=1_000)) == 3, "no time left"
    assert run([again(one) for one in unstarted], done) == [], "known operations, claimed in one batch"

    assert len(run(arrive(1), raising(Reject("data.unknown_article")))) == 1, "fast-forwarded by its visibility"
    assert run(arrive(1), saving) == [], "a cursor, read and moved"

    suspect, healthy = arrive(2)
    run([suspect], raising(Retry("provider.busy", after=now)))
    driven.lapse(suspect)
    assert run([again(suspect), healthy], done) == [], "a suspect runs last, when the others are acknowledged"

    (spent,) = arrive(1)
    spent["attributes"]["ApproximateReceiveCount"] = str(max_receive_count(handler) - 1)
    kept = run([spent], raising(Defer("provider.away", after=timedelta(minutes=1))))
    assert len(kept) == (1 if handler.options.fifo else 0), "renewed on a standard queue (P7)"

    if handler.options.webhook is not None:
        assert run(arrive(1, padding=large()), done) == [], "a body that does not fit into a message"


def large() -> str:
    """Return text that does not fit into a message, compressed or not."""
    return base64.b64encode(os.urandom(1_500_000)).decode()


def differences(template: Mapping[str, Any], function: Handler[Any] | str, calls: Calls) -> tuple[set[str], set[str]]:
    """Return what the function called and may not, and what it may and never called, less what is meant."""
    name = function if isinstance(function, str) else function.name
    meant = {action for of, action in MEANT if of == name}
    missing, spare = unlike(template, function, calls.actions)
    return missing - meant, spare - meant


@pytest.mark.parametrize("handler", SHOP.handlers, ids=lambda handler: handler.name)
def test_a_handlers_function_may_call_exactly_what_its_code_calls(
    handler: Handler[Any], stage: DeployedStage, template: Mapping[str, Any]
) -> None:
    driven = Driven(stage, handler)
    with stage.inside(f"{SHOP.name}-{STAGE}-{handler.name}"):
        drive(driven)
    assert differences(template, handler, driven.calls) == (set(), set())


def test_every_handler_of_the_service_is_driven() -> None:
    assert {one.name for one in SHOP.handlers} == {*BODIES, *WEBHOOKS}, "give each handler a body above"


def test_the_ingress_may_call_exactly_what_its_code_calls(stage: DeployedStage, template: Mapping[str, Any]) -> None:
    calls = Calls()
    for handler in (one for one in SHOP.handlers if one.name in WEBHOOKS):
        for padding in ("", large()):
            body = json.dumps(WEBHOOKS[handler.name](next(FRESH), padding)).encode()
            posted(stage, handler, body, calls)
    assert differences(template, f"{SHOP.name}-{STAGE}-webhooks", calls) == (set(), set())


def test_the_sweep_may_call_exactly_what_its_code_calls(stage: DeployedStage, template: Mapping[str, Any]) -> None:
    ended = datetime.now(UTC) - timedelta(days=1)
    stuck = Operation(
        id=operation_id("orders", None, ["stuck"]),
        handler="orders",
        tenant=None,
        state=State.LEASED,
        fence=1,
        owner="dead/1",
        claimed_at=ended,
        started_at=ended,
        lease_until=ended,
        expires_at=datetime.now(UTC) + timedelta(days=1),
        message_ids=("m-stuck",),
    )
    item = {**key_of(stuck.id), **encode(stuck)}
    stage.client("dynamodb").put_item(TableName=f"{SHOP.name}-{STAGE}-ledger", Item=item)
    calls = Calls()
    with stage.inside(f"{SHOP.name}-{STAGE}-sweep"), recording(calls):
        answers = [entrypoint.sweep(Task.of(SHOP.handlers).dump(), Context(60_000)) for _ in range(2)]
    assert [answer["stuck"] for answer in answers] == [1, 1]
    assert differences(template, f"{SHOP.name}-{STAGE}-sweep", calls) == (set(), set())
    written = [call.body["Item"]["id"] for call in calls.made if call.operation == "PutItem"]
    assert written == [{"S": POSITION}] * 2, "the role allows the sweep this one item"
