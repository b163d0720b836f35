"""Run every schedule on both sides; the table, the JSON and the page of it."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.versus.powertools_side import powertools_place
from bench.versus.schedule import Schedule, Verdict
from bench.versus.schedules import SCHEDULES
from bench.versus.surehand_side import surehand_place


@dataclass(frozen=True, slots=True)
class Row:
    """One schedule with what became of it on either side."""

    schedule: Schedule
    powertools: Verdict
    surehand: Verdict

    def as_json(self) -> str:
        """Return one line of JSON."""
        told = {
            "schedule": self.schedule.name,
            "happens": self.schedule.happens,
            "must_hold": self.schedule.must_hold,
            "powertools": {"held": self.powertools.held, "saw": self.powertools.saw},
            "surehand": {"held": self.surehand.held, "saw": self.surehand.saw},
        }
        if self.schedule.note:
            told["note"] = self.schedule.note
        return json.dumps(told, ensure_ascii=False)

    def as_text(self) -> str:
        """Return one line for a reader."""
        return f"{self.schedule.name:<28} {_said(self.powertools):<76} {_said(self.surehand)}"


def play(names: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the row of each schedule, or of the named ones."""
    logging.getLogger("aws_lambda_powertools").setLevel(logging.CRITICAL)
    for schedule in SCHEDULES:
        if names and schedule.name not in names:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with powertools_place() as place:
                powertools = schedule.run(place)
        with surehand_place() as place:
            surehand = schedule.run(place)
        yield Row(schedule, powertools, surehand)


def _said(verdict: Verdict) -> str:
    return f"{'✓' if verdict.held else '✗'} {verdict.saw}"
