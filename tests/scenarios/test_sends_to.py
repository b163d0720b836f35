"""In tests a handler may send to what it has declared, as deployed; and what is false of a test is not told there."""

from __future__ import annotations

import json
from functools import partial

import pytest
from pydantic import BaseModel

from surehand import Job, Retry, Service, queue
from surehand.errors import ConfigurationError
from surehand.testing import simulate, world


class Parcel(BaseModel):
    """One parcel."""

    number: str


@queue("target", key="number")
def target(parcel: Parcel, job: Job) -> None:
    """Take what others send."""


@queue("forgetful", key="number")
def forgetful(parcel: Parcel, job: Job) -> None:
    """Send to another handler without having declared it."""
    target.send(parcel)


@queue("forgetful-and-awaited", key="number")
async def awaited(parcel: Parcel, job: Job) -> None:
    """The same in a coroutine."""
    target.send(parcel)


@queue("declared", key="number", sends_to=[target])
def declared(parcel: Parcel, job: Job) -> None:
    """Send to what is declared, and to itself."""
    target.send(parcel)
    if not parcel.number.startswith("again"):
        declared.send(Parcel(number=f"again-{parcel.number}"))


@queue("busy", key="number")
def busy(parcel: Parcel, job: Job) -> None:
    """Never get through."""
    raise Retry("provider.busy")


DEPOT = Service("depot", (target, forgetful, awaited, declared, busy))
PARCEL = Parcel(number="1")
WORLDS = [pytest.param(world, id="memory"), pytest.param(partial(world, on="moto"), id="moto")]


@pytest.mark.parametrize("made_by", WORLDS)
@pytest.mark.parametrize("handler", [forgetful, awaited], ids=["plain", "async"])
def test_sending_to_what_is_not_declared_fails_as_deployed(made_by, handler) -> None:
    with made_by(DEPOT) as made:
        assert len(handler(made.event(handler, PARCEL), None)["batchItemFailures"]) == 1
        assert made.operation(handler, PARCEL).code == "code.ConfigurationError"


@pytest.mark.parametrize("made_by", WORLDS)
def test_sending_to_what_is_declared_or_to_itself_and_from_the_test_works(made_by) -> None:
    with made_by(DEPOT) as made:
        assert declared(made.event(declared, PARCEL), None)["batchItemFailures"] == []
        target.send(PARCEL)


def test_the_error_names_both_handlers_and_what_to_declare() -> None:
    with world(DEPOT) as made:
        forgetful(made.event(forgetful, PARCEL), None)
        (ending,) = made.teller.endings
        assert ending.notice.code == "code.ConfigurationError"
        assert all(word in ending.notice.detail for word in ("'forgetful'", "'target'", "sends_to=['target']"))
        assert any(frame.endswith(" forgetful") for frame in ending.origin.raised_at)


def test_in_a_simulated_account_too() -> None:
    with simulate(DEPOT) as account:
        ends = [ending.code for ending in account.deliver(forgetful, PARCEL)]
        assert set(ends) == {"code.ConfigurationError"}
        assert [ending.outcome for ending in account.deliver(declared, PARCEL)] == ["succeeded"] * 4


def test_outside_of_a_world_nothing_is_checked_any_more() -> None:
    from surehand import entrypoint

    before = entrypoint.send
    with world(DEPOT):
        assert entrypoint.send is not before
    assert entrypoint.send is before
    with pytest.raises(ConfigurationError, match="SUREHAND_QUEUE_TARGET"):
        target.send(PARCEL)


def test_on_moto_a_made_up_receipt_handle_is_no_failure_and_a_stale_one_is(capsys) -> None:
    with world(DEPOT, on="moto") as made:
        event = made.event(busy, PARCEL, Parcel(number="2"))
        event["Records"][1]["receiptHandle"] = "stale"
        assert len(busy(event, None)["batchItemFailures"]) == 2
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    details = {line["message_id"]: line.get("detail") for line in lines if line.get("event") == "delivery"}
    assert details[event["Records"][0]["messageId"]] is None
    assert details[event["Records"][1]["messageId"]] == "visibility not set: ReceiptHandleIsInvalid"
