"""Each incident is told by its cause, in time, and by no other; on seeds that nobody tuned for."""

from __future__ import annotations

import os

import pytest

from tests.infra.alarms.document import JUDGED_ON, PAGE, RIGHT, TUNED_ON, allowed, cases, foot, head, row
from tests.infra.alarms.evaluator import Alarms
from tests.infra.alarms.incidents import Incident, Watched
from tests.infra.alarms.truth import Judged, judge
from tests.infra.alarms.watched_service import WATCHED

pytestmark = pytest.mark.infra

WRITING = bool(os.environ.get("SUREHAND_WRITE_DOCS"))

CASES = list(cases())
every_case = pytest.mark.parametrize(
    ("incident", "watched"), CASES, ids=[f"{incident.name}-{watched.kind}" for incident, watched in CASES]
)
_judged: dict[tuple[str, str], Judged] = {}


def judged(incident: Incident, watched: Watched, alarms: Alarms) -> Judged:
    """Computed once: two promises and the page are about it."""
    key = incident.name, watched.kind
    if key not in _judged:
        _judged[key] = judge(incident, watched, alarms, JUDGED_ON[watched.kind])
    return _judged[key]


@every_case
def test_an_incident_is_told_by_its_cause_in_time_and_by_no_other(incident: Incident, watched: Watched, alarms: Alarms):
    found = judged(incident, watched, alarms)
    minutes = allowed(incident, WATCHED.index(watched)) or 0
    right = RIGHT[watched.kind] * found.seeds

    assert found.seeds - found.others.total() >= right, found.others
    if incident.cause:
        assert sum(minute <= minutes for minute in found.minutes) >= right, found.minutes


@every_case
def test_the_page_has_the_row_that_was_computed(incident: Incident, watched: Watched, alarms: Alarms):
    line = row(judged(incident, watched, alarms))

    assert WRITING or line in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_page_has_no_other_rows_and_says_how_they_came_about(alarms: Alarms):
    if WRITING:
        rows = [row(judged(incident, watched, alarms)) for incident, watched in CASES]
        PAGE.write_text(head() + "\n".join(rows) + "\n" + foot(), encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")

    assert text.startswith(head())
    assert text.endswith(foot())
    assert len(text.removeprefix(head()).removesuffix(foot()).splitlines()) == len(CASES)


def test_no_seed_that_was_tuned_on_is_judged():
    assert not set(TUNED_ON) & {seed for seeds in JUDGED_ON.values() for seed in seeds}


def test_every_cause_has_an_incident_that_it_tells():
    assert {incident.cause for incident, _ in CASES} - {""} == {
        "provider-outage", "code-regression", "data-repair", "poison", "backlog", "stuck", "ledger-throttled",
    }  # fmt: skip


def test_an_alarm_that_is_taken_away_is_missed(alarms: Alarms):
    """The table is no tautology: without its signal, POISON is not told."""
    incident, watched = next((i, w) for i, w in CASES if i.cause == "poison" and w.kind == "busy")
    deaf = Alarms(
        metric={
            name: {**properties, "Threshold": 10_000} if name.endswith("busy-dlq-arrivals") else properties
            for name, properties in alarms.metric.items()
        },
        composite=alarms.composite,
    )

    assert judge(incident, watched, deaf, [1000]).minutes == ()


def test_a_cause_without_its_suppressor_is_told_beside_the_larger_one(alarms: Alarms):
    """The suppressor in the template does what it is there for."""
    incident, watched = next((i, w) for i, w in CASES if i.name.startswith("code regression") and w.kind == "busy")
    loud = Alarms(
        metric=alarms.metric,
        composite={
            name: {k: v for k, v in properties.items() if not k.startswith("ActionsSuppressor")}
            for name, properties in alarms.composite.items()
        },
    )

    assert "poison" in judge(incident, watched, loud, [1000]).others
