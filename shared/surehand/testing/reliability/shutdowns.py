"""Promises about the end of the process, at every point at which it can come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from surehand.testing.account import Account
from surehand.testing.reliability.strikes import Strike
from surehand.testing.reliability.trial import Trial
from surehand.testing.simulator import Crossing, Fault, Killed
from surehand.worker.conclusion import SoftDeadline

#: Of a handler with more lines than this, an even selection is tried.
MOST_LINES = 100


def killed_at_every_call(trial: Trial) -> None:
    """Kill the process before and after each call of ledger, queue and handler, and once the answer is given."""
    several = trial.handler.options.batch_size > 1
    payloads = (trial.sample, *trial.variants.neighbours[: int(several)])
    expected = trial.undisturbed(*payloads)
    with trial.account() as account:
        trial.step("deliver, with nothing in the way")
        account.simulation.crossings.record = []
        account.deliver(trial.handler, *payloads)
        points = len(account.simulation.crossings.record)
    for point in range(points):
        for fault in (Fault.KILL_BEFORE, Fault.KILL_AFTER):
            _kill_at_call(trial, payloads, expected, point, fault)


def _kill_at_call(trial: Trial, payloads: tuple[object, ...], expected: Counter[str], point: int, fault: Fault) -> None:
    with trial.account() as account:
        trial.step(f"deliver {len(payloads)} messages in one batch")

        def plan(crossing: Crossing) -> Fault | None:
            if crossing.index != point:
                return None
            trial.step(f"the process is {fault} {crossing.kind} {crossing.detail}".rstrip())
            return fault

        account.simulation.crossings.plan = plan
        account.deliver(trial.handler, *payloads)
        trial.step("SQS delivers again what was not acknowledged")
        trial.check_ends(account, payloads, expected, times=2, unknown=True)


def killed_at_every_line(trial: Trial) -> None:
    """Kill the process at each line of the handler's code."""
    expected = trial.undisturbed(trial.sample)
    for at in _lines(trial):
        strike = Strike(trial.folder, at)
        with trial.account(trial.on_line(strike)) as account:

            def die(account: Account = account) -> BaseException:
                invocation = account.simulation.crossings.invocation
                if invocation is not None:
                    invocation.kill()
                return Killed()

            strike.make = die
            trial.step("deliver the sample")
            account.deliver(trial.handler, trial.sample)
            trial.step(f"the process is killed before {strike.place}")
            trial.step("SQS delivers the message again")
            trial.check_ends(account, [trial.sample], expected, times=2, unknown=True)


def interrupted_at_every_line(trial: Trial) -> None:
    """Let the deadline come at each line of the handler's code."""
    expected = trial.undisturbed(trial.sample)
    for at in _lines(trial):
        strike = Strike(trial.folder, at, SoftDeadline)
        with trial.account(trial.on_line(strike)) as account:
            trial.step("deliver the sample")
            account.deliver(trial.handler, trial.sample)
            trial.step(f"the deadline interrupts the handler before {strike.place}")
            if strike.swallowed:
                seen = "the handler caught the interruption and returned. Let BaseException pass; catch Exception"
                trial.fail("the deadline ends a handler", seen, account)
            trial.step("it is tried again")
            trial.check_ends(account, [trial.sample], expected, times=2, unknown=True)


def _lines(trial: Trial) -> Iterator[int]:
    """Yield the numbers of the lines to strike at: all of one run, or an even selection."""
    counting = Strike(trial.folder)
    with trial.account(trial.on_line(counting)) as account:
        trial.step("deliver, with nothing in the way")
        account.deliver(trial.handler, trial.sample)
    step = max(1, -(-counting.lines // MOST_LINES))
    yield from range(0, counting.lines, step)
