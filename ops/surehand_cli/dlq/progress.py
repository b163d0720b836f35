"""How far a run has come: its plan, and the journal's entries applied to it one by one.

The same function applies an entry when it is written and when it is read again, so a resumed run knows exactly what
the first one knew.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from surehand_cli.dlq.journal import Entry
from surehand_cli.dlq.plan import Plan, Planned


class Step(StrEnum):
    """How far a letter has come."""

    PLANNED = "planned"
    #: It was about to be sent; if nothing follows, nobody knows whether it was.
    SENDING = "sending"
    #: The destination has it; it may still be in the dead-letter queue too.
    SENT = "sent"
    #: It has left the dead-letter queue.
    DELETED = "deleted"
    #: SQS, or a check, did not take it. It is where it was.
    REFUSED = "refused"
    #: It was not in the dead-letter queue any more.
    GONE = "gone"


#: Steps after which a letter needs no further move in this run.
DONE = frozenset({Step.DELETED, Step.REFUSED, Step.GONE})


class Became(StrEnum):
    """What became of a letter that was moved, by the ledger."""

    SUCCEEDED = "succeeded"
    ALREADY_APPLIED = "already_applied"
    CANCELED = "canceled"
    FAILED = "failed"
    #: An attempt has failed and another one is due.
    RETRYING = "retrying"
    #: It was moved, and nobody can say more: parked, purged, or of no declared handler.
    MOVED = "moved"


#: What needs no further looking at.
SETTLED = frozenset(Became) - {Became.RETRYING}
GOOD = frozenset({Became.SUCCEEDED, Became.ALREADY_APPLIED, Became.CANCELED, Became.MOVED})


@dataclass(slots=True)
class Mail:
    """A planned letter under way."""

    planned: Planned
    step: Step = Step.PLANNED
    new_id: str | None = None
    begun_at: str | None = None
    sent_at: str | None = None
    canary: bool = False
    became: Became | None = None
    code: str | None = None
    state: str | None = None
    attempts: int | None = None
    version: str | None = None
    why: str | None = None


@dataclass(slots=True)
class Progress:
    """All letters of a run by message id, and who ran it when. *open* are those that are still to be moved."""

    plan: Plan
    mail: dict[str, Mail] = field(default_factory=dict)
    begun: list[Entry] = field(default_factory=list)
    ended: list[Entry] = field(default_factory=list)
    last_at: str | None = None
    open: set[str] = field(default_factory=set)
    _unsettled: dict[str, Mail] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, entries: Iterable[Entry] = ()) -> Progress:
        """Return the progress of a plan after these entries of its journal."""
        progress = cls(plan, {one.id: Mail(one) for one in plan.letters})
        progress.open = set(progress.mail)
        for entry in entries:
            progress.apply(entry)
        return progress

    def apply(self, entry: Entry) -> None:
        """Take note of an entry."""
        self.last_at = str(entry["at"])
        kind = entry["kind"]
        if kind in ("begin", "resume"):
            self.begun.append(entry)
        elif kind == "end":
            self.ended.append(entry)
        elif kind == "sending":
            for letter in entry["ids"]:
                self.mail[letter].step, self.mail[letter].begun_at = Step.SENDING, str(entry["at"])
                self.mail[letter].canary = self.mail[letter].canary or bool(entry.get("canary"))
        elif kind == "sent":
            for letter, new_id in entry["moves"].items():
                mail = self.mail[letter]
                mail.step, mail.new_id, mail.sent_at = Step.SENT, new_id, str(entry["at"])
                self._unsettled[letter] = mail
        elif kind in ("deleted", "gone"):
            for letter in entry["ids"]:
                self.mail[letter].step = Step.DELETED if kind == "deleted" else Step.GONE
            self.open.difference_update(entry["ids"])
        elif kind == "refused":
            for letter, why in entry["ids"].items():
                self.mail[letter].step, self.mail[letter].why = Step.REFUSED, why
            self.open.difference_update(entry["ids"])
        elif kind == "outcome":
            self._outcome(entry)

    def unsettled(self, most: int | None = None) -> list[Mail]:
        """Return letters that were sent and whose outcome is not final yet, the oldest first."""
        return list(itertools.islice(self._unsettled.values(), most))

    def counts(self) -> Counter[str]:
        """Return how many letters came to what: an outcome, or else the step they are at."""
        return Counter(fate(mail) for mail in self.mail.values())

    def _outcome(self, entry: Entry) -> None:
        mail = self.mail[str(entry["id"])]
        mail.became = Became(entry["became"])
        mail.code, mail.state = entry.get("code"), entry.get("state")
        mail.attempts, mail.version = entry.get("attempts"), entry.get("version")
        if mail.became in SETTLED:
            self._unsettled.pop(mail.planned.id, None)


def fate(mail: Mail) -> str:
    """Name what came of a letter in one word."""
    if mail.became is not None:
        return mail.became.value
    return {
        Step.PLANNED: "not moved",
        Step.SENDING: "perhaps moved",
        Step.SENT: "no outcome yet",
        Step.DELETED: "no outcome yet",
        Step.REFUSED: "refused",
        Step.GONE: "missing",
    }[mail.step]
