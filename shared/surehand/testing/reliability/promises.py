"""The list of promises that a suite checks, as sentences, and what each needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from surehand.testing.reliability import duplicates, failures, shutdowns
from surehand.testing.reliability.trial import Trial


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise: its sentence, its check, and why it may not apply to a trial (None: it does)."""

    sentence: str
    check: Callable[[Trial], None]
    missing: Callable[[Trial], str | None] = lambda _: None


def _elsewhere(trial: Trial) -> str | None:
    if trial.handler.options.tenant is None:
        return "no tenant is declared"
    return None if trial.variants.elsewhere is not None else "no other tenant could be made of the sample"


def _changed(trial: Trial) -> str | None:
    return None if trial.variants.changed is not None else "the sample has no content beside its key"


def _neighbours(trial: Trial) -> str | None:
    if trial.handler.options.batch_size == 1:
        return "its batches have one message"
    return None if trial.variants.neighbours else "no other key could be made of the sample"


def _retries(trial: Trial) -> str | None:
    return None if trial.handler.options.max_attempts > 1 else "max_attempts is 1"


PROMISES = (
    Promise("a duplicate has no second effect", duplicates.one_after_another),
    Promise("a duplicate that comes meanwhile has no second effect", duplicates.at_the_same_time),
    Promise("a duplicate after a crash keeps the effect's key", duplicates.after_a_crash),
    Promise("a duplicate after a redrive has no second effect", duplicates.after_a_redrive),
    Promise("another tenant's work is its own", duplicates.of_another_tenant, _elsewhere),
    Promise("other content under the same key is refused", duplicates.with_other_content, _changed),
    Promise("a failure before the effect is tried again", failures.passing_before, _retries),
    Promise("a failure after the effect is tried again under the same key", failures.passing_after, _retries),
    Promise("a permanent failure runs once and can be redriven", failures.lasting),
    Promise("a bad message stops no other of its batch", failures.in_one_batch, _neighbours),
    Promise("a replay runs what was chosen and nothing else", failures.bounded_replay, _neighbours),
    Promise("a process killed at any call loses nothing", shutdowns.killed_at_every_call),
    Promise("a process killed at any line of the handler loses nothing", shutdowns.killed_at_every_line),
    Promise("a deadline at any line of the handler loses nothing", shutdowns.interrupted_at_every_line, _retries),
)
