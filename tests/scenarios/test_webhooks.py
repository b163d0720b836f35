"""From a signed request to one effect: the ingress and the worker together, whatever happens between them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from surehand import Job, Scheme, Service, webhook
from surehand.aws.telling import counted
from surehand.outcomes import Outcome
from surehand.testing import FakeClock, World, again, world
from surehand.testing.gate import MemoryCloud, Outage
from surehand.webhooks.ports import Stored


class Paid(BaseModel):
    """A payment. Stripe's `pending_webhooks`, which a retry may change, is not declared."""

    id: str
    amount: int


ran: list[object] = []
told: list[dict[str, str]] = []


@pytest.fixture(autouse=True)
def _nothing_has_run() -> None:
    ran.clear()
    told.clear()


@webhook("billing", scheme="stripe")
def on_payment(paid: Paid, job: Job) -> None:
    """Take a payment."""
    ran.append((paid.id, paid.amount))
    told.append(dict(job.attributes))


@webhook("issues", scheme="github")
def on_issue(body: bytes) -> None:
    """Take a body as it was sent."""
    ran.append(body)


@webhook("texts", scheme=Scheme(name="texts", signature="header:x-sig", id="form:MessageSid"))
def on_text(form: dict[str, Any]) -> None:
    """Take a form."""
    ran.append(form)


@webhook("shops", scheme="square", url="https://a.example/hooks/shops", tenants="any", tenant_in="body:shop")
def on_shop(event: dict[str, Any], job: Job) -> None:
    """Take an event of one of many shops."""
    ran.append((job.tenant, event["event_id"]))


@webhook("numbered", scheme="github", key="number")
def on_number(event: dict[str, Any]) -> None:
    """Take an event that has a key of its own."""
    ran.append(event["text"])


@webhook("customers", scheme="github", tenant="customer")
def on_customer(event: dict[str, Any]) -> None:
    """Take an event whose body names the tenant."""
    ran.append(event["customer"])


SERVICE = Service("post", (on_payment, on_issue, on_text, on_shop, on_number, on_customer))
PAID = {"id": "evt_1", "amount": 500, "type": "invoice.paid", "pending_webhooks": 2}


@pytest.fixture
def made() -> Iterator[World]:
    with world(SERVICE) as made:
        yield made


def cloud(made: World) -> MemoryCloud:
    assert isinstance(made.gate.ports.store, MemoryCloud)
    return made.gate.ports.store


def outcomes(made: World) -> list[Outcome]:
    return [ending.outcome for ending in made.teller.endings]


def test_an_event_is_stored_before_the_answer_and_run_after_it(made: World):
    response = made.gate.post(on_payment, PAID)

    assert (response.status, ran) == (200, [])
    assert on_payment(made.gate.event(on_payment)) == {"batchItemFailures": []}
    assert ran == [("evt_1", 500)]


def test_the_handler_is_told_who_the_event_says_it_is(made: World):
    made.gate.post(on_payment, PAID)
    on_payment(made.gate.event(on_payment))

    assert told[0]["webhook.id"] == "evt_1"
    assert told[0]["webhook.type"] == "invoice.paid"
    assert told[0]["webhook.source"] == "billing"
    assert told[0]["event_type"] == "invoice.paid"


def test_a_retry_of_the_sender_is_answered_with_success_and_runs_once(made: World):
    for pending in (2, 1):
        assert made.gate.post(on_payment, PAID | {"pending_webhooks": pending}).status == 200
        on_payment(made.gate.event(on_payment))

    assert ran == [("evt_1", 500)]
    assert outcomes(made) == [Outcome.SUCCEEDED, Outcome.ALREADY_APPLIED]


def test_the_same_id_with_another_content_is_a_counted_conflict_and_never_runs(made: World):
    made.gate.post(on_payment, PAID)
    on_payment(made.gate.event(on_payment))
    made.gate.post(on_payment, PAID | {"amount": 900})
    response = on_payment(made.gate.event(on_payment))

    assert ran == [("evt_1", 500)]
    assert len(response["batchItemFailures"]) == 1
    assert (made.teller.endings[-1].outcome, made.teller.endings[-1].code) == (Outcome.KEY_CONFLICT, "input.conflict")


def test_a_captured_request_under_a_new_unsigned_id_is_the_same_operation(made: World):
    for delivery in ("one", "two"):
        made.gate.post(on_issue, b"{}", headers={"x-github-delivery": delivery, "x-github-event": "ping"})
        on_issue(made.gate.event(on_issue))

    assert ran == [b"{}"]
    first, second = made.teller.endings
    assert (first.replay, second.replay) == (False, True)
    assert "ReplaySuspected" in counted(on_issue, second)


def test_a_redelivery_under_its_own_unsigned_id_is_no_suspected_replay(made: World):
    for _ in range(2):
        made.gate.post(on_issue, b"{}", headers={"x-github-delivery": "one", "x-github-event": "ping"})
        on_issue(made.gate.event(on_issue))

    assert (ran, made.teller.endings[1].replay) == ([b"{}"], False)


def test_under_a_declared_key_an_equal_unsigned_id_does_not_make_two_contents_the_same(made: World):
    for text in ("first", "second"):
        made.gate.post(on_number, {"number": 1, "text": text}, headers={"x-github-delivery": "one"})
        on_number(made.gate.event(on_number))

    assert ran == ["first"]
    assert made.teller.endings[1].outcome is Outcome.KEY_CONFLICT


def test_a_forged_request_leaves_nothing_behind(made: World):
    assert made.gate.post(on_payment, PAID, secret="guessed").status == 401
    assert made.gate.event(on_payment) == {"Records": []}


def test_a_stale_request_leaves_nothing_behind(made: World):
    assert isinstance(made.clock, FakeClock)
    made.clock.advance(timedelta(minutes=-6))
    signed: list[Any] = []
    made.gate.take = signed.append  # type: ignore[method-assign, assignment]
    made.gate.post(on_payment, PAID)
    del made.gate.take
    made.clock.advance(timedelta(minutes=6))

    assert made.gate.take(signed[0]).status == 401
    assert made.gate.event(on_payment) == {"Records": []}


def test_a_binary_body_arrives_byte_for_byte(made: World):
    body = bytes(range(256))
    made.gate.post(on_issue, body, headers={"content-type": "application/octet-stream", "x-github-delivery": "d"})
    on_issue(made.gate.event(on_issue))

    assert ran == [body]


def test_a_form_arrives_as_its_fields(made: World):
    form = {"content-type": "application/x-www-form-urlencoded"}
    made.gate.post(on_text, "MessageSid=SM1&To=%2B49&To=%2B43&Body=", headers=form)
    on_text(made.gate.event(on_text))

    assert ran == [{"MessageSid": "SM1", "To": ["+49", "+43"], "Body": ""}]


def test_the_tenant_of_the_path_is_the_operation_s_and_the_queue_s_group(made: World):
    made.gate.post(on_shop, {"shop": "acme", "event_id": "e1"}, tenant="acme")
    event = made.gate.event(on_shop)
    on_shop(event)

    assert event["Records"][0]["attributes"]["MessageGroupId"] == "acme"
    assert ran == [("acme", "e1")]


def test_a_valid_signature_on_the_path_of_another_tenant_is_refused(made: World):
    assert made.gate.post(on_shop, {"shop": "acme", "event_id": "e1"}, tenant="other").status == 401


LARGE = PAID | {"note": os.urandom(300_000).hex()}


def test_a_large_body_is_stored_beside_the_queue_and_fetched_by_the_worker(made: World):
    made.gate.post(on_payment, LARGE)
    event = made.gate.event(on_payment)

    assert len(event["Records"][0]["body"]) < 2_000
    on_payment(event)
    assert ran == [("evt_1", 500)]


def test_a_crash_between_store_and_queue_is_told_to_the_sender_whose_retry_runs_once(made: World):
    cloud(made).away.add("queue")
    assert made.gate.post(on_payment, LARGE).status == 503
    assert len(cloud(made).bodies) == 1
    cloud(made).away.clear()

    assert made.gate.post(on_payment, LARGE).status == 200
    on_payment(made.gate.event(on_payment))

    assert ran == [("evt_1", 500)]
    assert len(cloud(made).bodies) == 1


@pytest.mark.parametrize("body", [PAID, LARGE], ids=["inline", "stored"])
def test_a_crash_between_queue_and_answer_ends_in_one_effect(made: World, body: dict[str, object]):
    """SQS took the message and the sender never heard of it: it sends again."""
    made.gate.post(on_payment, body)
    made.gate.post(on_payment, body)
    event = made.gate.event(on_payment)

    assert len(event["Records"]) == 2
    assert on_payment(event) == {"batchItemFailures": []}
    assert ran == [("evt_1", 500)]


def test_a_body_that_cannot_be_fetched_puts_its_message_back_and_stops_no_neighbour(made: World):
    made.gate.post(on_payment, PAID | {"id": "evt_2"})
    made.gate.post(on_payment, LARGE)
    event = made.gate.event(on_payment)
    cloud(made).away.add("store")

    response = on_payment(event)

    assert [one["itemIdentifier"] for one in response["batchItemFailures"]] == [event["Records"][1]["messageId"]]
    assert ran == [("evt_2", 500)]
    ending = made.teller.endings[1]
    assert (ending.outcome, ending.code, ending.operation_id) == (
        Outcome.UNCLAIMED,
        "provider.body",
        '["billing",null,["billing#evt_1"]]',
    )

    cloud(made).away.clear()
    on_payment({"Records": [again(event["Records"][1])]})
    assert ran == [("evt_2", 500), ("evt_1", 500)]


def test_storage_that_does_not_answer_costs_its_batch_one_fetch_and_no_neighbour(made: World):
    """Three tries of three seconds for each of four bodies would be longer than the function may run."""
    asked: list[str] = []

    def silent(what: str) -> None:
        asked.append(what)
        made.clock.advance(timedelta(seconds=9))  # type: ignore[attr-defined]
        raise TimeoutError

    for number in range(4):
        made.gate.post(on_payment, LARGE | {"id": f"evt_large_{number}"})
    for number in range(6):
        made.gate.post(on_payment, PAID | {"id": f"evt_{number}"})
    event = made.gate.event(on_payment)
    cloud(made)._check = silent  # type: ignore[method-assign]

    response = on_payment(event)

    assert asked == ["store"]
    assert ran == [(f"evt_{number}", 500) for number in range(6)]
    assert response["batchItemFailures"] == [{"itemIdentifier": one["messageId"]} for one in event["Records"][:4]]
    away = made.teller.endings[:4]
    assert [one.detail for one in away] == ["TimeoutError", "NotFetched", "NotFetched", "NotFetched"]


@pytest.mark.parametrize(
    ("handler", "posted", "operation", "tenant"),
    [
        (on_payment, {}, '["billing",null,["billing#evt_1"]]', None),
        (on_shop, {"tenant": "a"}, '["shops","a",["shops/a#evt_1"]]', "a"),
        (on_number, {}, None, None),
        (on_customer, {}, None, None),
    ],
    ids=["keyed by its scheme", "tenant of its path", "key in its body", "tenant in its body"],
)
def test_of_a_body_that_cannot_be_fetched_what_the_envelope_says_is_told(
    made: World, handler: Any, posted: dict[str, str], operation: str | None, tenant: str | None
):
    made.gate.post(handler, LARGE | {"event_id": "evt_1", "shop": "a", "number": 1, "customer": "c"}, **posted)
    cloud(made).away.add("store")

    handler(made.gate.event(handler))

    (ending,) = made.teller.endings
    assert (ending.operation_id, ending.tenant, ending.detail) == (operation, tenant, "Outage")


def test_a_stored_body_that_was_exchanged_is_refused_for_good(made: World):
    made.gate.post(on_payment, LARGE)
    (key,) = cloud(made).bodies
    cloud(made).bodies[key] = json.dumps(LARGE | {"amount": 900}).encode()

    response = on_payment(made.gate.event(on_payment))

    assert len(response["batchItemFailures"]) == 1
    assert (ran, made.teller.endings[0].code) == ([], "input.digest")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"v": 2}, "input.version"),
        ({"source": "issues"}, "input.envelope"),
        ({"body": {"encoding": "utf8", "data": "{}", "sha256": "0" * 64, "size": 2}}, "input.digest"),
    ],
)
def test_a_message_that_the_ingress_has_not_written_is_a_dead_letter(made: World, change: dict[str, Any], code: str):
    made.gate.post(on_payment, PAID)
    event = made.gate.event(on_payment)
    record = event["Records"][0]
    record["body"] = json.dumps(json.loads(record["body"]) | change)

    on_payment(event)

    assert (ran, made.teller.endings[0].code) == ([], code)


def test_a_payload_that_is_sent_by_hand_runs_once_with_the_event_that_the_sender_sends(made: World):
    on_payment.send(Paid(id="evt_1", amount=500))
    (by_hand,) = made.queues.sent["billing"]  # type: ignore[attr-defined]  # the recording queues of the memory world
    on_payment(made.event(on_payment, Paid(id="evt_1", amount=500)))
    made.gate.post(on_payment, {"id": "evt_1", "amount": 500})
    on_payment(made.gate.event(on_payment))

    assert json.loads(by_hand.body)["idempotency_key"] == "billing#evt_1"
    assert ran == [("evt_1", 500)]
    assert made.operation(on_payment, Paid(id="evt_1", amount=500)) is not None


@pytest.mark.parametrize("what", ["secrets", "queue"])
def test_our_own_failure_asks_the_sender_to_come_again_and_is_never_its_fault(made: World, what: str):
    cloud(made).away.add(what)

    response = made.gate.post(on_payment, PAID)

    assert response.status == 503
    assert int(response.headers["retry-after"]) >= 1


def test_an_outage_says_what_is_away():
    with pytest.raises(Outage, match="store"):
        MemoryCloud(away={"store"}).fetch(Stored(bucket="bodies", key="k"))


def test_it_all_works_on_aws_s_own_apis():
    with world(SERVICE, on="moto") as made:
        for body in (PAID, LARGE | {"id": "evt_2"}, PAID):
            assert made.gate.post(on_payment, body).status == 200
            assert on_payment(made.gate.event(on_payment)) == {"batchItemFailures": []}
        assert made.gate.post(on_payment, PAID, secret="guessed").status == 401

    assert ran == [("evt_1", 500), ("evt_2", 500)]
