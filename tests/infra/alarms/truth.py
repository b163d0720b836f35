"""The truth table: for each incident and handler, which alarms told whom, how soon, over many seeds."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tests.infra.alarms.evaluator import Alarms, notifications, states
from tests.infra.alarms.incidents import Incident, Watched, simulate

#: Alarms that name a cause. The others (tickets) may come with any of them.
CAUSES = ("provider-outage", "code-regression", "data-repair", "poison", "backlog", "stuck", "ledger-throttled")


@dataclass(frozen=True, slots=True)
class Judged:
    """One incident over all seeds: minutes until its cause was told, where it was, and how often others were."""

    incident: Incident
    watched: Watched
    seeds: int
    minutes: tuple[int, ...]
    others: Counter[str]

    @property
    def typical(self) -> float | None:
        """The median, None when the cause was never told."""
        return statistics.median(self.minutes) if self.minutes else None


def judge(incident: Incident, watched: Watched, alarms: Alarms, seeds: Iterable[int]) -> Judged:
    """Simulate *incident* with each seed and listen to the alarms."""
    minutes: list[int] = []
    others: Counter[str] = Counter()
    seeds = list(seeds)
    for seed in seeds:
        first = told(incident, watched, alarms, seed)
        if incident.cause and incident.cause in first:
            minutes.append(first.pop(incident.cause))
        others.update(first.keys())
    return Judged(incident, watched, len(seeds), tuple(minutes), others)


def told(incident: Incident, watched: Watched, alarms: Alarms, seed: int) -> dict[str, int]:
    """The causes that were told, each with the minute (from the incident's beginning) of its first notification."""
    recorded = simulate(incident, watched, seed)
    service = watched.names.table.removesuffix("-ledger")
    mine = alarms.starting_with(f"{watched.names.function}-", f"{service}-ledger-")
    first: dict[str, int] = {}
    for notification in notifications(mine, states(mine, recorded)):
        cause = notification.alarm.removeprefix(f"{watched.names.function}-").removeprefix(f"{service}-")
        # At the beginning there is no history yet, so heartbeats and long windows mean nothing there.
        if cause in CAUSES and notification.minute >= watched.before - 10:
            first.setdefault(cause, notification.minute - watched.before)
    return first
