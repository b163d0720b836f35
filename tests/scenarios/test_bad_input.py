"""Every bad input ends in a defined outcome and leaves its neighbours alone."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel, field_validator

from surehand import DeclarationError, Job, Service, queue
from surehand.errors import UnreadableEvent
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import record, world
from tests.scenarios.kiosk import KIOSK, Ticket, ids, lanes, plain, script, tenants

GOOD = Ticket(number="good")


class Fussy(BaseModel):
    """A payload whose validator has a bug of its own."""

    number: str

    @field_validator("number")
    @classmethod
    def look_up(cls, value: str) -> str:
        return {"known": "fine"}[value]


class Flagged(BaseModel):
    """A payload with values that are easily taken for absent."""

    flag: bool
    count: int


@queue("fussy", key="number")
def fussy(payload: Fussy) -> None:
    """Runs only for valid payloads."""


@queue("derived", key=lambda payload: payload["made"]["up"])
def derived(payload: dict) -> None:
    """Its key function looks into the payload."""


BOOTH = Service("booth", (fussy, derived))


def deliver(*bodies: str):
    """Deliver these bodies with a good neighbour in the middle; return the event and what was put back."""
    with world(KIOSK) as made, script() as told:
        event = made.event(plain, *bodies[:1], GOOD, *bodies[1:])
        back = ids(plain(event, None))
        assert told.numbers[:1] == ["good"]
        endings = [ending for ending in made.teller.endings if ending.index != 1]
        return made, event, back, endings


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("not json", "input.malformed"),
        ("", "input.malformed"),
        ("null", "input.schema"),
        ("[1, 2]", "input.schema"),
        ('{"other": "shape"}', "input.schema"),
        ('{"number": {"nested": 1}}', "input.schema"),
        ('{"number": ""}', "input.key"),
        ('{"number": null}', "input.schema"),
        ('{"number": "\\ud800"}', "input.malformed"),
        ("\ud800", "input.malformed"),
        ("[" * 100_000, "input.malformed"),
    ],
)
def test_a_body_that_is_no_payload_is_rejected_alone_with_its_reason(body, code) -> None:
    _, event, back, endings = deliver(body)
    assert back == [event["Records"][0]["messageId"]]
    assert [(ending.outcome, ending.code) for ending in endings] == [(Outcome.REJECTED, code)]
    assert endings[0].operation.state is State.PERMANENTLY_FAILED
    assert json.loads(endings[0].operation.id) == ["plain", None, ["!message", back[0]]]


def test_a_rejected_body_is_answered_from_its_record_the_next_time() -> None:
    with world(KIOSK) as made, script():
        event = made.event(plain, "not json")
        plain(event, None)
        event["Records"][0]["attributes"]["ApproximateReceiveCount"] = "2"
        assert len(ids(plain(event, None))) == 1
        assert made.teller.endings[-1].outcome is Outcome.FAST_FORWARDED
        assert made.teller.endings[-1].code == "input.malformed"


def test_an_error_text_names_fields_and_never_values() -> None:
    _, _, _, endings = deliver('{"number": {"SECRET-KEY": "SECRET"}, "note": "SECRET"}')
    assert endings[0].detail == "number: string_type; note: int_parsing"


@pytest.mark.parametrize("key", ["k" * 3_000, "ü" * 1_500, "\x00\x1f\u2028🎉", '"],["', "a/b#c"])
def test_any_text_can_be_a_key(key) -> None:
    with world(KIOSK) as made, script() as told:
        assert ids(plain(made.event(plain, Ticket(number=key)), None)) == []
        assert ids(plain(made.event(plain, Ticket(number=key)), None)) == []
        assert len(told.runs) == 1
        assert all(len(operation_id.encode()) < 2_048 for operation_id in made.ledger.items)


@pytest.mark.parametrize("tenant", ["t" * 300, "\x00" * 250, '"' * 250, "ü" * 128])
def test_any_text_can_be_a_tenant_beside_any_key(tenant) -> None:
    """DynamoDB's limit for a key counts what is stored, and JSON writes some characters as six."""
    with world(KIOSK) as made, script() as told:
        ticket = Ticket(number="\x00" * 170, tenant=tenant)
        assert ids(tenants(made.event(tenants, ticket), None)) == []
        assert len(told.runs) == 1
        assert all(len(operation_id.encode()) < 2_048 for operation_id in made.ledger.items)


@pytest.mark.parametrize(("handler", "field"), [(tenants, "tenant"), (lanes, "lane")])
def test_a_tenant_or_group_that_is_no_name_is_rejected_and_told_without_it(handler, field) -> None:
    with world(KIOSK) as made, script() as told:
        long = json.dumps({"number": "1", field: "x" * 450_000})
        event = made.event(handler, long, Ticket(number="2"))
        assert ids(handler(event, None)) == [event["Records"][0]["messageId"]]
        assert told.numbers == ["2"]
        refused = made.teller.endings[0]
    assert (refused.outcome, refused.code, refused.tenant) == (Outcome.REJECTED, "input.key", None)
    assert refused.detail == f"the {'tenant' if field == 'tenant' else 'group'} has 450,000 bytes; it may have 1,024"


def test_the_longest_tenant_is_a_tenant() -> None:
    with world(KIOSK, on="moto") as made, script() as told:
        assert ids(tenants(made.event(tenants, Ticket(number="1", tenant="ü" * 512)), None)) == []
        assert ids(tenants(made.event(tenants, '{"number": "2", "tenant": "%s"}' % ("ü" * 513)), None)) != []
        assert told.numbers == ["1"]


@pytest.mark.parametrize("number", ["!message", "!id", "!"])
def test_a_key_that_begins_as_the_ledger_s_own_records_do_is_rejected(number) -> None:
    with world(KIOSK) as made, script() as told:
        plain(made.event(plain, json.dumps({"number": number})), None)
        assert told.runs == []
        refused = made.teller.endings[0]
    assert (refused.code, refused.detail) == (
        "input.key",
        "the key begins with '!', as only the ledger's own records do",
    )


def test_two_long_keys_do_not_collide() -> None:
    with world(KIOSK) as made, script() as told:
        plain(made.event(plain, Ticket(number="k" * 3_000), Ticket(number="k" * 3_001)), None)
        assert len(told.runs) == 2


def test_the_same_message_id_twice_is_answered_once_and_runs_once() -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(plain, GOOD)
        event["Records"] *= 2
        assert ids(plain(event, None)) == []
        assert len(told.runs) == 1


def test_the_same_bad_message_id_twice_is_listed_once() -> None:
    with world(KIOSK) as made, script():
        event = made.event(plain, "not json")
        event["Records"] *= 2
        assert ids(plain(event, None)) == [event["Records"][0]["messageId"]]


@pytest.mark.parametrize(
    "event", [None, {}, [], "text", {"Records": None}, {"Records": {"a": 1}}, {"source": "aws.events"}]
)
def test_an_event_that_is_no_sqs_event_raises_and_says_what_to_do(event) -> None:
    with world(KIOSK), pytest.raises(UnreadableEvent, match=r"handler\.run"):
        plain(event, None)


def test_an_event_of_another_source_raises() -> None:
    with world(KIOSK) as made:
        event = made.event(plain, GOOD)
        event["Records"][0]["eventSource"] = "aws:kinesis"
        with pytest.raises(UnreadableEvent, match="aws:sqs"):
            plain(event, None)


def test_an_event_without_records_is_answered_with_an_empty_list() -> None:
    with world(KIOSK), script():
        assert plain({"Records": []}, None) == {"batchItemFailures": []}


@pytest.mark.parametrize("message_id", [None, "", 7])
def test_a_record_without_message_id_raises_and_nothing_runs(message_id) -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(plain, GOOD, Ticket(number="2"))
        event["Records"][1]["messageId"] = message_id
        with pytest.raises(UnreadableEvent, match="Record 1 of 2"):
            plain(event, None)
        assert told.runs == []
        assert made.ledger.items == {}


@pytest.mark.parametrize("field", ["attributes", "receiptHandle", "body"])
def test_a_record_that_cannot_be_read_is_rejected_alone(field) -> None:
    with world(KIOSK) as made, script() as told:
        event = made.event(plain, GOOD, Ticket(number="2"))
        del event["Records"][0][field]
        assert ids(plain(event, None)) == [event["Records"][0]["messageId"]]
        assert told.numbers == ["2"]
        assert made.teller.endings[0].code == "input.malformed"


def test_a_validator_with_a_bug_of_its_own_is_a_permanent_failure_under_its_type() -> None:
    with world(BOOTH) as made:
        event = made.event(fussy, '{"number": "unknown"}', '{"number": "known"}')
        assert ids(fussy(event, None)) == [event["Records"][0]["messageId"]]
        assert made.teller.endings[0].code == "code.KeyError"


def test_a_key_function_with_a_bug_is_a_permanent_failure_under_its_type() -> None:
    with world(BOOTH) as made:
        event = made.event(derived, "{}", '{"made": {"up": 1}}', '{"made": {"up": null}}')
        assert len(ids(derived(event, None))) == 2
        assert [ending.code for ending in made.teller.endings] == ["code.KeyError", None, "input.key"]


def test_a_message_of_one_mebibyte_is_processed() -> None:
    with world(KIOSK) as made, script() as told:
        body = json.dumps({"number": "1", "padding": "x" * (1_048_576 - 40)})
        assert ids(plain(made.event(plain, body), None)) == []
        assert told.numbers == ["1"]


def test_a_function_that_is_declared_twice_is_refused() -> None:
    def once(ticket: Ticket, job: Job) -> None: ...

    queue("first", key="number")(once)
    with pytest.raises(DeclarationError, match="already the handler 'first'"):
        queue("second", key="number")(once)


def test_zero_and_false_are_key_values() -> None:
    def count(payload: Flagged) -> None: ...

    handler = queue("flagged", key=("flag", "count"))(count)
    assert handler.identify(Flagged(flag=False, count=0), b"{}").operation == '["flagged",null,[false,0]]'


def test_records_are_made_with_unique_ids() -> None:
    with world(KIOSK) as made:
        one, two = (record(plain, GOOD, sent_at=made.clock.now()) for _ in range(2))
        assert one["messageId"] != two["messageId"]
