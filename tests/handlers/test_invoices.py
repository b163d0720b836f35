"""The export of invoices, from the tick to the archive's books."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from handlers.invoices import export_invoices
from handlers.service import SHOP
from local.invoices import PAGES
from local.provider_stub import ProviderStub, provider_stub
from surehand import Tick
from surehand.outcomes import Outcome
from surehand.testing import FakeClock, World, again, job, world
from tests.handlers.recorded import message_ids, put_back

EVENTS = Path(__file__).resolve().parents[2] / "events" / "schedule"
MOMENT = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)


def recorded(name: str, *, now: datetime) -> dict[str, Any]:
    """Return an event of `events/schedule`, sent at *now*."""
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    for record in event["Records"]:
        record["attributes"]["SentTimestamp"] = str(int(now.timestamp() * 1000))
    return event


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderStub]:
    with provider_stub() as running:
        monkeypatch.setenv("BILLING_URL", running.url)
        monkeypatch.setenv("ARCHIVE_URL", running.url)
        yield running


@pytest.fixture
def memory() -> Iterator[World]:
    with world(SHOP) as made:
        assert isinstance(made.clock, FakeClock)
        made.clock.advance(MOMENT + timedelta(seconds=20) - made.clock.now())
        yield made


def uploaded(stub: ProviderStub) -> list[str]:
    return [effect.reference for effect in stub.book.effects("upload")]


def test_a_tick_uploads_every_page_of_the_day_before(memory: World, stub: ProviderStub) -> None:
    assert put_back(export_invoices(recorded("tick", now=memory.clock.now()), None)) == []
    assert len(uploaded(stub)) == PAGES
    assert uploaded(stub)[0] == "2026-11-29/inv-2026-11-29-005"


def test_an_unreplaced_placeholder_stands_for_the_last_moment_of_the_schedule(
    memory: World, stub: ProviderStub
) -> None:
    assert put_back(export_invoices(recorded("unreplaced", now=memory.clock.now()), None)) == []
    assert uploaded(stub)[0].startswith("2026-11-29/")


def test_the_same_tick_again_uploads_nothing(memory: World, stub: ProviderStub) -> None:
    for _ in range(2):
        export_invoices(recorded("tick", now=memory.clock.now()), None)
    assert len(uploaded(stub)) == PAGES
    assert stub.book.duplicated() == 0


def test_an_export_that_outlasts_its_timeout_goes_on_in_further_invocations(
    memory: World, stub: ProviderStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = memory.clock
    assert isinstance(clock, FakeClock)
    monkeypatch.setattr("local.provider_stub.invoices_of", slowly(clock))
    event = recorded("tick", now=clock.now())
    deliveries = 1
    while put_back(export_invoices(event, None)) == message_ids(event):
        event = {"Records": [again(event["Records"][0])]}
        deliveries += 1
    assert deliveries > 2
    assert {ending.outcome for ending in memory.teller.endings} == {Outcome.CONTINUED, Outcome.SUCCEEDED}
    assert (len(uploaded(stub)), uploaded(stub), stub.book.duplicated()) == (PAGES, sorted(uploaded(stub)), 0)


def test_a_page_that_was_uploaded_but_not_saved_is_uploaded_again_under_the_same_key(stub: ProviderStub) -> None:
    tick = Tick(MOMENT)
    export_invoices.run(tick, job(export_invoices, tick))
    export_invoices.run(tick, job(export_invoices, tick, cursor="inv-2026-11-29-050"))
    assert len(uploaded(stub)) == PAGES
    assert [effect.requests for effect in stub.book.effects("upload")] == [1] * 10 + [2] * 2


def test_a_busy_archive_is_asked_again_from_the_page_that_it_refused(memory: World, stub: ProviderStub) -> None:
    stub.mode = "busy"
    event = recorded("tick", now=memory.clock.now())
    assert put_back(export_invoices(event, None)) == message_ids(event)
    assert memory.teller.endings[-1].code == "provider.busy"
    stub.mode = "up"
    assert isinstance(memory.clock, FakeClock)
    memory.clock.advance(timedelta(minutes=5))
    assert put_back(export_invoices({"Records": [again(event["Records"][0])]}, None)) == []
    assert len(uploaded(stub)) == PAGES


def test_the_same_holds_on_aws(stub: ProviderStub) -> None:
    with world(SHOP, on="moto") as made:
        now = made.clock.now()
        event = made.event(export_invoices, f'{{"at":"{now:%Y-%m-%dT%H:%M:%SZ}"}}')
        assert put_back(export_invoices(event, None)) == []
        assert put_back(export_invoices(event, None)) == []
    assert len(uploaded(stub)) == PAGES


@pytest.mark.parametrize("name", sorted(path.stem for path in EVENTS.glob("*.json")))
def test_every_recorded_tick_carries_what_sqs_gives_it(name: str) -> None:
    for record in recorded(name, now=MOMENT)["Records"]:
        assert record["md5OfBody"] == hashlib.md5(record["body"].encode()).hexdigest()
        assert record["eventSourceARN"].endswith("-invoice-export")


def slowly(clock: FakeClock) -> Any:
    """Billing as it is, but each page takes two seconds."""
    from local.invoices import invoices_of

    def page(query: Any) -> Any:
        clock.advance(timedelta(seconds=2))
        return invoices_of(query)

    return page
