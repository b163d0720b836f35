"""How a scan goes on, page by page: when it hands over, when its cursor clears a suspicion, and who may stop it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from surehand.ledger import Cursor, Operation, Save, Saved
from surehand.states import State
from surehand.testing import FakeClock, MemoryLedger
from surehand.testing.cursors import MemoryCursors
from surehand.worker.handing_over import HandOver, Superseded
from surehand.worker.scan import Scan
from tests.unit.operations import DAYS, HOUR, NOW, SECOND, an_operation

HELD = an_operation(State.LEASED, lease_until=NOW + HOUR)
WRITE: Mapping[str, Any] = {"Put": {"TableName": "pages", "Item": {}}}


class Cursors(MemoryCursors):
    """Counts the reads and keeps each save; *before* comes just before one, as another invocation would."""

    def __init__(self, ledger: MemoryLedger, before: Callable[[], object]) -> None:
        super().__init__(ledger)
        self.reads: list[str] = []
        self.saves: list[Save] = []
        self.before = before

    def read(self, operation: str, shard: str, *, now: datetime) -> Cursor | None:
        self.reads.append(shard)
        return super().read(operation, shard, now=now)

    def save(self, save: Save, *, now: datetime) -> Saved:
        self.before()
        self.saves.append(save)
        return super().save(save, now=now)


class Run:
    """A scan of a claimed operation, its clock and what it saves."""

    def __init__(
        self,
        claimed: Operation = HELD,
        *,
        left: timedelta = HOUR,
        reserve: timedelta = SECOND,
        before: Callable[[MemoryLedger], object] = lambda ledger: None,
    ) -> None:
        self.ledger = MemoryLedger()
        self.ledger.items[claimed.id] = claimed
        self.cursors = Cursors(self.ledger, lambda: before(self.ledger))
        self.clock = FakeClock(NOW)
        ports: Any = SimpleNamespace(cursors=self.cursors, clock=self.clock, retention=DAYS)
        self.scan = Scan(claimed, ports=ports, until=NOW + left, reserve=reserve)

    def page(self, text: str, *, takes: timedelta = timedelta(0), shard: str = "", writes: Any = ()) -> None:
        self.clock.advance(takes)
        self.scan.save(shard, text, writes)

    def hands_over(self, text: str, *, takes: timedelta) -> bool:
        try:
            self.page(text, takes=takes)
        except HandOver:
            return True
        return False


def test_a_save_says_under_which_claim_it_was_made_and_carries_the_handler_s_own_writes() -> None:
    run = Run()
    run.page("7", takes=SECOND, shard="a", writes=[WRITE])
    now = NOW + SECOND
    cursor = Cursor(operation="o", shard="a", value="7", fence=3, saved_at=now, expires_at=now + DAYS)
    assert run.cursors.saves == [Save(claimed=HELD, cursor=cursor, writes=[WRITE])]
    assert run.cursors.writes == [WRITE]


def test_a_shard_is_read_once_and_then_known() -> None:
    run = Run()
    assert run.scan.load("a") is None
    run.page("1", shard="a")
    run.page("2", shard="b")
    assert (run.scan.load("a"), run.scan.load("b"), run.scan.load("a")) == ("1", "2", "1")
    assert run.cursors.reads == ["a", "b"]


def test_a_cursor_has_moved_once_a_save_changed_it_and_stays_so() -> None:
    run = Run()
    moved = [run.scan.moved]
    for text in ("1", "1"):
        run.page(text)
        moved.append(run.scan.moved)
    assert moved == [False, True, True]
    unmoved = Run()
    unmoved.cursors.items["o", ""] = replace(run.cursors.saved[0])
    unmoved.page("1")
    assert not unmoved.scan.moved


@pytest.mark.parametrize(
    ("marks", "texts", "cleared"),
    [
        (0, ["1", "2"], [False, False]),
        (1, ["1", "2"], [True, False]),
        (2, ["0", "1", "2"], [False, True, False]),
        (1, ["0", "0"], [False, False]),
    ],
)
def test_the_first_save_that_moves_a_suspect_s_cursor_clears_the_suspicion_and_no_other(marks, texts, cleared) -> None:
    run = Run(replace(HELD, marks=marks))
    run.cursors.items["o", ""] = Cursor(
        operation="o", shard="", value="0", fence=2, saved_at=NOW, expires_at=NOW + DAYS
    )
    for text in texts:
        run.page(text)
    assert [save.cleared for save in run.cursors.saves] == cleared
    assert run.ledger.items["o"].marks == (0 if any(cleared) else marks)


@pytest.mark.parametrize(
    ("pages", "left_for_the_last", "over"),
    [
        ([2 * SECOND], 3 * SECOND, False),
        ([2 * SECOND], 3 * SECOND - timedelta.resolution, True),
        ([0 * SECOND], SECOND, False),
        ([0 * SECOND], SECOND - timedelta.resolution, True),
        ([9 * SECOND, 2 * SECOND], 3 * SECOND, False),
        ([9 * SECOND, 4 * SECOND, 2 * SECOND], 6 * SECOND, False),
        ([9 * SECOND, 4 * SECOND, 2 * SECOND], 6 * SECOND - timedelta.resolution, True),
        ([9 * SECOND, 2 * SECOND, 4 * SECOND], 6 * SECOND - timedelta.resolution, True),
    ],
)
def test_a_scan_hands_over_when_the_reserve_or_half_more_than_its_longest_page_is_not_left(
    pages, left_for_the_last, over
) -> None:
    """The first page counts while it is alone: it has the start in it."""
    run = Run(left=sum(pages, left_for_the_last))
    assert [run.hands_over(str(number), takes=takes) for number, takes in enumerate(pages)][-1] is over
    assert run.cursors.saved[-1].value == str(len(pages) - 1)


@pytest.mark.parametrize(
    ("existing", "leaves"),
    [
        ({"cancel_requested": True}, HandOver),
        ({"cancel_requested": True, "fence": 4}, Superseded),
        ({"cancel_requested": True, "owner": "two"}, Superseded),
        ({"fence": 4, "owner": "two"}, Superseded),
        (None, Superseded),
    ],
)
def test_only_a_cancel_of_the_own_claim_is_a_hand_over_and_all_else_another_s_claim(existing, leaves) -> None:
    def meanwhile(ledger: MemoryLedger) -> None:
        if existing is None:
            del ledger.items["o"]
        else:
            ledger.items["o"] = replace(HELD, **existing)

    run = Run(before=meanwhile)
    with pytest.raises(leaves) as left:
        run.page("1")
    if leaves is Superseded:
        assert left.value.existing == run.ledger.items.get("o")
    assert run.cursors.saved == []
