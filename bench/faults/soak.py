"""The soak in waves: each is an account of its own, so that memory is bounded by one wave, whatever the number."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, fields
from datetime import timedelta
from multiprocessing import get_context
from random import Random
from typing import Any

from bench.faults.shop import HANDLERS, NOW, Outside, Parcel
from surehand.ledger import Operation
from surehand.states import FINAL, State
from surehand.testing import Account, simulate
from surehand.testing.simulator import Fault, Faults

#: Messages in one wave.
WAVE = 5_000
#: What goes wrong, and how often. Kills, refusals and lost replies are per call of ledger, queue or provider.
RATES = Faults(
    duplicate=0.05,
    reorder=0.2,
    short=0.2,
    throttle=0.02,
    kill=0.005,
    lose_reply=0.01,
    refuse=0.01,
    latency=timedelta(milliseconds=20),
)
#: Of the messages sent: a producer's duplicates, orders that can never succeed, and those with a business no.
SENT_TWICE, BAD, DECLINED = 0.05, 0.01, 0.01
#: How often the dead letters of a wave are moved back.
REDRIVES = 2


@dataclass(slots=True)
class Tally:
    """What was seen in all waves so far."""

    messages: int = 0
    deliveries: int = 0
    runs: int = 0
    redriven: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    stuck: int = 0
    repeated_same_key: int = 0
    repeated_beyond_faults: int = 0
    effects_under_other_key: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    #: Waves in which something was not kept; each can be played again alone.
    broken_seeds: list[int] = field(default_factory=list)
    seconds: float = 0.0
    #: The largest process's resident size.
    peak_mb: int = 0

    def add(self, other: Tally) -> None:
        """Take another wave's tally in."""
        for one in fields(Tally):
            mine, theirs = getattr(self, one.name), getattr(other, one.name)
            setattr(self, one.name, max(mine, theirs) if one.name == "peak_mb" else mine + theirs)

    @property
    def kept(self) -> bool:
        """Whether everything was kept that is promised."""
        wrong = self.lost + self.stuck + self.effects_under_other_key + self.repeated_beyond_faults
        return not (wrong or self.broken)

    def told(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "messages": self.messages,
            "deliveries": self.deliveries,
            "runs": self.runs,
            "redriven": self.redriven,
            "faults": dict(sorted(self.faults.items())),
            "outcomes": dict(sorted(self.outcomes.items())),
            "lost": self.lost,
            "stuck": self.stuck,
            "effects_repeated_same_key": self.repeated_same_key,
            "effects_repeated_without_a_fault": self.repeated_beyond_faults,
            "effects_under_other_key": self.effects_under_other_key,
            "broken_promises": dict(self.broken),
            "broken_seeds": self.broken_seeds,
            "seconds": round(self.seconds, 1),
            "peak_mb": self.peak_mb,
        }


def soak(messages: int, *, seed: int, workers: int = 1) -> Iterator[Tally]:
    """Send so many messages in waves, several at once in processes of their own, and yield the tally after each."""
    total = Tally()
    began = time.monotonic()
    waves = [(min(WAVE, messages - start), seed + number) for number, start in enumerate(range(0, messages, WAVE))]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for running in as_completed([pool.submit(wave, count, one) for count, one in waves]):
            total.add(running.result())
            total.seconds = time.monotonic() - began
            yield total


def wave(count: int, seed: int) -> Tally:
    """Send *count* messages in a fresh account, let it come to rest, and return what was seen."""
    tally = Tally()
    with simulate(HANDLERS, seed=seed, faults=RATES) as account:
        _wave(account, count, Random(seed), tally)
    if not tally.kept:
        tally.broken_seeds.append(seed)
    tally.peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return tally


def _wave(account: Account, count: int, random: Random, tally: Tally) -> None:
    NOW.outside = Outside(account)
    tally.messages += _send(account, count, random)
    account.drain()
    for _ in range(REDRIVES):
        for handler in HANDLERS:
            tally.redriven += len(account.sites[handler.name].dead_letters)
            account.redrive(handler)
    account.drain()
    _count(account, NOW.outside, tally)


def _send(account: Account, count: int, random: Random) -> int:
    """Spread the messages over half an hour, so that they meet duplicates, retries and redeliveries of others."""
    sent = 0
    while sent < count:
        number = sent
        drawn = random.random()
        kind = "bad" if drawn < BAD else "declined" if drawn < BAD + DECLINED else "good"
        parcel = Parcel(number=number, lane=f"lane-{number % 50}", kind=kind)
        handler = random.choices(HANDLERS, weights=(6, 3, 1))[0]
        twice = random.random() < SENT_TWICE and sent + 1 < count
        account.send(handler, *([parcel, parcel] if twice else [parcel]))
        sent += 2 if twice else 1
        if sent % 10 == 0:
            account.simulation.run(for_=timedelta(seconds=4))
    return sent


def _count(account: Account, outside: Outside, tally: Tally) -> None:
    tally.deliveries += account.simulation.trail.counts["received"]
    tally.runs += outside.runs
    for name in ("repeated", "throttled", *map(str, Fault)):
        tally.faults[name] += account.simulation.trail.counts[name]
    tally.outcomes.update(account.told.outcomes)
    tally.effects_under_other_key += sum(1 for keys in outside.keys.values() if len(keys) > 1)
    excused = outside.excused()
    for operation, keys in outside.keys.items():
        extra = sum(outside.effects[key] for key in keys) - 1
        tally.repeated_same_key += extra
        tally.repeated_beyond_faults += extra > excused[operation]
    for broken in account.witness.at_rest():
        tally.broken[broken.promise] += 1
    tally.lost += tally_of(account, "lost")
    tally.stuck += tally_of(account, "stuck")


def tally_of(account: Account, what: str) -> int:
    """Count operations that are nowhere (lost), or neither done nor a dead letter nor failed for good (stuck)."""
    if what == "lost":
        return sum(1 for broken in account.witness.broken if broken.promise == "nothing is lost")
    return sum(1 for item in account.ledger.items.values() if _stuck(account, item))


def _stuck(account: Account, item: Operation) -> bool:
    if item.leased_at(account.simulation.clock.now()):
        return True
    letters = account.sites[item.handler].dead_letters.messages
    ended = (*FINAL, State.PERMANENTLY_FAILED, State.DEAD_LETTERED)
    return item.state not in ended and not letters
