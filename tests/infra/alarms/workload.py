"""One handler at work, in steps of five seconds: what SQS, Lambda, DynamoDB and the run time would have recorded.

A model of the things that alarms depend on: arrivals by chance, limited capacity, five attempts with full-jitter
backoff, permanent failures that are received until SQS moves them, invocations that die, the age metric that skips what
was received three times.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.infra.alarms.metrics import Key, Recorded

STEP = 5
MAX_ATTEMPTS, RECEIVES = 5, 10
BATCH = 5
TENANTS = [f"tenant-{number:02}" for number in range(20)]

#: What becomes of an attempt: "ok", or the class of its failure, or "crash" when the process dies with it.
Fate = str


@dataclass(slots=True)
class Message:
    """One message; *bent* marks those that the incident singled out."""

    sent_at: int
    tenant: str
    bent: bool = False
    receives: int = 0
    attempts: int = 0
    permanent: bool = False


@dataclass(frozen=True, slots=True)
class Names:
    """What the handler's metrics are called."""

    metrics: str
    function: str
    queue: str
    dead_letters: str
    insight_rule: str
    table: str
    group: str


@dataclass(slots=True)
class World:
    """What an incident may bend. Rates are messages a minute; fates are drawn for each attempt."""

    arrivals: float
    capacity: float
    fate: Callable[[Message, random.Random], Fate]
    bend: Callable[[Message, random.Random], bool] = lambda message, chance: False
    enabled: bool = True
    starts: bool = True
    throttled: bool = False
    stuck: int = 0
    ticks: bool = True
    dropped: bool = False
    looked_at: bool = False
    extra: list[Message] = field(default_factory=list)


def healthy(_: Message, chance: random.Random) -> Fate:
    """One attempt in a hundred meets a busy provider."""
    return "provider" if chance.random() < 0.01 else "ok"


def world(per_minute: float) -> World:
    """A handler with twice the capacity that its usual traffic needs."""
    return World(arrivals=per_minute, capacity=max(2 * per_minute, 10.0), fate=healthy)


@dataclass(slots=True)
class Run:
    """A simulation in progress. Call `step` with the world as it is at that moment."""

    names: Names
    minutes: int
    chance: random.Random
    visibility: int
    every: int | None
    recorded: Recorded = field(init=False)
    now: int = 0
    queue: list[tuple[int, int, Message]] = field(default_factory=list)
    alive: dict[int, Message] = field(default_factory=dict)
    dead: int = 0
    allowance: float = 0.0
    serial: int = 0
    counts: dict[Key, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.recorded = Recorded(self.minutes)

    @property
    def minute(self) -> int:
        return self.now // 60

    def step(self, world: World) -> None:
        """Five seconds: arrivals, deliveries, and at the end of a minute what CloudWatch samples."""
        self._arrive(world)
        if world.enabled:
            self._deliver(world)
        self.now += STEP
        if self.now % 60 == 0:
            self._sample(world)

    def _count(self, namespace: str, name: str, of: str, value: float = 1) -> None:
        key = Key(namespace, name, of)
        self.counts[key] = self.counts.get(key, 0) + value

    def _own(self, name: str, value: float = 1) -> None:
        self._count("surehand", name, self.names.metrics, value)

    def _function(self, name: str, value: float = 1) -> None:
        self._count("AWS/Lambda", name, self.names.function, value)

    def _mapping(self, name: str) -> None:
        self._count("AWS/Lambda", name, "mapping")

    def _arrive(self, world: World) -> None:
        for _ in range(_poisson(world.arrivals * STEP / 60, self.chance)):
            message = Message(self.now, self.chance.choice(TENANTS))
            message.bent = world.bend(message, self.chance)
            self._send(message)
        for message in world.extra:
            message.sent_at = self.now
            self._send(message)
        world.extra.clear()

    def _send(self, message: Message) -> None:
        self._count("AWS/SQS", "NumberOfMessagesSent", self.names.queue)
        self.serial += 1
        self.alive[self.serial] = message
        heapq.heappush(self.queue, (self.now, self.serial, message))

    def _deliver(self, world: World) -> None:
        self.allowance = min(self.allowance + world.capacity * STEP / 60, max(world.capacity, BATCH))
        if not world.starts:
            self.allowance = min(self.allowance, BATCH)  # Lambda backs off from a function that fails
        batch: list[tuple[int, Message]] = []
        while self.queue and self.queue[0][0] <= self.now and self.allowance >= 1:
            _, serial, message = heapq.heappop(self.queue)
            if message.receives >= RECEIVES:
                self._move(serial)
                continue
            self.allowance -= 1
            message.receives += 1
            self._mapping("PolledEventCount")
            batch.append((serial, message))
            if len(batch) == BATCH:
                self._invoke(world, batch)
                batch = []
        if batch:
            self._invoke(world, batch)

    def _invoke(self, world: World, batch: list[tuple[int, Message]]) -> None:
        self._function("Invocations")
        fates = [(s, m, "ok" if m.permanent else world.fate(m, self.chance)) for s, m in batch]
        if not world.starts or any(fate == "crash" for _, _, fate in fates):
            self._function("Errors")
            for serial, message in batch:
                self._back(serial, message, self.visibility)
            return
        self._function("Errors", 0)
        for name in ("Attempts", "Succeeded", "FailedProvider", "FailedCode", "FailedData"):
            self._own(name, 0)
        for serial, message, fate in fates:
            self._end(world, serial, message, fate)

    def _end(self, world: World, serial: int, message: Message, fate: Fate) -> None:
        if message.permanent:
            self._put_back(serial, message, self.chance.randint(1, 5))
        elif world.throttled:
            self._own("FailedCode")
            self._put_back(serial, message, min(900, 30 * 2**message.receives))
        elif fate == "ok":
            self._own("Attempts")
            self._own("Succeeded")
            self._count("AWS/SQS", "NumberOfMessagesDeleted", self.names.queue)
            del self.alive[serial]
        else:
            self._fail(serial, message, fate)

    def _fail(self, serial: int, message: Message, fate: Fate) -> None:
        message.attempts += 1
        self._own("Attempts")
        self._own({"provider": "FailedProvider", "code": "FailedCode", "data": "FailedData"}[fate])
        if fate != "provider" and message.receives == 1:
            code = "data.invalid" if fate == "data" else "code.KeyError"
            self.recorded.contribute(self.minute, self.names.insight_rule, code, message.tenant)
        message.permanent = fate == "data" or message.attempts >= MAX_ATTEMPTS
        longest = min(900.0, 2.0 * 2 ** (message.attempts - 1))
        wait = self.chance.randint(1, 5) if message.permanent else self.chance.uniform(0, longest)
        self._put_back(serial, message, math.ceil(wait))

    def _put_back(self, serial: int, message: Message, wait: int) -> None:
        self._mapping("FailedInvokeEventCount")
        if message.receives >= RECEIVES:
            self._own("DeadLettered")
        self._back(serial, message, wait)

    def _back(self, serial: int, message: Message, wait: int) -> None:
        heapq.heappush(self.queue, (self.now + wait, serial, message))

    def _move(self, serial: int) -> None:
        del self.alive[serial]
        self.dead += 1

    def _sample(self, world: World) -> None:
        """What is read once a minute, for the minute that just ended."""
        at = self.minute - 1
        for key, value in self.counts.items():
            self.recorded.put(at, key, value)
        self.counts.clear()
        visible = sum(1 for when, _, _ in self.queue if when <= self.now)
        age = self.now - min((m.sent_at for m in self.alive.values() if m.receives < 3), default=self.now)
        hidden = min(self.dead, 10) if world.looked_at and at % 3 == 0 else 0
        queue, dead_letters = self.names.queue, self.names.dead_letters
        sampled = {
            Key("AWS/SQS", "ApproximateNumberOfMessagesVisible", queue): visible,
            Key("AWS/SQS", "ApproximateAgeOfOldestMessage", queue): age,
            Key("AWS/SQS", "ApproximateAgeOfOldestMessageInQuietGroups", queue): age,
            Key("AWS/SQS", "ApproximateNumberOfMessagesVisible", dead_letters): self.dead - hidden,
            Key("AWS/SQS", "ApproximateNumberOfMessagesNotVisible", dead_letters): hidden,
            Key("AWS/DynamoDB", "WriteThrottleEvents", self.names.table): 20 if world.throttled else 0,
        }
        if at % 5 == 4:
            sampled[Key("surehand", "StuckStates", self.names.metrics)] = world.stuck
        for key, value in sampled.items():
            self.recorded.put(at, key, value)
        if self.every is not None and at % self.every == 0:
            self._tick(world, at)

    def _tick(self, world: World, at: int) -> None:
        if world.dropped:
            self.recorded.put(at, Key("AWS/Scheduler", "InvocationDroppedCount", self.names.group), 1)
        elif world.ticks:
            for name, value in (("ScheduleRan", 1), ("ScheduleFinished", 1), ("TickLag", 3)):
                self.recorded.put(at, Key("surehand", name, self.names.metrics), value)


def _poisson(mean: float, chance: random.Random) -> int:
    limit, product, count = math.exp(-mean), chance.random(), 0
    while product > limit:
        product *= chance.random()
        count += 1
    return count
