"""Random days and schedules of duplicates, crashes, lost replies, throttles, redrives, operators: promises hold."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from surehand import Cancel, Defer, Handler, Reject, Retry, Unknown
from surehand.ledger import Write
from surehand.ledger.operating import Act, cancel, dead_lettered, release, resolve
from surehand.testing.simulator import Fault, Faults, StandardQueue
from tests.scenarios.hostile import HARD, MILD, Outside, stage
from tests.scenarios.kiosk import Ticket, awaited, careful, lanes, plain, tenants

SECOND = timedelta(seconds=1)
MOODS = [
    (0.05, lambda: Retry("provider.busy")),
    (0.03, lambda: Defer("provider.closed", after=timedelta(minutes=40))),
    (0.02, lambda: Reject("data.no_such_account")),
    (0.02, lambda: Cancel("data.declined")),
    (0.02, lambda: Unknown("effect.read_timeout")),
    (0.03, lambda: KeyError("bug")),
]


def moody(random: Random, account, ticket, run):
    """Fail in some way, take some time, or be late for the deadline."""
    for rate, failure in MOODS:
        if random.random() < rate:
            raise failure()
    account.simulation.sleep(SECOND * (40 if random.random() < 0.02 else 2 * random.random()))


def day(handlers: list[Handler], seed: int, faults: Faults, *, tickets: int = 20) -> tuple[list[str], int]:
    """Run a day of tickets and duplicates, redrive twice, and return what was broken and how many faults there were."""
    random = Random(seed)
    with stage(handlers, partial(moody, random), seed=seed, faults=faults) as (account, outside):
        for handler in handlers:
            for number in range(tickets):
                ticket = Ticket(number=str(number), lane="abc"[number % 3])
                for _ in range(1 + (random.random() < 0.2)):
                    account.simulation.clock.after(SECOND * random.randrange(2_000), partial(handler.send, ticket))
        account.drain()
        for _ in range(2):
            for handler in handlers:
                account.redrive(handler)
        broken = [str(one) for one in account.witness.at_rest()]
        return broken + [text for text in outside.broken(1_000) if "keys" in text], account.simulation.crossings.count


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(3, 12))]
)
@pytest.mark.parametrize("faults", [MILD, HARD], ids=["mild", "hard"])
@pytest.mark.parametrize("handler", [plain, lanes, careful, awaited], ids=lambda handler: handler.name)
def test_no_day_breaks_a_promise(handler, faults, seed):
    broken, crossings = day([handler], seed, faults)
    assert broken == []
    assert crossings > 50


@pytest.mark.parametrize("seed", range(3))
def test_no_day_of_a_whole_service_breaks_a_promise(seed):
    assert day([plain, tenants, lanes, careful], seed, HARD, tickets=10)[0] == []


def test_calls_that_take_time_interleave_and_break_nothing():
    slow = Faults(duplicate=0.1, kill=0.01, lose_reply=0.02, refuse=0.02, latency=SECOND / 2)
    for seed in range(5):
        assert day([plain, lanes], seed, slow)[0] == []


class Schedules(RuleBasedStateMachine):
    """Whatever the order of what producers, SQS, Lambda, DynamoDB and operators do, the promises hold."""

    @initialize()
    def begin(self) -> None:
        self.failing: dict[str, Exception] = {}
        self.stack = stage([plain, lanes, careful], self.act)
        self.account, self.outside = self.stack.__enter__()
        self.next_fault: list[tuple[int, Fault]] = []
        self.account.simulation.crossings.plan = self.plan

    def act(self, account, ticket, run):
        if ticket.number in self.failing:
            raise self.failing.pop(ticket.number)
        account.simulation.sleep(SECOND)

    def plan(self, crossing) -> Fault | None:
        self.next_fault = [(left - 1, fault) for left, fault in self.next_fault]
        due = [fault for left, fault in self.next_fault if left == 0]
        self.next_fault = [(left, fault) for left, fault in self.next_fault if left > 0]
        return due[0] if due else None

    @rule(handler=st.sampled_from([plain, lanes, careful]), number=st.integers(0, 5), lane=st.sampled_from("ab"))
    def send(self, handler, number, lane):
        handler.send(Ticket(number=str(number), lane="ab"[number % 2]))

    @rule(number=st.integers(0, 5), mood=st.integers(0, len(MOODS) - 1))
    def fail_next(self, number, mood):
        self.failing[str(number)] = MOODS[mood][1]()

    @rule(left=st.integers(1, 12), fault=st.sampled_from(Fault))
    def fault(self, left, fault):
        self.next_fault.append((left, fault))

    @rule(seconds=st.sampled_from([1, 5, 31, 36, 181, 3_600, 50_000]))
    def wait(self, seconds):
        self.account.simulation.run(for_=seconds * SECOND)

    @rule(handler=st.sampled_from([plain, careful]))
    def sqs_delivers_again(self, handler):
        queue = self.account.sites[handler.name].queue
        assert isinstance(queue, StandardQueue)
        deleted = [one.which for one in self.account.simulation.trail.of("deleted") if one.where == queue.name]
        known = [message.id for message in queue.messages] + deleted
        if known:
            queue.deliver_again(known[-1])

    @rule(handler=st.sampled_from([plain, lanes, careful]))
    def redrive(self, handler):
        dead_letters = self.account.sites[handler.name].dead_letters
        if not any(task.status == "RUNNING" for task in self.account.simulation.moves.of(dead_letters)):
            self.account.simulation.redrive(dead_letters)

    @rule(which=st.integers(0, 17), deed=st.sampled_from(["cancel", "release", "resolve", "stamp"]))
    @precondition(lambda self: self.account.ledger.items)
    def operate(self, which, deed):
        items = sorted(self.account.ledger.items.values(), key=lambda item: item.id)
        item = items[which % len(items)]
        act = Act(actor="op", reason="test", now=self.account.simulation.clock.now(), retention=timedelta(days=30))
        known = {"operation_id": item.id, "handler": item.handler, "tenant": item.tenant}
        if deed == "cancel":
            done = cancel(item, act, **known)
        elif deed == "release":
            done = release(item, act)
        elif deed == "resolve":
            done = resolve(item, act, applied=False)
        else:
            site = self.account.sites[item.handler]
            letters = [one.id for one in site.dead_letters.messages if self.names(site.handler, one) == item.id]
            if not letters:
                return
            done = dead_lettered(item, act, **known, message_ids=letters)
        if isinstance(done, Write):
            self.account.witness.decided(item.id)
            self.account.ledger.write([done], now=act.now)

    @staticmethod
    def names(handler, message) -> str:
        return handler.identify(handler.payload.validate(message.body), message.body).operation

    @invariant()
    def nothing_is_broken(self):
        if hasattr(self, "account"):
            assert self.account.witness.broken == []

    def teardown(self):
        if hasattr(self, "account"):
            try:
                self.next_fault.clear()
                self.failing.clear()
                self.account.drain()
                for handler in (plain, lanes, careful):
                    self.account.redrive(handler)
                assert [str(one) for one in self.account.witness.at_rest()] == []
                assert [text for text in self.outside.broken(1_000) if "keys" in text] == []
            finally:
                self.stack.__exit__(None, None, None)


TestSchedules = Schedules.TestCase
TestSchedules.settings = settings(max_examples=60, stateful_step_count=30)


def test_the_provider_s_fake_counts_by_key_and_by_operation():
    """The check of the check: two keys of one operation are found."""
    outside = Outside()
    outside.keys["operation"] = {"one", "two"}
    outside.effects.update({"one": 1, "two": 3})
    assert len(outside.broken(2)) == 2
