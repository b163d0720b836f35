"""The schedules run on both sides, and the verdicts are those of the page."""

from __future__ import annotations

import json
import re

import pytest

from bench.__main__ import main
from bench.versus import page
from bench.versus.schedule import Verdict
from bench.versus.schedules import SCHEDULES
from bench.versus.surehand_side import surehand_place
from bench.versus.table import Row, play

BY_NAME = {schedule.name: schedule for schedule in SCHEDULES}
CONCEDED = {"dying machines"}


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in CONCEDED])
def test_surehand_holds_the_schedule(name: str) -> None:
    with surehand_place() as place:
        verdict = BY_NAME[name].run(place)
    assert verdict.held, verdict.saw


def test_what_is_conceded_is_said_with_its_reason() -> None:
    assert {schedule.name for schedule in SCHEDULES if schedule.conceded} == CONCEDED
    (row,) = play(["dying machines"])
    assert (row.surehand.held, row.powertools.held) == (False, True)
    assert row.schedule.note


@pytest.mark.parametrize("name", ["poison", "large result", "reply lost"])
def test_a_schedule_that_the_peer_loses_is_lost_here_too(name: str) -> None:
    (row,) = play([name])
    assert not row.powertools.held


def test_a_row_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["versus", "--only", "duplicate", "--json"]) == 0
    (told,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert told["schedule"] == "duplicate"
    assert told["surehand"] == {"held": True, "saw": "1 charge, no message left over"}


def test_the_page_counts_what_it_shows() -> None:
    won, lost = Verdict(True, "one charge"), Verdict(False, "two charges")
    text = page.page([Row(SCHEDULES[0], won, won), Row(SCHEDULES[1], lost, won)])
    assert "surehand holds all of them" in text
    assert re.search(r"holds 1 of them", text)
    assert text.count("✗ two charges") == 1


def test_the_page_in_docs_tells_every_schedule() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert [name for name in BY_NAME if f"| **{name}**" not in text] == []
