"""The numbers of a local run."""

from __future__ import annotations

import dataclasses
import json

import pytest

from surehand_cli.local.observation import Recorded
from surehand_cli.local.progress import Track
from surehand_cli.local.report import Report, report
from surehand_cli.local.samples import Effects, Fate, Sample, Sent
from tests.ops.local.test_progress import delivered


def track(title: str, outcome: str | None, *, expected: Fate, state: str = "succeeded", dead: bool = False) -> Track:
    sample = Sample(title=title, handler="orders", send=lambda _: Sent(), fate=expected)
    deliveries = [] if outcome is None else [delivered(outcome)]
    recorded = Recorded(state=state)
    return Track(sample=sample, sent=Sent(), handler="orders", deliveries=deliveries, recorded=recorded, dead=dead)


GOOD = (
    track("a", "succeeded", expected=Fate.SUCCEEDED),
    track("b", "already_applied", expected=Fate.ALREADY_APPLIED),
    track("c", "canceled", expected=Fate.CANCELED, state="canceled"),
    track("d", "rejected", expected=Fate.DEAD_LETTERED, dead=True),
)
LOST = track("e", None, expected=Fate.SUCCEEDED)
STRANGER = Track(sample=None, sent=Sent(message_id="x"), handler="orders")


def counted(*tracks: Track, effects: int = 1, duplicated: int = 0, out_of_order: int = 0) -> Report:
    happened = Effects(total=effects, duplicated=duplicated, out_of_order=out_of_order)
    return report(tracks, happened, expected_effects=1, seconds=1.25)


def test_what_is_sent_is_what_has_met_one_of_five_fates() -> None:
    done = counted(*GOOD, LOST, STRANGER)

    fates = (done.succeeded, done.already_applied, done.canceled, done.dead_lettered, done.lost)
    assert fates == (1, 1, 1, 1, 1)
    assert done.sent == sum(fates)


def test_a_run_is_good_when_everything_went_as_expected() -> None:
    assert counted(*GOOD).good


@pytest.mark.parametrize(
    "done",
    [
        counted(*GOOD, LOST),
        counted(track("f", "canceled", expected=Fate.SUCCEEDED)),
        counted(*GOOD, effects=2),
        counted(*GOOD, effects=0),
        counted(*GOOD, duplicated=1),
        counted(*GOOD, out_of_order=1),
    ],
    ids=["lost", "another fate", "an effect too many", "an effect too few", "a duplicate", "out of order"],
)
def test_a_run_is_not_good_with_one_flaw(done: Report) -> None:
    assert not done.good


def test_samples_with_another_fate_are_named() -> None:
    assert counted(*GOOD, LOST).unexpected == ["e"]


def test_the_report_is_json() -> None:
    done = counted(*GOOD)

    assert json.loads(json.dumps(done.as_json())) == dataclasses.asdict(done)


def test_what_ends_at_the_door_is_counted_by_status_and_is_no_message() -> None:
    forged = Track(
        sample=Sample(title="f", handler="stripe", send=lambda _: Sent(), fate=Fate.REFUSED, status=401),
        sent=Sent(status=401),
        handler="stripe",
    )
    done = counted(*GOOD, forged)

    assert (done.sent, done.lost, done.requests, done.good) == (4, 0, {"401": 1}, True)


def test_a_forged_request_that_was_let_in_is_not_good() -> None:
    forged = Track(
        sample=Sample(title="f", handler="stripe", send=lambda _: Sent(), fate=Fate.REFUSED, status=401),
        sent=Sent(status=200),
        handler="stripe",
    )
    assert counted(*GOOD, forged).unexpected == ["f"]
