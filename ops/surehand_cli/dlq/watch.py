"""Watching in the ledger what becomes of letters that were moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from surehand.ledger import Ledger, Operation
from surehand_cli.account.waiting import Waiting
from surehand_cli.dlq.breaker import Breaker
from surehand_cli.dlq.known import NO_OPS
from surehand_cli.dlq.outcome import Outcome, outcome, records_of
from surehand_cli.dlq.progress import Became, Mail, Step
from surehand_cli.dlq.record import Record

#: Between two looks; the wait doubles up to the longest while nothing changes.
_FIRST, _LONGEST = timedelta(seconds=0.5), timedelta(seconds=5)
#: Letters that one look asks about, the oldest first.
_AT_ONCE = 50
#: Between two looks while letters are being moved.
_BETWEEN = timedelta(seconds=1)


class Watch:
    """Asks the ledger about letters, and writes what it learns into the journal.

    Without a ledger to ask, a letter that was moved has simply been moved.
    """

    def __init__(self, ledger: Ledger | None, record: Record, *, breaker: Breaker, waiting: Waiting) -> None:
        self._ledger = ledger
        self._record = record
        self._breaker = breaker
        self._waiting = waiting
        self._next = waiting.now()

    def look(self) -> int:
        """Ask about some letters whose outcome is open, once a second at most; return of how many it changed.

        Raises:
            LedgerUnavailable: The ledger could not be read.
        """
        now = self._waiting.now()
        if now < self._next:
            return 0
        self._next = now + _BETWEEN
        return self._ask(self._record.progress.unsettled(_AT_ONCE))

    def look_at_gone(self) -> None:
        """Ask about letters that were not in the queue any more: most often another run has moved them.

        Raises:
            LedgerUnavailable: The ledger could not be read.
        """
        gone = [mail for mail in self._record.progress.mail.values() if mail.step is Step.GONE and mail.became is None]
        if self._ledger is not None:
            self._ask(gone)

    def until_known(
        self,
        ids: Sequence[str],
        patience: timedelta,
        *,
        renew: Callable[[], None] = lambda: None,
        report: Callable[[], None] = lambda: None,
    ) -> int:
        """Wait until something is known of each letter, and return of how many it is.

        Raises:
            LedgerUnavailable: The ledger could not be read.
        """
        mail = self._record.progress.mail
        self._wait(lambda: [mail[one] for one in ids if mail[one].became is None], patience, renew=renew, report=report)
        return sum(mail[one].became is not None for one in ids)

    def until_settled(self, patience: timedelta, *, report: Callable[[], None] = lambda: None) -> None:
        """Wait until every letter that was moved has its final outcome.

        Raises:
            LedgerUnavailable: The ledger could not be read.
        """
        self._wait(self._record.progress.unsettled, patience, report=report)

    def _wait(
        self,
        open_: Callable[[], list[Mail]],
        patience: timedelta,
        *,
        renew: Callable[[], None] = lambda: None,
        report: Callable[[], None] = lambda: None,
    ) -> None:
        until = self._waiting.now() + patience
        pause = _FIRST
        while (left := open_()) and not self._waiting.stopped:
            if self._ask(left):
                pause, until = _FIRST, self._waiting.now() + patience
                report()
                continue
            if self._waiting.now() >= until:
                return
            self._waiting.wait(pause)
            pause = min(pause * 2, _LONGEST)
            renew()

    def _ask(self, open_: Sequence[Mail]) -> int:
        changed = 0
        for start in range(0, len(open_), _AT_ONCE):
            part = open_[start : start + _AT_ONCE]
            ids = list(dict.fromkeys(one for mail in part for one in records_of(mail)))
            records = self._ledger.read(ids) if self._ledger is not None and ids else {}
            for mail in part:
                said = outcome(mail, records) if self._ledger is not None else Outcome(Became.MOVED)
                if said is not None:
                    changed += self._learn(mail, said.became, said.record)
        return changed

    def _learn(self, mail: Mail, became: Became, known: Operation | None) -> int:
        if mail.became is became:
            return 0
        before = mail.became
        self._record.write(
            "outcome",
            id=mail.planned.id,
            became=became.value,
            code=known.code if known is not None else None,
            state=known.state.value if known is not None else None,
            attempts=known.attempts if known is not None else None,
            version=known.version if known is not None else None,
        )
        if before is None and mail.step is not Step.GONE and mail.planned.verdict not in NO_OPS:
            self._breaker.outcome(failed=became in (Became.FAILED, Became.RETRYING))
        return 1
