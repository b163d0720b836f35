"""Promises about failing: passing failures, lasting ones, bad neighbours and replays."""

from __future__ import annotations

from surehand.outcomes import Reject, Retry
from surehand.states import State
from surehand.testing.reliability.faults import first_runs
from surehand.testing.reliability.trial import Trial, replay
from surehand.testing.simulator import Message


def passing_before(trial: Trial) -> None:
    """The first attempt fails before anything has happened."""
    _passing(
        trial, "the first attempt fails before the handler's code runs", times=1, before=Retry("provider.simulated")
    )


def passing_after(trial: Trial) -> None:
    """The first attempt fails after everything has happened: the provider's answer was lost."""
    _passing(
        trial, "the first attempt fails after the handler has returned", times=2, after=Retry("provider.simulated")
    )


def _passing(trial: Trial, text: str, *, times: int, before: Retry | None = None, after: Retry | None = None) -> None:
    expected = trial.undisturbed(trial.sample)
    with trial.account(first_runs(trial.handler, 1, before=before, after=after)) as account:
        trial.step("deliver the sample")
        trial.step(text)
        trial.step("it is tried again after the backoff")
        account.deliver(trial.handler, trial.sample)
        trial.check_ends(account, [trial.sample], expected, times=times)


def lasting(trial: Trial) -> None:
    """A rejected message runs once, waits in the dead-letter queue, and gets a real attempt when it is redriven."""
    expected = trial.undisturbed(trial.sample)
    with trial.account(first_runs(trial.handler, 1, before=Reject("data.simulated"))) as account:
        trial.step("deliver the sample; it is rejected before the handler's code runs")
        account.deliver(trial.handler, trial.sample)
        trial.check_state(account, trial.sample, State.PERMANENTLY_FAILED)
        site = account.sites[trial.handler.name]
        runs = sum(runs.started for runs in account.witness.runs.values())
        if (len(site.dead_letters), runs) != (1, 1):
            seen = f"{len(site.dead_letters)} dead letters and {runs} runs instead of one each"
            trial.fail("a permanent failure runs once and is kept", seen, account)
        trial.step("redrive the dead letter from the console")
        account.redrive(trial.handler)
        trial.check_ends(account, [trial.sample], expected)


def in_one_batch(trial: Trial) -> None:
    """One bad message of a batch stops nobody else's work."""
    neighbours = trial.variants.neighbours
    expected = trial.undisturbed(*neighbours)
    bad = trial.handler.identify(trial.sample, trial.handler.payload.dump(trial.sample)).operation
    with trial.account(first_runs(trial.handler, 1, before=Reject("data.simulated"), only=bad)) as account:
        trial.step(f"deliver the sample and {len(neighbours)} others in one batch; the sample is rejected")
        account.deliver(trial.handler, trial.sample, *neighbours)
        trial.check_state(account, trial.sample, State.PERMANENTLY_FAILED)
        trial.check_ends(account, neighbours, expected)


def bounded_replay(trial: Trial) -> None:
    """A replay of some dead letters runs those and no others; repeating it changes nothing."""
    everything = (trial.sample, *trial.variants.neighbours)
    expected = trial.undisturbed(trial.sample)
    with trial.account(first_runs(trial.handler, 1, before=Reject("data.simulated"))) as account:
        trial.step(f"deliver the sample and {len(everything) - 1} others; all are rejected")
        account.deliver(trial.handler, *everything)
        wanted = account.operation(trial.handler, trial.sample)

        def chosen(message: Message) -> bool:
            return wanted is not None and account.witness.operation_of(trial.handler, message) == wanted.id

        trial.step("replay the sample's dead letter alone")
        moved = replay(account, trial.handler, chosen)
        trial.step("replay it once more")
        again = replay(account, trial.handler, chosen)
        left = len(account.sites[trial.handler.name].dead_letters)
        if (moved, again, left) != (1, 0, len(everything) - 1):
            trial.fail("a replay moves what was chosen", f"moved {moved}, then {again}, {left} left", account)
        trial.check_ends(account, [trial.sample], expected)
