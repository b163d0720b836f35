"""A scan of 10,000 items, killed wherever it can be, and with two runners: every item is applied, and by key once."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from surehand import Job, Service, Tick, schedule
from surehand.outcomes import Outcome
from surehand.states import State
from surehand.testing import Account, again, simulate, world
from surehand.testing.simulator import Crossing, Fault, Faults, Simulation

ITEMS, PAGE = 10_000, 200
PAGES = ITEMS // PAGE
SECOND = timedelta(seconds=1)


class Shop:
    """What the scan works on: *applied* counts the requests by idempotency key, and *items* those by item."""

    def __init__(self) -> None:
        self.applied: Counter[str] = Counter()
        self.items: Counter[int] = Counter()
        self.page = 0
        self.running: set[int] = set()
        self.pause = lambda page: None
        self.middle = lambda page: None

    def apply(self, key: str, item: int) -> None:
        self.applied[key] += 1
        self.items[item] += 1


SHOP = Shop()


@schedule("scan", timedelta(days=1), timeout=timedelta(minutes=1), catch_up=timedelta(hours=12))
def scan(tick: Tick, job: Job) -> int:
    """Apply each item, page by page."""
    done = job.cursor(int) or 0
    for start in range(done, ITEMS, PAGE):
        SHOP.page = start // PAGE
        SHOP.pause(SHOP.page)
        for item in range(start, start + PAGE):
            SHOP.apply(job.key(str(item)), item)
            if item == start + PAGE // 2:
                SHOP.middle(SHOP.page)
        job.save_cursor(start + PAGE)
    return ITEMS


SCANS = Service("scans", (scan,))


def run(account: Account, *, messages: int = 1) -> None:
    """Send one tick, perhaps several times, and let everything come to rest."""
    moment = account.simulation.clock.now()
    for _ in range(messages):
        account.send(scan, Tick(moment))
    account.drain()


def simulated(faults: Faults = Faults(), seed: int = 0) -> tuple[ExitStack, Account]:  # noqa: B008 - frozen
    stack = ExitStack()
    account = stack.enter_context(simulate(SCANS, faults=faults, seed=seed))
    sim: Simulation = account.simulation
    SHOP.__init__()  # type: ignore[misc]  # a fresh shop for handlers that know this one

    def middle(page: int) -> None:
        with sim.crossings.cross("page", str(page)):
            sim.sleep(4 * SECOND)

    SHOP.middle = middle
    return stack, account


def check(account: Account) -> None:
    """Every item at least once, by key once, the cursor never back, one chain, and a succeeded operation."""
    assert sorted(SHOP.items) == list(range(ITEMS))
    assert len(SHOP.applied) == ITEMS
    values = [int(cursor.value) for cursor in account.cursors.saved]
    assert values == sorted(values)
    fences = [cursor.fence for cursor in account.cursors.saved]
    assert fences == sorted(fences)
    assert account.witness.at_rest() == []
    (operation,) = [one for one in account.ledger.items.values() if one.history[-1].attempt]
    assert operation.state is State.SUCCEEDED


def test_a_scan_in_peace_takes_several_invocations_and_applies_every_item_once() -> None:
    stack, account = simulated()
    with stack:
        run(account)
        check(account)
        assert set(SHOP.items.values()) == {1}
        assert account.told.outcomes["continued"] >= 3
        assert account.told.outcomes["succeeded"] == 1


@pytest.mark.parametrize(
    ("where", "fault"),
    [("page", Fault.KILL_AFTER), ("cursor.save", Fault.KILL_BEFORE), ("cursor.save", Fault.KILL_AFTER)],
    ids=["in mid-page", "before each save", "after each save"],
)
def test_a_scan_that_is_killed_in_every_page_applies_every_item_and_is_no_poison(where: str, fault: Fault) -> None:
    stack, account = simulated()
    killed: set[int] = set()

    def plan(crossing: Crossing) -> Fault | None:
        if crossing.kind != where or SHOP.page in killed:
            return None
        killed.add(SHOP.page)
        return fault

    with stack:
        account.simulation.crossings.plan = plan
        run(account)
        check(account)
        assert killed == set(range(PAGES))
        # At the one honest point, between the effects and the save, a page is applied twice, under the same keys.
        assert max(SHOP.items.values()) == (1 if fault is Fault.KILL_AFTER and where == "cursor.save" else 2)


def test_three_kills_at_one_place_are_poison_however_far_the_scan_had_got() -> None:
    stack, account = simulated()
    with stack:
        account.simulation.crossings.plan = lambda crossing: (
            Fault.KILL_BEFORE if crossing.kind == "page" and SHOP.page == 20 else None
        )
        run(account)
        assert account.told.outcomes["rejected"] == 1
        assert sorted(SHOP.items) == list(range(20 * PAGE + PAGE // 2 + 1))
        assert account.witness.at_rest() == []


@pytest.mark.parametrize("seed", range(4))
def test_a_scan_through_kills_lost_replies_and_duplicates_applies_every_item(seed: int) -> None:
    faults = Faults(kill=0.01, lose_reply=0.05, refuse=0.02, duplicate=0.01, latency=timedelta(milliseconds=200))
    stack, account = simulated(faults, seed)
    with stack:
        run(account, messages=3)
        check(account)


@pytest.mark.parametrize("when", ["at the boundary", "in mid-page"])
def test_a_second_runner_that_takes_over_at_any_page_leaves_the_first_one_nothing_to_save(when: str) -> None:
    now = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
    takeovers = []
    with world(SCANS) as made:
        SHOP.__init__()  # type: ignore[misc]  # a fresh shop for handlers that know this one
        event = made.event(scan, Tick(now))
        messages = [event["Records"][0]]

        def stall(page: int) -> None:
            """The first runner stands still until its lease has ended; a second one gets one page further."""
            if len(takeovers) > page:
                return
            takeovers.append(page)
            made.clock.advance(timedelta(minutes=6))
            messages.append(again(messages[-1]))
            scan({"Records": [messages[-1]]}, None)

        if when == "at the boundary":
            SHOP.pause = stall
        else:
            SHOP.middle = stall
        # Each runner is overtaken at the first page that nobody was overtaken at yet.
        scan(event, None)
        while scan({"Records": [again(messages[-1])]}, None)["batchItemFailures"]:
            messages.append(again(messages[-1]))
            made.clock.advance(timedelta(minutes=6))
        saved: Any = made.cursors
        values = [int(cursor.value) for cursor in saved.saved]
        assert takeovers == list(range(PAGES))
        assert values == sorted(values)
        assert sorted(SHOP.items) == list(range(ITEMS))
        assert len(SHOP.applied) == ITEMS
        outcomes = Counter(ending.outcome for ending in made.teller.endings)
        assert outcomes[Outcome.FENCE_LOST] == PAGES
