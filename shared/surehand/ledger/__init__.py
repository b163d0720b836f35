"""The ledger of operations: what is stored (`operation`), the rules (`claims`), the round trips (`claiming`)."""

from surehand.ledger.claiming import claim, write_surely
from surehand.ledger.claims import (
    Candidate,
    Claimed,
    Lease,
    NotClaimed,
    Standing,
    Wanted,
    decide,
    extended,
    renewed,
    settle,
    started,
)
from surehand.ledger.operation import (
    Answer,
    Entry,
    IllegalTransition,
    Ledger,
    NotWritten,
    Operation,
    Unavailable,
    Write,
    Written,
    is_own,
)

__all__ = [
    "Answer",
    "Candidate",
    "Claimed",
    "Entry",
    "IllegalTransition",
    "Lease",
    "Ledger",
    "NotClaimed",
    "NotWritten",
    "Operation",
    "Standing",
    "Unavailable",
    "Wanted",
    "Write",
    "Written",
    "claim",
    "decide",
    "extended",
    "is_own",
    "renewed",
    "settle",
    "started",
    "write_surely",
]
