"""A refused write whose answer does not show what stands in its way: it is looked up, since it may be our own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from surehand.errors import LedgerUnavailable
from surehand.ledger import NotWritten, Operation, Unavailable, Write, Written, write_surely
from surehand.states import State

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
MINE = Operation(
    id="o", handler="orders", tenant=None, state=State.LEASED, fence=1, owner="one", claimed_at=NOW, started_at=NOW,
    expires_at=NOW + timedelta(hours=1),
)  # fmt: skip
OTHERS = replace(MINE, owner="two")


class Mute:
    """Refuses without showing the item, which it then reads or cannot read."""

    def __init__(self, item: Operation | Exception | None) -> None:
        self.item = item

    def write(self, writes: Any, *, now: datetime) -> Any:
        return [NotWritten(None)] * len(writes)

    def read(self, ids: Any) -> dict[str, Operation]:
        if isinstance(self.item, Exception):
            raise self.item
        return {} if self.item is None else {self.item.id: self.item}


@pytest.mark.parametrize(
    ("item", "answer"),
    [
        (MINE, Written()),
        (OTHERS, NotWritten(OTHERS)),
        (None, NotWritten(None)),
        (LedgerUnavailable("Throttling"), Unavailable("Throttling")),
    ],
    ids=["our own", "another's", "nothing", "away"],
)
def test_a_refusal_that_shows_nothing_is_looked_up(item, answer) -> None:
    ledger: Any = Mute(item)
    assert write_surely(ledger, [Write(operation=MINE, previous=None)], now=NOW) == [answer]
