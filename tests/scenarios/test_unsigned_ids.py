"""Ids that nobody signs: what a replayer of a captured request can do with them, and what is told of it.

A captured request has a body that the sender has signed; every header but the signature is the replayer's to choose.
For these schemes a body has one signature, so the sender and the replayer of a test sign alike.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from surehand import Service, entrypoint, webhook
from surehand.aws.telling import CloudWatchTeller, counted
from surehand.declare import Handler
from surehand.declare.identity import bearer_id
from surehand.ledger import Answer, Ledger, Operation, Unavailable, Write
from surehand.ledger.stuck import Patience, stuck
from surehand.outcomes import Outcome
from surehand.testing import World, world
from surehand.testing.at_rest import faults_at_rest
from surehand.testing.gate import request, secret_for_tests
from surehand.webhooks.outcome import Kind
from surehand.webhooks.sign import sign
from surehand.worker.endings import Ending

ran: list[tuple[str, object]] = []


@pytest.fixture(autouse=True)
def _nothing_has_run() -> None:
    ran.clear()


@webhook("issues", scheme="github", tenants=["acme", "bolt"], secret="{service}/{stage}/{tenant}")
def of_tenants(body: bytes) -> None:
    """Take an event of one of several organisations."""
    ran.append(("issues", body))


@webhook("pushes", scheme="github")
def on_push(body: bytes) -> None:
    """Take an event, whatever it is called."""
    ran.append(("pushes", body))


@webhook("orders", scheme="shopify", types=["orders/create", "orders/updated"])
def on_order(body: bytes) -> None:
    """Take an event of two topics."""
    ran.append(("orders", body))


@webhook("keyed", scheme="shopify", key=("id", "updated_at"))
def on_keyed(order: dict[str, Any]) -> None:
    """Take an event that signed fields name."""
    ran.append(("keyed", order["id"]))


@webhook("merges", scheme="gitlab")
def on_merge(event: dict[str, Any]) -> None:
    """Take an event of a sender that signs nothing."""
    ran.append(("merges", event["n"]))


SERVICE = Service("post", (on_push, on_order, on_keyed, on_merge))
UNSIGNED = ("x-github-delivery", "x-github-event", "x-shopify-event-id", "x-shopify-topic")
CAPTURED, GENUINE = b'{"n":1}', b'{"n":2}'


@pytest.fixture
def made() -> Iterator[World]:
    with world(SERVICE) as made:
        yield made


def push(made: World, body: bytes, delivery: str | None, *, event: str | None = "push") -> Ending:
    headers = {"x-github-delivery": delivery, "x-github-event": event}
    return arrives(made, on_push, body, headers)


def order(made: World, body: bytes, event: str | None, topic: str | None = "orders/create") -> Ending:
    return arrives(made, on_order, body, {"x-shopify-event-id": event, "x-shopify-topic": topic})


def arrives(made: World, handler: Handler[Any], body: bytes, headers: dict[str, str | None]) -> Ending:
    """Post a body with these headers and its signature, and let the worker take it."""
    post(made, handler, body, headers)
    handler(made.gate.event(handler))
    return made.teller.endings[-1]


def post(made: World, handler: Handler[Any], body: bytes, headers: dict[str, str | None]) -> None:
    """Post a body with its signature and these headers, without those that are None, and expect a success."""
    scheme = made.gate.sources[handler.name].scheme
    secret = secret_for_tests(scheme.key_format, handler.name)
    signed = sign(scheme, request(handler, body), secret, now=made.clock.now())
    kept = {name: value for name, value in signed.headers.items() if name not in UNSIGNED}
    given = {name: value for name, value in headers.items() if value is not None}
    assert made.gate.take(replace(signed, headers={**kept, **given})).status == 200


def bodies() -> list[object]:
    return [body for _, body in ran]


def code(ending: Ending) -> str | None:
    return ending.notice.code if ending.notice else None


def test_the_same_id_with_another_body_is_told_and_counted_and_both_events_run(made: World):
    first, second = push(made, CAPTURED, "one"), push(made, GENUINE, "one")

    assert bodies() == [CAPTURED, GENUINE]
    assert (code(first), code(second)) == (None, "input.id_conflict")
    assert "IdConflict" not in counted(on_push, first)
    assert "IdConflict" in counted(on_push, second)
    assert second.notice is not None
    assert second.notice.detail == f"the id was first that of {first.operation_id}"


def test_the_line_of_a_collision_is_a_warning_with_its_code(made: World):
    stream = io.StringIO()
    teller = CloudWatchTeller(service="post", stage="test", version="v", stream=stream)
    with entrypoint.bound(replace(entrypoint.ports_of(on_push), teller=teller)):
        for body in (CAPTURED, GENUINE):
            made.gate.post(on_push, body, headers={"x-github-delivery": "one"})
            on_push(made.gate.event(on_push))
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    first, second = (line for line in lines if line.get("event") == "delivery")

    assert (first["level"], "notice" in first) == ("INFO", False)
    assert (second["level"], second["outcome"], second["notice"]) == ("WARNING", "succeeded", "input.id_conflict")
    assert second["notice_detail"] == f"the id was first that of {first['operation']}"
    assert [line["IdConflict"] for line in lines if "IdConflict" in line] == [1]


def test_a_captured_body_under_the_id_of_an_event_to_come_does_not_suppress_that_event(made: World):
    push(made, CAPTURED, "its own")
    replayed = push(made, CAPTURED, "the victim's")
    genuine = push(made, GENUINE, "the victim's")

    assert bodies() == [CAPTURED, GENUINE]
    assert (replayed.outcome, replayed.replay) == (Outcome.ALREADY_APPLIED, True)
    assert (genuine.outcome, code(genuine)) == (Outcome.SUCCEEDED, "input.id_conflict")


def test_a_body_captured_elsewhere_and_sent_first_under_the_id_of_an_event_to_come_does_not_suppress_it(made: World):
    push(made, CAPTURED, "the victim's")
    genuine = push(made, GENUINE, "the victim's")
    late = push(made, CAPTURED, "its own")

    assert bodies() == [CAPTURED, GENUINE]
    assert (genuine.outcome, code(genuine)) == (Outcome.SUCCEEDED, "input.id_conflict")
    assert (late.outcome, late.replay) == (Outcome.ALREADY_APPLIED, True)


def test_a_captured_body_under_the_id_of_a_past_event_runs_nothing_and_is_told(made: World):
    push(made, CAPTURED, "its own")
    push(made, GENUINE, "the victim's")
    replayed = push(made, CAPTURED, "the victim's")

    assert bodies() == [CAPTURED, GENUINE]
    assert (replayed.outcome, replayed.replay, code(replayed)) == (
        Outcome.ALREADY_APPLIED,
        True,
        "input.id_conflict",
    )


@pytest.mark.parametrize("take", [push, order], ids=["github", "shopify"])
def test_a_captured_body_whose_id_is_taken_away_is_the_same_operation(
    made: World, take: Callable[[World, bytes, str | None], Ending]
):
    endings = [take(made, CAPTURED, delivery) for delivery in ("one", None, None)]

    assert bodies() == [CAPTURED]
    assert [ending.outcome for ending in endings[1:]] == [Outcome.ALREADY_APPLIED] * 2


def test_a_captured_body_under_invented_names_of_the_event_runs_once(made: World):
    """GitHub's name of the event is a header that nobody signs."""
    for event in ("push", "release", None, "invented"):
        push(made, CAPTURED, f"under {event}", event=event)

    assert bodies() == [CAPTURED]


def test_equal_bodies_of_two_topics_of_shopify_are_two_events_under_one_id_and_no_collision(made: World):
    endings = [order(made, CAPTURED, "one", topic) for topic in ("orders/create", "orders/updated")]

    assert bodies() == [CAPTURED, CAPTURED]
    assert [code(ending) for ending in endings] == [None, None]


def test_a_captured_body_under_a_known_topic_of_shopify_runs_no_second_time(made: World):
    for event in ("one", "two"):
        order(made, CAPTURED, event)

    assert bodies() == [CAPTURED]


@pytest.mark.parametrize("topic", [{"x-shopify-topic": "invented"}, {}], ids=["invented", "taken away"])
def test_a_captured_body_without_a_declared_topic_does_not_even_reach_the_queue(
    made: World, topic: dict[str, str | None]
):
    order(made, CAPTURED, "one")
    post(made, on_order, CAPTURED, {"x-shopify-event-id": "two", **topic})

    assert made.gate.event(on_order) == {"Records": []}
    assert made.gate.outcomes[-1].kind is Kind.DROPPED


def test_signed_fields_as_the_key_stand_against_invented_topics(made: World):
    """Without them a body of Shopify's can be run once for each topic that the replayer makes up."""
    body = b'{"id":7,"updated_at":"2026-01-01"}'
    for topic in ("orders/create", "orders/updated", "invented"):
        arrives(made, on_keyed, body, {"x-shopify-event-id": topic, "x-shopify-topic": topic})

    assert ran == [("keyed", 7)]


def test_a_trusted_id_with_another_body_is_a_conflict_that_never_runs(made: World):
    headers: dict[str, str | None] = {"idempotency-key": "one"}
    arrives(made, on_merge, CAPTURED, headers)
    second = arrives(made, on_merge, GENUINE, headers)

    assert ran == [("merges", 1)]
    assert (second.outcome, second.code) == (Outcome.KEY_CONFLICT, "input.conflict")


def test_a_redelivery_is_told_only_where_its_id_was_another_s_first(made: World):
    push(made, CAPTURED, "one")
    push(made, GENUINE, "one")

    assert code(push(made, CAPTURED, "one")) is None
    assert code(push(made, GENUINE, "one")) == "input.id_conflict"
    assert bodies() == [CAPTURED, GENUINE]


def test_within_one_batch_the_earlier_event_bears_the_id(made: World):
    for body in (CAPTURED, GENUINE, CAPTURED):
        made.gate.post(on_push, body, headers={"x-github-delivery": "one"})
    on_push(made.gate.event(on_push))

    assert bodies() == [CAPTURED, GENUINE]
    assert [code(ending) for ending in made.teller.endings] == [None, "input.id_conflict", None]


def test_an_id_is_compared_within_its_source_and_tenant():
    with world(Service("post", (of_tenants, on_push))) as made:
        for tenant in ("acme", "bolt"):
            made.gate.post(of_tenants, tenant.encode(), tenant=tenant, headers={"x-github-delivery": "one"})
            of_tenants(made.gate.event(of_tenants))
        push(made, CAPTURED, "one")

        assert [code(ending) for ending in made.teller.endings] == [None, None, None]
        made.gate.post(of_tenants, b"other", tenant="acme", headers={"x-github-delivery": "one"})
        of_tenants(made.gate.event(of_tenants))
        assert code(made.teller.endings[-1]) == "input.id_conflict"


def test_an_id_is_forgotten_with_the_ledger_s_retention(made: World):
    push(made, CAPTURED, "one")
    made.clock.advance(entrypoint.ports_of(on_push).retention + timedelta(seconds=1))  # type: ignore[attr-defined]

    assert code(push(made, GENUINE, "one")) is None
    assert code(push(made, CAPTURED, "one")) == "input.id_conflict"


def test_what_remembers_an_id_is_no_piece_of_work_left_behind(made: World):
    push(made, CAPTURED, "one")
    items = made.ledger.items.values()  # type: ignore[attr-defined]

    assert [item.is_slot for item in items] == [False, True]
    later = made.clock.now() + timedelta(days=1)
    assert [list(faults_at_rest(item, now=later, dead_letter=False, killed=0)) for item in items] == [[], []]
    patience = {"pushes": Patience(abandoned=timedelta(0), overdue=timedelta(0), retention=timedelta(0))}
    assert [stuck(item, patience, now=later) for item in items] == [None, None]


class Forgetful:
    """A ledger that cannot be written where it says whose an id was."""

    def __init__(self, ledger: Ledger, slot: str) -> None:
        self._ledger, self._slot = ledger, slot

    def read(self, ids: Sequence[str]) -> dict[str, Operation]:
        return self._ledger.read(ids)

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        if any(write.operation.id == self._slot for write in writes):
            return [Unavailable("ThrottlingException")] * len(writes)
        return self._ledger.write(writes, now=now)


def test_where_ids_cannot_be_compared_the_event_runs_and_that_is_told(made: World):
    ports = entrypoint.ports_of(on_push)
    forgetful = Forgetful(ports.ledger, bearer_id("pushes", None, "one"))
    with entrypoint.bound(replace(ports, ledger=forgetful)):
        ending = push(made, CAPTURED, "one")

    assert bodies() == [CAPTURED]
    assert (ending.outcome, code(ending)) == (Outcome.SUCCEEDED, "ledger.id_unchecked")
    assert "IdUnchecked" in counted(on_push, ending)


def test_on_dynamodb_the_first_bearer_of_an_id_is_remembered(capsys: pytest.CaptureFixture[str]):
    with world(SERVICE, on="moto") as made:
        for body in (CAPTURED, GENUINE, CAPTURED):
            made.gate.post(on_push, body, headers={"x-github-delivery": "one"})
            on_push(made.gate.event(on_push))
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert bodies() == [CAPTURED, GENUINE]
    assert [line.get("notice") for line in told if line.get("event") == "delivery"] == [
        None,
        "input.id_conflict",
        None,
    ]
