"""`surehand ledger`: what it shows, and that it writes only what the rules allow and only when told to."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from surehand import Handler, Reject, Unknown
from surehand.ledger import Candidate, Claimed, Lease, Operation, Wanted, claim, slots
from surehand.states import State
from surehand.testing import World
from tests.ops.conftest import Surehand
from tests.ops.depot import STATE, Parcel, careful, ship


def known(depot: World, handler: Handler[Parcel], parcel: Parcel) -> Operation:
    """Return what the ledger knows of a parcel; it must know it."""
    operation = depot.operation(handler, parcel)
    assert operation is not None
    return operation


def refused(code: str):
    def act(parcel, job):
        raise Reject(code)

    return act


def fail(depot: World, *parcels: Parcel, code: str = "data.address") -> list[str]:
    """Let parcels fail permanently and return their operations' ids."""
    STATE.act = refused(code)
    for parcel in parcels:
        ship(depot.event(ship, parcel), None)
    return [known(depot, ship, parcel).id for parcel in parcels]


def leased(depot: World, *, ago: timedelta) -> str:
    """Leave an operation leased, with a lease that began *ago* and was for 30 s."""
    parcel = Parcel(number="L")
    identity = ship.identify(parcel, ship.payload.dump(parcel))
    now = depot.clock.now() - ago
    wanted = Wanted(
        id=identity.operation,
        handler="parcels",
        tenant=identity.tenant,
        candidates=(Candidate("m-1", now),),
        fingerprints=identity.fingerprints,
    )
    lease = Lease(owner="dead", until=now + timedelta(seconds=30), retention=timedelta(days=30))
    (answer,) = claim(depot.ledger, [wanted], lease=lease, now=now)
    assert isinstance(answer, Claimed)
    return identity.operation


def test_show_tells_an_operations_history_as_a_timeline(depot: World, surehand: Surehand) -> None:
    (operation,) = fail(depot, Parcel(number="1"))
    said = surehand("ledger", "show", "parcels", "1", "--tenant", "acme")
    assert said.status == 0
    rows = [line.split() for line in said.out.splitlines() if "leased" in line or "permanently_failed" in line]
    assert operation in said.out
    assert any("leased" in row for row in rows)
    assert any("data.address" in row for row in rows)


def test_show_takes_the_operation_id_too_and_prints_json_on_request(depot: World, surehand: Surehand) -> None:
    (operation,) = fail(depot, Parcel(number="1"))
    (record,) = surehand("ledger", "show", operation, "--json").lines
    assert (record["operation"], record["state"], record["code"], record["class"]) == (
        operation,
        "permanently_failed",
        "data.address",
        "data",
    )
    assert [entry["state"] for entry in record["history"]] == ["leased", "permanently_failed"]


def test_show_of_an_unknown_operation_says_so_and_exits_with_2(depot: World, surehand: Surehand) -> None:
    said = surehand("ledger", "show", "parcels", "nope", "--tenant", "acme")
    assert (said.status, "does not know" in said.err) == (2, True)


def test_list_shows_what_needs_attention_of_every_handler(depot: World, surehand: Surehand) -> None:
    failed = fail(depot, Parcel(number="1"), Parcel(number="2", tenant="bolt"))
    STATE.act = lambda parcel, job: None
    ship(depot.event(ship, Parcel(number="3")), None)
    listed = surehand("ledger", "list", "--json").lines
    assert {record["operation"] for record in listed} == set(failed)


@pytest.mark.parametrize(
    ("option", "value", "count"),
    [
        ("--tenant", "bolt", 1),
        ("--code", "data.address", 2),
        ("--code", "data.*", 2),
        ("--code", "code.*", 0),
        ("--since", "1h", 2),
        ("--until", "1h", 0),
        ("--state", "permanently_failed", 2),
        ("--state", "succeeded", 1),
    ],
)
def test_list_filters(depot: World, surehand: Surehand, option: str, value: str, count: int) -> None:
    fail(depot, Parcel(number="1"), Parcel(number="2", tenant="bolt"))
    STATE.act = lambda parcel, job: None
    ship(depot.event(ship, Parcel(number="3")), None)
    assert len(surehand("ledger", "list", option, value, "--json").lines) == count


@pytest.mark.parametrize("filters", [("--handler", "parcels"), ("--state", "permanently_failed"), ()])
def test_pages_of_a_list_hold_every_operation_once(depot: World, surehand: Surehand, filters: tuple[str, ...]) -> None:
    failed = fail(depot, *(Parcel(number=str(number)) for number in range(7)))
    listed: list[str] = []
    after: tuple[str, ...] = ()
    while True:
        said = surehand("ledger", "list", *filters, "--limit", "3", "--json", *after)
        listed += [record["operation"] for record in said.lines]
        if "--after" not in said.err:
            break
        after = ("--after", said.err.split("--after ")[1].strip())
    assert sorted(listed) == sorted(failed)


def test_what_only_names_an_operation_is_not_listed_as_one_and_says_so(depot: World, surehand: Surehand) -> None:
    operation = leased(depot, ago=timedelta(0))
    (holder,) = depot.ledger.read([operation]).values()
    now, slot = depot.clock.now(), '["parcels",null,["!id","d-1"]]'
    taken = slots.take(None, slot, holder, until=now, now=now, retention=timedelta(days=1))
    depot.ledger.write([taken], now=now)

    listed = surehand("ledger", "list", "--state", "leased", "--json").lines
    assert [line["operation"] for line in listed] == [operation]
    assert f"it names the operation {operation}" in surehand("ledger", "show", slot).out


def test_a_moment_without_a_zone_is_refused_with_the_right_form(depot: World, surehand: Surehand) -> None:
    said = surehand("ledger", "list", "--since", "2026-01-01T12:00")
    assert (said.status, "2026-01-01T12:00Z" in said.err) == (2, True)


def test_cancel_changes_nothing_without_execute(depot: World, surehand: Surehand) -> None:
    said = surehand("ledger", "cancel", "parcels", "9", "--tenant", "acme")
    assert said.status == 0
    assert "Changes made: none" in said.err
    assert depot.operation(ship, Parcel(number="9")) is None


def test_cancel_in_advance_makes_the_message_end_without_running(depot: World, surehand: Surehand) -> None:
    said = surehand("ledger", "cancel", "parcels", "9", "--tenant", "acme", "--execute", "--reason", "withdrawn")
    assert said.status == 0
    assert ship(depot.event(ship, Parcel(number="9")), None) == {"batchItemFailures": []}
    assert STATE.order == []
    assert known(depot, ship, Parcel(number="9")).state is State.CANCELED


def test_who_and_why_stay_in_the_history(depot: World, surehand: Surehand) -> None:
    surehand("ledger", "cancel", "parcels", "9", "--tenant", "acme", "--execute", "--reason", "withdrawn")
    note = known(depot, ship, Parcel(number="9")).history[-1].note or ""
    assert note.startswith("arn:aws:")
    assert note.endswith(": withdrawn")


def test_execute_without_a_reason_is_refused(depot: World, surehand: Surehand) -> None:
    said = surehand("ledger", "cancel", "parcels", "9", "--tenant", "acme", "--execute")
    assert (said.status, "--reason" in said.err) == (5, True)


def test_release_refuses_a_live_lease(depot: World, surehand: Surehand) -> None:
    operation = leased(depot, ago=timedelta(0))
    said = surehand("ledger", "release", operation, "--execute", "--reason", "impatient")
    assert (said.status, "live" in said.err) == (5, True)
    assert depot.ledger.read([operation])[operation].state is State.LEASED


def test_release_of_a_dead_holders_lease_raises_the_fence(depot: World, surehand: Surehand) -> None:
    operation = leased(depot, ago=timedelta(minutes=5))
    before = depot.ledger.read([operation])[operation]
    assert surehand("ledger", "release", operation, "--execute", "--reason", "gone").status == 0
    after = depot.ledger.read([operation])[operation]
    assert (after.state, after.fence) == (State.PENDING, before.fence + 1)


def test_a_held_operation_is_resolved_as_applied_and_then_only_acknowledged(depot: World, surehand: Surehand) -> None:
    parcel = Parcel(number="H")
    STATE.act = lambda parcel, job: (_ for _ in ()).throw(Unknown("effect.lost"))
    careful(depot.event(careful, parcel), None)
    operation = known(depot, careful, parcel)
    assert operation.code == "effect.unknown"
    done = surehand("ledger", "resolve", operation.id, "--applied", "--execute", "--reason", "charge exists", "--json")
    assert done.lines[-1]["written"] is True
    STATE.act = lambda parcel, job: None
    assert careful(depot.event(careful, parcel), None) == {"batchItemFailures": []}
    assert STATE.order == []


def test_resolve_twice_is_no_error_and_no_second_write(depot: World, surehand: Surehand) -> None:
    (operation,) = fail(depot, Parcel(number="1"))
    surehand("ledger", "resolve", operation, "--applied", "--execute", "--reason", "x")
    fence = depot.ledger.read([operation])[operation].fence
    again = surehand("ledger", "resolve", operation, "--applied", "--execute", "--reason", "x")
    assert again.status == 0
    assert "Changes made: none" in again.err
    assert depot.ledger.read([operation])[operation].fence == fence


def test_resolve_insists_on_saying_which(depot: World, surehand: Surehand) -> None:
    (operation,) = fail(depot, Parcel(number="1"))
    assert surehand("ledger", "resolve", operation).status == 2


def test_sweep_finds_held_and_abandoned_operations(depot: World, surehand: Surehand) -> None:
    abandoned = leased(depot, ago=timedelta(hours=3))
    fail(depot, Parcel(number="H"), code="effect.unknown")
    said = surehand("ledger", "sweep", "--json")
    assert said.status == 1
    kinds = {line["operation"]: line["kind"] for line in said.lines}
    assert kinds == {abandoned: "abandoned", json.dumps(["parcels", "acme", ["H"]], separators=(",", ":")): "held"}


def test_sweep_of_a_healthy_ledger_finds_nothing(depot: World, surehand: Surehand) -> None:
    ship(depot.event(ship, Parcel(number="1")), None)
    assert surehand("ledger", "sweep").status == 0


def test_a_missing_table_is_one_line_that_says_what_to_check(depot: World, surehand: Surehand) -> None:
    said = surehand("ledger", "list", "--stage", "nowhere")
    assert said.status == 1
    assert said.err.count("\n") == 1
    assert "--stage" in said.err
