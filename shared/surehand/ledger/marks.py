"""Marks: what an operation remembers of processes that died while they held it (P3), and what that says (P5)."""

from __future__ import annotations

from surehand.ledger.operation import Operation
from surehand.states import HELD, State

#: An expired lease makes an operation a suspect.
SUSPECT = 1
#: A suspect whose process died twice more while it ran alone is poison.
POISON = 3


def marks_of(known: Operation) -> int:
    """Return an operation's marks once its lease has ended.

    A lapsed lease makes a suspect; a lapsed `processing` is a confirmed crash (P3).
    """
    if known.state not in HELD:
        return known.marks
    suspected = max(known.marks, SUSPECT)
    return suspected + 1 if known.state is State.PROCESSING else suspected


def marks_at_claim(known: Operation, *, redrive: bool, decides: bool) -> int:
    """Return the marks with which an operation is claimed.

    A redrive starts afresh, unless nobody has decided yet about a run whose end is unknown: where a policy *decides*
    about such runs (P5), those marks stay. If the redrive found a lapsed lease it may be a producer's duplicate as
    well (P1), and the marks stay whatever the policy is. Both are short of poison, so that it gets an attempt.
    """
    marks = marks_of(known)
    if not redrive:
        return marks
    kept = known.state in HELD or (decides and marks > SUSPECT)
    return min(marks, POISON - 1) if kept else 0


def may_have_run(existing: Operation) -> bool:
    """Tell whether a run may have had an effect of which nobody has decided yet what became of it (P5)."""
    return marks_of(existing) > SUSPECT or existing.code == "effect.unanswered"
