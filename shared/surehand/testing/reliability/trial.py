"""One trial: the user's handler in a fresh simulated account, through one schedule."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

from surehand.declare import Handler
from surehand.declare.tick import Tick
from surehand.states import State
from surehand.testing.account import Account
from surehand.testing.reliability.seen import fates_in, raised_in
from surehand.testing.reliability.strikes import Strike
from surehand.testing.reliability.variants import Variants
from surehand.testing.simulating import simulate
from surehand.testing.simulator import Message
from surehand.testing.simulator.timeline import START

#: Counts the effects by idempotency key, as the user's fake has seen them.
Effects = Callable[[], Mapping[str, int]] | Mapping[str, int]


class PromiseBroken(AssertionError):
    """A promise did not hold for the user's handler. The text says which, on what schedule, and what was seen."""


class SampleFails(PromiseBroken):
    """A payload does not succeed with nothing in the way, so nothing can be said of what disturbs it."""


@dataclass(slots=True)
class Trial:
    """What every schedule of one handler shares. *steps* tell the schedule that is being run.

    *spoilt*: the sample itself does not succeed.
    """

    handler: Handler[Any]
    variants: Variants
    effects: Effects | None = None
    reset: Callable[[], object] | None = None
    steps: list[str] = field(default_factory=list)
    folder: str = ""
    spoilt: bool = False

    def __post_init__(self) -> None:
        code = getattr(inspect.unwrap(self.handler.function), "__code__", None)
        self.folder = "" if code is None else str(Path(code.co_filename).parent)

    @property
    def sample(self) -> Any:
        """The user's own payload."""
        return self.variants.sample

    @contextmanager
    def account(self, *around: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[Account]:
        """Give a fresh account, the user's fake reset. *around* wrap the handler's function, the first one outermost.

        Whatever the protocol promises is checked when the body ends without an error.
        """
        if self.reset is not None:
            self.reset()
        self.steps.clear()
        function = self.handler.function
        for wrap in reversed(around):
            function = wrap(function)
        with patch.object(self.handler, "function", function), simulate(self.handler, start=self._start()) as account:
            yield account
            for broken in account.witness.at_rest():
                self.fail(broken.promise, broken.seen, account)

    def _start(self) -> datetime:
        """A tick is delivered when it is due, whenever the sample's moment is."""
        return self.sample.at.astimezone(UTC) if isinstance(self.sample, Tick) else START

    def seen(self) -> Counter[str]:
        """Return the effects counted so far, by key."""
        if self.effects is None:
            return Counter()
        return Counter(dict(self.effects() if callable(self.effects) else self.effects))

    def step(self, text: str) -> None:
        """Write down one step of the schedule, for the message of a broken promise."""
        self.steps.append(text)

    def fail(self, promise: str, seen: str, account: Account) -> None:
        """Say which promise broke, on which schedule.

        Raises:
            PromiseBroken: Always.
        """
        broken = f"handler '{self.handler.name}' breaks the promise: {promise}\nseen: {seen}"
        raised = "".join(f"\nraised: {one}" for one in raised_in(account))
        raise PromiseBroken(f"{broken}\n{self._course()}{raised}\n{fates_in(account)}")

    def _course(self) -> str:
        return "\n".join(["schedule:", *(f"  {number}. {step}" for number, step in enumerate(self.steps, 1))])

    # ---- what most schedules check ----------------------------------------------------------------------------------

    def check_ends(
        self,
        account: Account,
        payloads: Sequence[Any],
        expected: Mapping[str, int],
        *,
        times: int = 1,
        unknown: bool = False,
    ) -> None:
        """Check that the operations of *payloads* have succeeded with the *expected* effects.

        With *unknown* they may also be held, if the declaration says so of unknown effects; then an effect may be
        missing.
        """
        held = 0
        for payload in payloads:
            if unknown and self._held(account, payload):
                held += 1
            else:
                self.check_state(account, payload, State.SUCCEEDED)
        self.check_effects(account, expected, times=times, complete=not held)

    def _held(self, account: Account, payload: Any) -> bool:
        item = account.operation(self.handler, payload)
        failed = item is not None and item.state is State.PERMANENTLY_FAILED and item.code == "effect.unknown"
        return failed and self.handler.options.on_unknown != "retry"

    def check_state(self, account: Account, payload: Any, *states: State) -> None:
        """Check that the operation of *payload* has come to one of *states*."""
        item = account.operation(self.handler, payload)
        if item is None or item.state not in states:
            wanted = " or ".join(states)
            self.fail("every operation comes to the right end", f"{item and item.state} instead of {wanted}", account)

    def check_effects(
        self, account: Account, expected: Mapping[str, int], *, times: int = 1, complete: bool = True
    ) -> None:
        """Check that no effect has another key or came more than *times* as often as undisturbed.

        With *complete* each must have happened.
        """
        if self.effects is None:
            return
        seen = self.seen()
        if strange := seen.keys() - expected.keys():
            self.fail(
                "an effect keeps its idempotency key",
                f"{len(strange)} of {len(seen)} keys were never used in an undisturbed run. Make keys with job.key(…), "
                "and of nothing that differs from one attempt to the next",
                account,
            )
        missing = expected.keys() - seen.keys()
        if missing and complete:
            self.fail(
                "what is recorded as done is done",
                f"{len(missing)} of {len(expected)} effects never happened, and their operation has succeeded",
                account,
            )
        for key, count in seen.items():
            if count > expected[key] * times:
                self.fail(
                    "an effect is not repeated without need",
                    f"an effect happened {count} times, and {expected[key] * times} are explained",
                    account,
                )

    def undisturbed(self, *payloads: Any) -> Counter[str]:
        """Return the effects of one run of each payload with nothing in its way.

        Raises:
            SampleFails: One does not succeed.
            PromiseBroken: *effects* has counted nothing.
        """
        with self.account() as account:
            self.step("deliver, with nothing in the way")
            account.deliver(self.handler, *payloads)
            for payload in payloads:
                self._check_succeeds(account, payload)
        found = self.seen()
        if self.effects is not None and not found:
            self.fail("effects are counted", "the handler succeeded, and effects() counted nothing", account)
        return found

    def _check_succeeds(self, account: Account, payload: Any) -> None:
        item = account.operation(self.handler, payload)
        if item is not None and item.state is State.SUCCEEDED:
            return
        self.spoilt = self.spoilt or payload is self.sample
        which = "its sample" if payload is self.sample else "a payload made of its sample"
        why = "".join(f"; raised {one}" for one in raised_in(account))
        raise SampleFails(
            f"handler '{self.handler.name}': {which} does not succeed with nothing in the way{why}\n"
            f"seen: {item and item.state} instead of succeeded\n{self._course()}\n{fates_in(account)}"
        )

    def on_line(self, strike: Strike) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a wrapper that counts, and strikes, at the lines of the handler."""

        def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
            if self.handler.is_async:

                @wraps(function)
                async def awaited(*arguments: Any) -> Any:
                    with strike.watching():
                        return await function(*arguments)

                return awaited

            @wraps(function)
            def plain(*arguments: Any) -> Any:
                with strike.watching():
                    return function(*arguments)

            return plain

        return wrap


def replay(account: Account, handler: Handler[Any], chosen: Callable[[Message], bool]) -> int:
    """Send chosen dead letters to the handler's queue again and delete them, as the dead-letter commands do."""
    site = account.sites[handler.name]
    account.simulation.sleep(timedelta(minutes=1))  # nobody replays in the very moment of the failure
    moved = 0
    for message in site.dead_letters.messages:
        if chosen(message):
            fresh = account.simulation.chance.identifier() if site.queue.fifo else None
            site.queue.send(message.body, attributes=message.attributes, group=message.group, deduplication=fresh)
            site.dead_letters.remove(message)
            moved += 1
    account.drain()
    return moved
