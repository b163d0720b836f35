"""What the history of an operation says of runs that ended without an outcome."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from surehand.ledger import Entry
from surehand.states import State
from surehand.worker.past import cut_short

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def entry(state: State, note: str | None = None) -> Entry:
    return Entry(state=state, at=NOW, fence=1, attempt=1, note=note)


CLAIMED, RUNNING, AGAIN = entry(State.LEASED), entry(State.PROCESSING), entry(State.LEASED, "takeover")
FAILED, UNKNOWN = entry(State.RETRYABLE_FAILED), entry(State.RETRYABLE_FAILED, "unknown")
UNSTARTED, REDRIVEN = entry(State.PENDING, "unstarted"), entry(State.LEASED, "redrive")


@pytest.mark.parametrize(
    ("history", "marked", "unmarked"),
    [
        ([], False, False),
        ([CLAIMED], False, False),
        ([CLAIMED, FAILED, CLAIMED, UNSTARTED, REDRIVEN], False, False),
        ([CLAIMED, RUNNING, FAILED], False, False),
        ([CLAIMED, UNKNOWN, CLAIMED, FAILED, CLAIMED], True, True),
        ([CLAIMED, RUNNING, AGAIN, FAILED, CLAIMED], True, True),
        ([CLAIMED, AGAIN], False, True),
        ([CLAIMED, AGAIN, RUNNING], False, True),
        ([CLAIMED, RUNNING, REDRIVEN, AGAIN], False, True),
    ],
)
def test_a_run_was_cut_short_if_its_outcome_is_unknown_or_its_claim_was_taken_over_after_it_had_begun(
    history, marked, unmarked
) -> None:
    """Where each run is announced before it begins, a claim that was taken over without that did not run."""
    assert (cut_short(history, marked=True), cut_short(history, marked=False)) == (marked, unmarked)
