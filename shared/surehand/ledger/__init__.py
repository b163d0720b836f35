"""The ledger of operations: what is stored (`operation`), rules (`claims`, `holding`), round trips (`claiming`)."""

from surehand.ledger import slots
from surehand.ledger.claiming import claim, write_surely
from surehand.ledger.claims import (
    Candidate,
    Claimed,
    Lease,
    NotClaimed,
    Standing,
    Wanted,
    decide,
)
from surehand.ledger.cursors import Cursor, Cursors, NotHeld, RefusedWrites, Save, Saved, holds
from surehand.ledger.holding import extended, renewed, settle, started
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
    "Cursor",
    "Cursors",
    "Entry",
    "IllegalTransition",
    "Lease",
    "Ledger",
    "NotClaimed",
    "NotHeld",
    "NotWritten",
    "Operation",
    "RefusedWrites",
    "Save",
    "Saved",
    "Standing",
    "Unavailable",
    "Wanted",
    "Write",
    "Written",
    "claim",
    "decide",
    "extended",
    "holds",
    "is_own",
    "renewed",
    "settle",
    "slots",
    "started",
    "write_surely",
]
