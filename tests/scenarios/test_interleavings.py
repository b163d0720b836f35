"""Two invocations meet at one operation: every order of their calls, with every crash, lost reply or refusal.

A small exhaustive search over the engine's real code: at each crossing the running invocation goes on, or lets the
other one go first (so often at most), or suffers a fault (one of each kind at most). Every schedule is run to its end
and must break no promise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from surehand import Handler, Job, Reject, Retry, queue
from surehand.declare import visibility_timeout
from surehand.testing import Account
from surehand.testing.simulator import Crossing, Fault, StandardQueue
from tests.scenarios.hostile import stage
from tests.scenarios.kiosk import SCRIPT, Ticket

Situation = Callable[[Account, Handler], None]

TICKET = Ticket(number="1")
CRASH = (Fault.KILL_BEFORE, Fault.KILL_AFTER)
NO_REPLY = (Fault.LOSE_REPLY, Fault.REFUSE)
MOMENT = timedelta(milliseconds=1)


@queue("solo", key="number", batch_size=1, max_attempts=2)
def solo(ticket: Ticket, job: Job) -> object:
    """One message in each invocation."""
    return SCRIPT.run(ticket, job)


@queue("solo-careful", key="number", batch_size=1, max_attempts=2, on_unknown="hold")
def solo_careful(ticket: Ticket, job: Job) -> object:
    """The same, with unknown effects held."""
    return SCRIPT.run(ticket, job)


@dataclass
class Choices:
    """One path through the tree of choices: *prefix* is given, the rest takes the first option."""

    prefix: list[int]
    taken: list[tuple[int, int]] = field(default_factory=list)

    def among(self, options: int) -> int:
        """Return the option to take at this point."""
        picked = self.prefix[len(self.taken)] if len(self.taken) < len(self.prefix) else 0
        self.taken.append((picked, options))
        return picked

    def next(self) -> list[int] | None:
        """Return the prefix of the next path, or None if this was the last one."""
        taken = list(self.taken)
        while taken and taken[-1][0] == taken[-1][1] - 1:
            taken.pop()
        return [picked for picked, _ in taken[:-1]] + [taken[-1][0] + 1] if taken else None


@dataclass
class Search:
    """The choices of one schedule: go on, let the other go first, or a fault of one of the *kinds* still left."""

    choices: Choices
    kinds: list[tuple[Fault, ...]]
    switches: int
    exploring: bool = False
    happened: list[str] = field(default_factory=list)
    met: list[object] = field(default_factory=list)

    def plan(self, account: Account) -> Callable[[Crossing], Fault | None]:
        def plan(crossing: Crossing) -> Fault | None:
            if not self.exploring or not self._one_of_two(crossing):
                return None
            others = [one for one in crossing.invocation.function.running if one is not crossing.invocation]
            waits = bool(others or len(self.met) < 2) and self.switches > 0
            options: list[Fault | str] = ["go", *(["wait"] if waits else []), *sum(self.kinds, ())]
            picked = options[self.choices.among(len(options))]
            if picked == "wait":
                self.switches -= 1
                account.simulation.sleep(MOMENT)
                return None
            if isinstance(picked, Fault):
                self.kinds = [kind for kind in self.kinds if picked not in kind]
                self.happened.append(f"{picked} {crossing}")
                return picked
            return None

        return plan

    def _one_of_two(self, crossing: Crossing) -> bool:
        if crossing.invocation not in self.met and len(self.met) < 2:
            self.met.append(crossing.invocation)
        return crossing.invocation in self.met


def fresh(account: Account, handler: Handler) -> None:
    """The producer sends twice."""
    account.send(handler, TICKET, TICKET)


def repeated(account: Account, handler: Handler) -> None:
    """SQS delivers one message twice at once."""
    account.send(handler, TICKET)
    queue = account.sites[handler.name].queue
    assert isinstance(queue, StandardQueue)
    queue.deliver_again(queue.messages[0].id)


def crashed(account: Account, handler: Handler) -> None:
    """A process has died with the operation; its message and a duplicate come back together."""
    account.send(handler, TICKET)
    together(account, handler, visibility_timeout(handler))


def due(account: Account, handler: Handler) -> None:
    """An attempt has failed; its message and a duplicate come back together when the next one is due."""
    account.send(handler, TICKET)
    together(account, handler, timedelta(minutes=1))


def redriven(account: Account, handler: Handler) -> None:
    """The failed message and its failed duplicate are redriven together."""
    account.send(handler, TICKET, TICKET)
    account.drain()
    account.simulation.sleep(timedelta(minutes=1))
    account.simulation.redrive(account.sites[handler.name].dead_letters)


def late(account: Account, handler: Handler) -> None:
    """The failed message is redriven, and SQS delivers the old one once more."""
    account.send(handler, TICKET)
    account.drain()
    account.simulation.sleep(timedelta(minutes=1))
    site = account.sites[handler.name]
    assert isinstance(site.queue, StandardQueue)
    account.simulation.redrive(site.dead_letters)
    moment = account.simulation.clock.now() + timedelta(seconds=1)
    expires_at = moment + timedelta(days=1)
    site.queue.take_in(site.dead_letters.messages[0], "repeated", receives=2, visible_at=moment, expires_at=expires_at)


def together(account: Account, handler: Handler, wait: timedelta) -> None:
    """Have a duplicate arrive in the moment in which the message that was just sent comes back."""
    body = handler.payload.dump(TICKET).decode()
    account.sites[handler.name].queue.send(body, delay=wait)
    account.simulation.sleep(timedelta(seconds=1))


#: What becomes of the run that comes before the two invocations meet.
BEFORE: dict[Situation, Exception | None] = {
    fresh: None,
    repeated: None,
    crashed: None,
    due: Retry("provider.busy", after=timedelta(minutes=1)),
    redriven: Reject("data.no"),
    late: Reject("data.no"),
}


def schedules(handler: Handler, situation: Situation, kinds: list[tuple[Fault, ...]], switches: int) -> int:
    """Run every schedule and return how many there were."""
    prefix: list[int] | None = []
    count = 0
    while prefix is not None:
        search = Search(Choices(prefix), list(kinds), switches)

        def act(account, ticket, run, search=search):
            if not search.exploring and situation is crashed:
                account.simulation.crossings.invocation.kill()
                account.simulation.sleep(timedelta(0))
            if not search.exploring and BEFORE[situation] is not None:
                raise BEFORE[situation]  # type: ignore[misc]

        with stage(handler, act) as (account, outside):
            account.simulation.crossings.plan = search.plan(account)
            search.exploring = situation in (fresh, repeated)
            situation(account, handler)
            search.exploring = True
            account.drain()
            allowed = 1 + len(search.happened)
            broken = [str(one) for one in account.witness.at_rest()] + outside.broken(allowed)
            assert broken == [], f"{search.choices.taken} {search.happened}"
            prefix = search.choices.next()
        count += 1
    return count


SEARCHES: Mapping[str, tuple[Handler, list[tuple[Fault, ...]], int]] = {
    "undisturbed": (solo_careful, [], 5),
    "crash": (solo_careful, [CRASH], 2),
    "no-reply": (solo_careful, [NO_REPLY], 2),
    "crash-and-no-reply": (solo, [CRASH, NO_REPLY], 1),
}
#: Lost replies make the searches long. Every change sees these two situations of them.
ALWAYS = (fresh, redriven)


@pytest.mark.parametrize(
    ("search", "situation"),
    [
        pytest.param(
            search,
            situation,
            id=f"{search}-{situation.__name__}",
            marks=[pytest.mark.exhaustive] if search.endswith("no-reply") and situation not in ALWAYS else [],
        )
        for search in SEARCHES
        for situation in BEFORE
    ],
)
def test_no_schedule_of_two_invocations_breaks_a_promise(search: str, situation: Situation) -> None:
    handler, kinds, switches = SEARCHES[search]
    assert schedules(handler, situation, kinds, switches) > 20
