"""What can go wrong: each incident bends the simulated world at a moment, and names the cause that must be told."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.infra.alarms.metrics import Recorded
from tests.infra.alarms.workload import STEP, TENANTS, Message, Names, Run, World, healthy, world

ONE_TENANT = TENANTS[7]

Bend = Callable[[World, int, random.Random], World]


@dataclass(frozen=True, slots=True)
class Incident:
    """*bend* gives the world for a minute since the beginning. *cause* is the alarm that must notify, "" for none.

    *within* is by when, in minutes, for a busy, a quiet and a rare handler (None: not judged for it).
    """

    name: str
    cause: str
    within: tuple[int | None, int | None, int | None]
    bend: Bend
    on: str = "queue"


def _fails(share: float, fate: str) -> Callable[[Message, random.Random], str]:
    return lambda message, chance: fate if chance.random() < share else healthy(message, chance)


def _bent_fail(fate: str) -> Callable[[Message, random.Random], str]:
    """Those that were singled out when they were sent fail always: the failure is in the message, not in the moment."""
    return lambda message, chance: fate if message.bent else healthy(message, chance)


def _nothing(given: World, _: int, __: random.Random) -> World:
    return given


def _surge(given: World, _: int, __: random.Random) -> World:
    return replace(given, arrivals=2.5 * given.capacity)


def _capacity_loss(given: World, _: int, __: random.Random) -> World:
    return replace(given, capacity=0.4 * given.arrivals)


def _stopped(given: World, _: int, __: random.Random) -> World:
    return replace(given, enabled=False)


def _poison(given: World, minute: int, chance: random.Random) -> World:
    # Three of a rare handler's messages are all that it gets, and a regression: there it is one.
    moments = (0, 2, 4) if given.arrivals >= 2 else (0,)
    extra = [Message(0, chance.choice(TENANTS), bent=True)] if minute in moments else []
    return replace(given, extra=extra, fate=_bent_fail("code"))


def _killer(given: World, minute: int, chance: random.Random) -> World:
    """One message kills its process three times, then it is `crash.poison`: its last run fails in the code."""

    def fate(message: Message, drawn: random.Random) -> str:
        if not message.bent:
            return healthy(message, drawn)
        return "crash" if message.receives <= 3 else "code"

    return replace(given, extra=[Message(0, chance.choice(TENANTS), bent=True)] if minute == 0 else [], fate=fate)


def _provider(share: float) -> Bend:
    return lambda given, minute, chance: replace(given, fate=_fails(share, "provider"))


def _regression(given: World, _: int, __: random.Random) -> World:
    return replace(given, bend=lambda message, chance: chance.random() < 0.35, fate=_bent_fail("code"))


def _init_crash(given: World, _: int, __: random.Random) -> World:
    return replace(given, starts=False)


def _contract_break(given: World, _: int, __: random.Random) -> World:
    return replace(given, bend=lambda message, chance: chance.random() < 0.5, fate=_bent_fail("data"))


def _one_tenant(share: float) -> Bend:
    """One tenant sends *share* of all messages, every one of them invalid."""

    def bend(message: Message, chance: random.Random) -> bool:
        if chance.random() < share:
            message.tenant = ONE_TENANT
            return True
        return False

    return lambda given, minute, chance: replace(given, bend=bend, fate=_bent_fail("data"))


def _few_of_one_tenant(given: World, minute: int, _: random.Random) -> World:
    extra = [Message(0, ONE_TENANT, bent=True) for _ in range(2)] if minute % 4 == 0 else []
    return replace(given, extra=extra, fate=_bent_fail("data"))


def _one_tenants_data_breaks_the_code(given: World, _: int, __: random.Random) -> World:
    def bend(message: Message, chance: random.Random) -> bool:
        if chance.random() < 0.15:
            message.tenant = ONE_TENANT
            return True
        return False

    return replace(given, bend=bend, fate=_bent_fail("code"))


def _redrive(given: World, minute: int, chance: random.Random) -> World:
    extra = [Message(0, chance.choice(TENANTS)) for _ in range(100)] if minute < 3 else []
    return replace(given, extra=extra, looked_at=minute < 10)


def _looked_at(given: World, _: int, __: random.Random) -> World:
    return replace(given, looked_at=True)


INCIDENTS = (
    Incident("healthy", "", (0, 0, 0), _nothing),
    Incident("traffic surge", "backlog", (20, 30, 45), _surge),
    Incident("capacity loss", "backlog", (30, 45, 110), _capacity_loss),
    Incident("consumer stopped", "stuck", (15, 15, 20), _stopped),
    Incident("three poison messages", "poison", (15, 25, 40), _poison),
    Incident("a message that kills its process", "poison", (40, 50, 60), _killer),
    Incident("provider outage (95 %)", "provider-outage", (6, 16, 35), _provider(0.95)),
    Incident("provider brownout (65 %)", "provider-outage", (6, 16, 75), _provider(0.65)),
    Incident("code regression (35 % of messages)", "code-regression", (6, 16, 75), _regression),
    Incident("function does not start", "code-regression", (8, 16, 35), _init_crash),
    Incident("contract break (50 % invalid, all tenants)", "code-regression", (6, 16, 60), _contract_break),
    Incident("one tenant's data, high volume (15 %)", "data-repair", (15, 35, 100), _one_tenant(0.15)),
    Incident("one tenant's data, most of the traffic (40 %)", "data-repair", (15, 30, 60), _one_tenant(0.40)),
    Incident("one tenant's data, low volume (2 in 4 min)", "data-repair", (15, 30, 45), _few_of_one_tenant),
    Incident(
        "one tenant's data breaks the code (15 %)", "data-repair", (15, 60, None), _one_tenants_data_breaks_the_code
    ),
    Incident("operations stuck", "stuck", (20, 20, 20), lambda w, m, c: replace(w, stuck=3)),
    Incident("ledger throttled", "ledger-throttled", (8, 8, 8), lambda w, m, c: replace(w, throttled=True)),
    Incident("redrive under way (300 messages)", "", (0, None, None), _redrive),
    Incident("dead letters looked at", "", (0, 0, 0), _looked_at),
    Incident("ticks do not come", "stuck", (None, None, 90), lambda w, m, c: replace(w, ticks=False), on="schedule"),
    Incident(
        "scheduler drops a tick", "stuck", (None, None, 65), lambda w, m, c: replace(w, dropped=True), on="schedule"
    ),
)


@dataclass(frozen=True, slots=True)
class Watched:
    """A handler to simulate: its names, usual load, visibility in seconds, and minutes between the ticks of a schedule.

    It is well for *before* minutes and then meets its incident for *after* minutes.
    """

    kind: str
    names: Names
    per_minute: float
    before: int
    after: int
    visibility: int = 180
    every: int | None = None


def simulate(incident: Incident, watched: Watched, seed: int) -> Recorded:
    """The metrics of *watched*, before and during *incident*."""
    chance = random.Random(f"{incident.name}/{watched.kind}/{seed}")
    minutes = watched.before + watched.after
    run = Run(watched.names, minutes, chance, watched.visibility, watched.every)
    # Dead letters of long ago, so that looking at them has something to look at.
    run.dead = 12 if incident.bend in (_looked_at, _redrive) else 0
    usual = world(watched.per_minute)
    for second in range(0, minutes * 60, STEP):
        minute = second // 60 - watched.before
        given = usual
        if minute >= 0:
            given = incident.bend(usual, minute, chance)
            if second % 60:
                given.extra = []
        run.step(given)
    return run.recorded
