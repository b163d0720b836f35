"""What an operation's history says of its earlier runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from surehand.ledger import Entry
from surehand.outcomes import Outcome
from surehand.states import State


def cut_short(history: Sequence[Entry], *, marked: bool) -> bool:
    """Tell whether an earlier run ended without an outcome, so that its effect may or may not have happened.

    *marked*: each run is announced before it begins (P5), so a claim that lapsed without that did not run.
    """
    return any(entry.note == Outcome.UNKNOWN.value for entry in history) or any(
        entry.note == "takeover" and (not marked or before.state is State.PROCESSING)
        for before, entry in pairwise(history)
    )
