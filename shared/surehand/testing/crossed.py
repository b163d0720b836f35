"""The in-memory ledger as an invocation meets it: each call takes time, may fail, and may be the last."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from surehand.errors import LedgerUnavailable
from surehand.ledger import Answer, Ledger, Operation, Unavailable, Write
from surehand.testing.simulator import Crossings


class CrossedLedger:
    """A `Ledger` around another one, whose every call is a crossing of the running invocation.

    A refused write leaves the ledger as it is, and one whose reply is lost has been made; the caller cannot tell.
    """

    def __init__(self, inner: Ledger, crossings: Crossings) -> None:
        self._inner = inner
        self._crossings = crossings

    def read(self, ids: Sequence[str]) -> dict[str, Operation]:
        """See `Ledger.read`."""
        with self._crossings.cross("ledger.read", error=lambda: LedgerUnavailable("ThrottlingException")):
            return self._inner.read(ids)

    def write(self, writes: Sequence[Write], *, now: datetime) -> Sequence[Answer]:
        """See `Ledger.write`."""
        detail = ", ".join(write.operation.state for write in writes)
        try:
            with self._crossings.cross("ledger.write", detail, error=TimeoutError):
                return self._inner.write(writes, now=now)
        except TimeoutError:
            return [Unavailable("ReadTimeoutError")] * len(writes)
