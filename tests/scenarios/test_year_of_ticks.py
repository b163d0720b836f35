"""A simulated year of a schedule, with duplicates and outages: one run for each tick that was due and came in time."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random

import pytest

from surehand import Service, Tick, cron, schedule
from surehand.declare import TICK_BODY, ticks
from surehand.declare.limits import TICK_RETRIES
from surehand.states import State
from surehand.testing import Account, simulate
from surehand.testing.simulator import Faults

START = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2027, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
RUNS: Counter[datetime] = Counter()

#: Every two hours by the clocks of Berlin: 02:30 does not exist in one night, and occurs twice in another.
WHEN = cron("30 0/2 * * ? *", timezone="Europe/Berlin")


@schedule("skipping", WHEN, timeout=timedelta(seconds=30))
def skipping(tick: Tick) -> None:
    """A tick during another one's run is skipped."""
    RUNS[tick.at.astimezone(UTC)] += 1


@schedule("queuing", WHEN, timeout=timedelta(seconds=30), overlap="queue")
def queuing(tick: Tick) -> None:
    """A tick during another one's run waits."""
    RUNS[tick.at.astimezone(UTC)] += 1


@schedule("allowing", WHEN, timeout=timedelta(seconds=30), overlap="allow")
def allowing(tick: Tick) -> None:
    """A tick during another one's run runs too."""
    RUNS[tick.at.astimezone(UTC)] += 1


YEAR = Service("year", (skipping, queuing, allowing))
FAULTS = Faults(duplicate=0.02, reorder=0.1, tick_duplicate=0.2, kill=0.001, lose_reply=0.005, refuse=0.005)


def a_year(account: Account, handler, *, outages: int, seed: int) -> tuple[dict[datetime, datetime], int]:
    """Let a year pass, and return when each tick first came into the queue, and how many never did."""
    sim = account.simulation
    site = account.sites[handler.name]
    arrived: dict[datetime, datetime] = {}

    def observe(why: str, message) -> None:
        if why == "sent":
            arrived.setdefault(handler.payload.validate(message.body).at.astimezone(UTC), sim.clock.now())

    site.queue.observe(observe)
    timing = handler.options.timing
    dead = sim.standard_queue("ticks-dlq", retention=timedelta(days=14))
    lost: list[str] = []
    dead.observe(lambda why, message: lost.append(message.body) if why == "sent" else None)
    made = sim.schedule(
        handler.name,
        following=lambda moment: timing.when.following(moment).astimezone(UTC),
        target=site.queue,
        text=TICK_BODY,
        retries=TICK_RETRIES,
        longest_age=timing.longest_delivery,
        dead_letters=dead,
    )

    def go_down(until: datetime) -> None:
        made.target_down_until = until

    random = Random(seed)
    for _ in range(outages):
        begins = START + (END - START) * random.random()
        ends = begins + timedelta(minutes=random.choice((2, 20, 50, 70, 300, 900)))
        sim.clock.at(begins, partial(go_down, ends), background=True)
    sim.run(until=END)
    made.enabled = False
    sim.run_until_quiet()
    return arrived, len(set(lost) - {f'{{"at":"{moment:%Y-%m-%dT%H:%M:%SZ}"}}' for moment in arrived})


@pytest.mark.parametrize("handler", [skipping, queuing, allowing], ids=lambda handler: handler.name)
@pytest.mark.parametrize(
    ("outages", "faults"),
    [
        pytest.param(0, Faults(), id="in peace", marks=pytest.mark.exhaustive),
        pytest.param(60, FAULTS, id="with faults"),
    ],
)
def test_in_a_year_each_tick_that_came_in_time_runs_once_and_no_other_does(handler, outages, faults) -> None:
    RUNS.clear()
    due = {tick.astimezone(UTC) for tick in ticks(WHEN, START, END)}
    assert len(due) == 365 * 12 - 1
    with simulate(YEAR, faults=faults, seed=5) as account:
        arrived, lost = a_year(account, handler, outages=outages, seed=7)
        assert set(arrived) <= due
        assert lost == len(due) - len(arrived)
        states = Counter(one.state for one in account.ledger.items.values() if "!" not in one.id)
        in_time = {moment for moment, came in arrived.items() if came - moment <= HOUR - timedelta(minutes=1)}
        too_late = {moment for moment, came in arrived.items() if came - moment > HOUR}
        assert in_time <= set(RUNS)
        assert not too_late & set(RUNS)
        assert account.witness.at_rest() == []
        if not outages:
            assert set(RUNS.values()) == {1}
            assert states == {State.SUCCEEDED: len(due)}
        else:
            assert lost > 20
            # A process that dies between the run and its record repeats the run, under the same key.
            repeated = sum(RUNS.values()) - len(RUNS)
            assert repeated <= account.simulation.trail.counts["killed"]
            assert states[State.SUCCEEDED] == len(RUNS)


def test_without_kills_each_tick_runs_exactly_once_through_duplicates_and_outages() -> None:
    RUNS.clear()
    with simulate(YEAR, faults=Faults(duplicate=0.05, reorder=0.2, tick_duplicate=0.3), seed=1) as account:
        arrived, _ = a_year(account, skipping, outages=60, seed=3)
        assert set(RUNS.values()) == {1}
        late = account.told.outcomes["canceled"]
        assert len(RUNS) >= len(arrived) - late
        assert account.told.outcomes["already_applied"] > 1_000
