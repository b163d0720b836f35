"""Promises about one piece of work that arrives more than once, and about work that only looks like it."""

from __future__ import annotations

from datetime import timedelta

from surehand.outcomes import Reject
from surehand.states import State
from surehand.testing.reliability.faults import first_runs
from surehand.testing.reliability.trial import Trial
from surehand.testing.simulator import Crossing, Fault, StandardQueue

#: How long the first run is held up while its duplicate arrives.
_MEANWHILE = timedelta(seconds=1)


def one_after_another(trial: Trial) -> None:
    """The producer sends it again; SQS delivers a deleted message once more."""
    expected = trial.undisturbed(trial.sample)
    with trial.account() as account:
        trial.step("deliver the sample")
        account.deliver(trial.handler, trial.sample)
        trial.step("the producer sends it again")
        account.deliver(trial.handler, trial.sample)
        queue = account.sites[trial.handler.name].queue
        sent = account.simulation.trail.of("sent")
        if isinstance(queue, StandardQueue) and sent:
            trial.step("SQS delivers the deleted message once more")
            queue.deliver_again(sent[0].which)
            account.drain()
        trial.check_ends(account, [trial.sample], expected)


def at_the_same_time(trial: Trial) -> None:
    """The duplicate arrives while the first one's outcome is not yet recorded."""
    expected = trial.undisturbed(trial.sample)
    with trial.account() as account:
        held_up: list[Crossing] = []

        def plan(crossing: Crossing) -> Fault | None:
            if State.SUCCEEDED in crossing.detail and not held_up:
                held_up.append(crossing)
                account.send(trial.handler, trial.sample)
                account.simulation.sleep(_MEANWHILE)
            return None

        account.simulation.crossings.plan = plan
        trial.step("deliver the sample")
        trial.step("before its outcome is recorded, a duplicate arrives in another invocation")
        account.deliver(trial.handler, trial.sample)
        trial.check_ends(account, [trial.sample], expected)


def after_a_crash(trial: Trial) -> None:
    """The first run died after its effect; message and duplicate come when its lease has ended."""
    expected = trial.undisturbed(trial.sample)
    with trial.account() as account:
        killed: list[Crossing] = []

        def plan(crossing: Crossing) -> Fault | None:
            if crossing.kind != "handler" or killed:
                return None
            killed.append(crossing)
            return Fault.KILL_AFTER

        account.simulation.crossings.plan = plan
        trial.step("deliver the sample and a duplicate of it")
        trial.step("the process is killed after the handler has returned and before that is recorded")
        trial.step("when the lease has ended, both are delivered again")
        account.deliver(trial.handler, trial.sample, trial.sample)
        trial.check_ends(account, [trial.sample], expected, times=2, unknown=True)


def after_a_redrive(trial: Trial) -> None:
    """The redriven dead letter succeeds, and then a duplicate comes."""
    expected = trial.undisturbed(trial.sample)
    with trial.account(first_runs(trial.handler, 1, before=Reject("data.simulated"))) as account:
        trial.step("deliver the sample; it is rejected before the handler runs")
        account.deliver(trial.handler, trial.sample)
        trial.step("redrive the dead letter from the console")
        account.redrive(trial.handler)
        trial.step("the producer sends it again")
        account.deliver(trial.handler, trial.sample)
        trial.check_ends(account, [trial.sample], expected)


def of_another_tenant(trial: Trial) -> None:
    """The same key of another tenant is other work."""
    expected = trial.undisturbed(trial.sample)
    with trial.account() as account:
        trial.step("deliver the sample")
        trial.step("deliver the same key for another tenant")
        account.deliver(trial.handler, trial.sample, trial.variants.elsewhere)
        for payload in (trial.sample, trial.variants.elsewhere):
            trial.check_state(account, payload, State.SUCCEEDED)
        seen = trial.seen()
        repeated = [key for key in expected if seen[key] > expected[key]]
        if trial.effects is not None and (repeated or not seen.keys() - expected.keys()):
            trial.fail("another tenant's work is its own", "both tenants' effects had the same key", account)


def with_other_content(trial: Trial) -> None:
    """The same key with other content is a conflict: it becomes a dead letter and has no effect."""
    expected = trial.undisturbed(trial.sample)
    with trial.account() as account:
        trial.step("deliver the sample")
        account.deliver(trial.handler, trial.sample)
        trial.step("deliver other content under the same key")
        account.deliver(trial.handler, trial.variants.changed)
        trial.check_ends(account, [trial.sample], expected)
        letters = len(account.sites[trial.handler.name].dead_letters)
        if letters != 1:
            trial.fail("other content under the same key is refused", f"{letters} dead letters instead of 1", account)
