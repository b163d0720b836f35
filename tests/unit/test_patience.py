"""How long a batch waits for bodies that are stored beside the queue."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from surehand.webhooks.ports import Stored
from surehand.worker.patience import NotFetched, Patient

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
WHERE = Stored(bucket="bodies", key="k")


class Storage:
    """Answers after so many seconds, with a body or an error; its clock is the batch's."""

    def __init__(self, *, takes: timedelta, error: Exception | None = None) -> None:
        self.moment = NOW
        self.asked = 0
        self.takes = takes
        self.error = error

    def now(self) -> datetime:
        return self.moment

    def fetch(self, where: Stored) -> bytes:
        assert where is WHERE
        self.asked += 1
        self.moment += self.takes
        if self.error is not None:
            raise self.error
        return b"body"


def asked_four_times(storage: Storage) -> list[object]:
    fetch = Patient(storage.fetch, clock=storage, until=NOW + 10 * SECOND)
    came: list[object] = []
    for _ in range(4):
        try:
            came.append(fetch(WHERE))
        except (TimeoutError, NotFetched) as error:
            came.append(type(error))
    return came


@pytest.mark.parametrize(
    ("takes", "error", "came"),
    [
        (0 * SECOND, None, [b"body"] * 4),
        (SECOND, TimeoutError(), [TimeoutError, NotFetched, NotFetched, NotFetched]),
        (SECOND * 0.9, TimeoutError(), [TimeoutError] * 4),
        (5 * SECOND, None, [b"body", b"body", NotFetched, NotFetched]),
    ],
    ids=["quick", "does not answer", "refuses", "slow"],
)
def test_bodies_are_asked_for_until_the_time_is_over_or_the_storage_does_not_answer(takes, error, came) -> None:
    storage = Storage(takes=takes, error=error)
    assert asked_four_times(storage) == came
    assert storage.asked == 4 - came.count(NotFetched)


def test_a_fetch_that_goes_on_too_long_is_interrupted() -> None:
    storage = Storage(takes=SECOND)

    def silent(_: Stored) -> bytes:
        time.sleep(5)
        return b""

    fetch = Patient(silent, clock=storage, until=NOW + SECOND / 10)
    began = time.monotonic()
    with pytest.raises(NotFetched):
        fetch(WHERE)
    assert time.monotonic() - began < 4
