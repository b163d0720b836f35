"""A run: canaries, a ramp, the rest; watched in the ledger, stopped when failures come back.

The same function begins a run and resumes one. Every time it begins with a canary for each failure code that is still
to be moved, since whatever stopped the last time may still be so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from botocore.exceptions import BotoCoreError, ClientError

from surehand.errors import LedgerUnavailable
from surehand.ledger import Ledger
from surehand_cli.account.session import explained
from surehand_cli.account.waiting import Waiting
from surehand_cli.dlq.breaker import Breaker
from surehand_cli.dlq.moving import CALL, Mover
from surehand_cli.dlq.pace import STAGES, stages
from surehand_cli.dlq.progress import Became, Mail, Step
from surehand_cli.dlq.record import Record
from surehand_cli.dlq.watch import Watch

#: A stage has passed when of so many of its letters the outcome is known.
_KNOWN = 0.9


class Ending(StrEnum):
    """Why a run ended."""

    DONE = "done"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """How closely outcomes are watched. *patience* bounds each wait for them; None: they are not watched at all."""

    patience: timedelta | None
    stages: tuple[int, ...] = STAGES
    brake: Callable[[], str | None] = lambda: None


class Run:
    """Executes one plan, as far as its journal says that it is not executed yet."""

    def __init__(
        self,
        mover: Mover,
        record: Record,
        *,
        ledger: Ledger | None,
        breaker: Breaker,
        watching: Watching,
        waiting: Waiting,
        report: Callable[[Record], None] = lambda _: None,
    ) -> None:
        self._mover = mover
        self._record = record
        self._breaker = breaker
        self._watching = watching
        self._waiting = waiting
        self._report = report
        self._watch = Watch(ledger, record, breaker=breaker, waiting=waiting)
        self._passed: set[str] = set()
        self._stop: str | None = None

    def execute(self) -> tuple[Ending, str | None]:
        """Move what is to be moved, and write how it ended; return why it ended and the reason in words.

        Raises:
            OSError: The journal cannot be written; nothing was moved on its account.
        """
        ending, why = Ending.DONE, None
        try:
            self._all()
            if self._stop is None and not self._waiting.stopped:
                self._settle_missing()
            self._mover.release()
            self._watch.look_at_gone()
            self._watch.until_settled(self._patience, report=self._told)
        except (ClientError, BotoCoreError, LedgerUnavailable) as error:
            said = f"the ledger cannot be read: {error}" if isinstance(error, LedgerUnavailable) else explained(error)
            ending, why = Ending.BROKEN, said
            self._let_go()
        if self._waiting.stopped:
            ending, why = Ending.INTERRUPTED, "interrupted"
        elif self._stop is not None or self._breaker.open is not None:
            ending, why = Ending.STOPPED, self._stop or self._breaker.open
        self._record.write("end", ending=ending.value, why=why, counts=dict(self._record.progress.counts()))
        return ending, why

    @property
    def _patience(self) -> timedelta:
        return self._watching.patience or timedelta(0)

    def _all(self) -> None:
        while not self._halted():
            moved = self._canaries()
            if self._halted():
                return
            moved += self._ramp()
            if moved == 0 or not self._record.progress.open:
                return

    def _halted(self) -> bool:
        if self._stop is None and self._breaker.open is None:
            self._stop = self._watching.brake()
        return self._stop is not None or self._breaker.open is not None or self._waiting.stopped

    def _canaries(self) -> int:
        """Send one letter of each failure code that has not been tried in this run, and wait for their outcomes."""
        if self._watching.patience is None:
            self._passed |= {_kind(mail) for mail in self._record.progress.mail.values()}
            return 0
        sent = []
        for kind in self._untried():
            before = self._sent()
            if self._mover.move(1, wanted=lambda mail, kind=kind: _kind(mail) == kind, canary=True):  # type: ignore[misc]
                sent += [one for one in self._sent() if one not in before]
            self._told()
            if self._halted():
                break
        if not sent:
            return 0
        self._watch.until_known(sent, self._patience, renew=self._mover.renew, report=self._told)
        mail = self._record.progress.mail
        for one in sent:
            self._judge(mail[one])
        return len(sent)

    def _judge(self, canary: Mail) -> None:
        if canary.became in (Became.FAILED, Became.RETRYING):
            self._stop = self._stop or f"the canary for {_kind(canary)} failed again ({canary.code or 'no code'})"
        elif canary.became is None and not self._waiting.stopped:
            self._stop = self._stop or (
                f"nothing is known of the canary for {_kind(canary)} after {self._patience.total_seconds():.0f} s; "
                "is the function running?"
            )
        else:
            self._passed.add(_kind(canary))

    def _ramp(self) -> int:
        """Move what has a canary: few, then more, then the rest in small parts; look between."""
        total = 0
        sizes = self._watching.stages if self._watching.patience is not None else ()
        for index, size in enumerate(stages(len(self._record.progress.open), sizes)):
            last = index >= len(sizes)
            before = set(self._sent())
            moved = self._part(size, watched=last)
            total += moved
            if moved < size or self._halted():
                break
            if not last:
                self._pass_stage([one for one in self._sent() if one not in before])
                if self._halted():
                    break
        return total

    def _part(self, size: int, *, watched: bool) -> int:
        """Move *size* letters, by tens, so that the breaker, the brake and the person see what goes on."""
        total = 0
        while total < size and not self._halted():
            moved = self._mover.move(min(CALL, size - total), wanted=self._may_go)
            total += moved
            if watched and self._watching.patience is not None:
                self._watch.look()
            self._told()
            if moved == 0:
                break
        return total

    def _may_go(self, mail: Mail) -> bool:
        return mail.planned.aside or _kind(mail) in self._passed or mail.planned.to is None

    def _pass_stage(self, ids: list[str]) -> None:
        known = self._watch.until_known(ids, self._patience, renew=self._mover.renew, report=self._told)
        if known < _KNOWN * len(ids) and not self._waiting.stopped:
            self._stop = self._stop or (
                f"of {len(ids)} letters only {known} have an outcome after {self._patience.total_seconds():.0f} s"
            )

    def _untried(self) -> list[str]:
        mail = self._record.progress.mail
        kinds = dict.fromkeys(_kind(mail[one]) for one in mail if one in self._record.progress.open)
        return [kind for kind in kinds if kind not in self._passed and kind != _ASIDE]

    def _settle_missing(self) -> None:
        """What was to be found and was not: sent letters have been deleted, the others are gone."""
        if self._mover.blocked:
            return
        mail = self._record.progress.mail
        missing = sorted(one for one in self._record.progress.open if mail[one].step is not Step.SENT)
        deleted = sorted(one for one in self._record.progress.open if mail[one].step is Step.SENT)
        if deleted:
            self._record.write("deleted", ids=deleted)
        if missing and self._mover.exhausted:
            self._record.write("gone", ids=missing)

    def _sent(self) -> list[str]:
        return [one for one, mail in self._record.progress.mail.items() if mail.sent_at is not None]

    def _let_go(self) -> None:
        try:
            self._mover.release()
        except (ClientError, BotoCoreError):
            return  # what is held comes back by itself when its visibility ends

    def _told(self) -> None:
        self._report(self._record)


def _kind(mail: Mail) -> str:
    """What a canary stands for: the failure code. What is parked on the way needs none."""
    return _ASIDE if mail.planned.aside else mail.planned.code or "no code"


_ASIDE = "aside"
