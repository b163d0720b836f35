"""A frozen plan: which letters, where to, how; and a digest, so that what runs is what was approved."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from surehand_cli.dlq.known import Known, Verdict
from surehand_cli.dlq.snapshot import private
from surehand_cli.problem import Problem, Refusal

FORMAT = 1
#: A plan is good for so long; later the queue has changed too much for an approval to mean anything.
VALID = timedelta(hours=24)

Action = Literal["redrive", "park", "purge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One letter of a plan, as it stood when the plan was made.

    *to* is the ARN that it goes to (None: deleted). *aside* says that it is not meant and is parked, because it stands
    before a letter of its FIFO group that is.
    """

    id: str
    sha256: str
    sent_at: str
    to: str | None
    verdict: str
    group: str | None = None
    operation: str | None = None
    handler: str | None = None
    tenant: str | None = None
    code: str | None = None
    state: str | None = None
    attempts: int | None = None
    version: str | None = None
    aside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one run shall do.

    *queue* is the dead-letter queue's ARN, *left_out* counts letters that the selector meant and that stay where they
    are, by reason. *options* are those of the run (rate, canary, …).
    """

    action: Action
    stage: str
    service: str
    queue: str
    url: str
    destinations: Mapping[str, str]
    selector: Mapping[str, Any]
    options: Mapping[str, Any]
    actor: str
    created_at: str
    expires_at: str
    snapshot: Mapping[str, Any]
    letters: tuple[Planned, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that the plan says."""
        return hashlib.sha256(canonical(self.content()).encode()).hexdigest()

    @property
    def fifo(self) -> bool:
        """Whether the queue is FIFO."""
        return self.queue.endswith(".fifo")

    @property
    def name(self) -> str:
        """The dead-letter queue's name."""
        return self.queue.rpartition(":")[2]

    def content(self) -> dict[str, Any]:
        """Return the plan as JSON has it, without its digest."""
        return {"plan": FORMAT, **asdict(self), "letters": [_short(asdict(one)) for one in self.letters]}

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many letters there are by code, tenant and verdict."""
        return {
            what: dict(Counter(str(getattr(one, what) or "–") for one in self.letters).most_common())
            for what in ("code", "tenant", "verdict")
        }

    def expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        return now >= datetime.fromisoformat(self.expires_at)


def canonical(value: object) -> str:
    """Return JSON text that is equal for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def planned(known: Known, *, to: str | None, aside: bool = False) -> Planned:
    """Return a letter as a plan has it."""
    operation = known.operation
    return Planned(
        id=known.letter.message_id,
        sha256=known.letter.sha256,
        sent_at=known.letter.sent_at.isoformat(timespec="milliseconds"),
        to=to,
        verdict=known.verdict.value,
        group=known.letter.group,
        operation=known.operation_id,
        handler=known.identified.handler if known.identified is not None else None,
        tenant=known.tenant,
        code=known.code,
        state=known.state,
        attempts=operation.attempts if operation is not None else None,
        version=operation.version if operation is not None else None,
        aside=aside,
    )


def leaves_out(known: Known, *, action: Action, include_held: bool) -> str | None:
    """Return why a plan leaves a letter where it is although the selector means it, or None.

    A purge may take anything; parking only changes the place.
    """
    if action != "redrive":
        return None
    if known.verdict is Verdict.HELD and not include_held:
        return "held: nobody knows whether its effect happened (surehand ledger resolve)"
    if known.verdict is Verdict.IN_PROGRESS:
        return "in progress under another message"
    return None


def save(plan: Plan, path: Path) -> None:
    """Write a plan with its digest, readable by its owner only.

    Raises:
        Problem: It cannot be written.
    """
    text = json.dumps({**plan.content(), "digest": plan.digest}, indent=1, ensure_ascii=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w", encoding="utf-8", opener=private) as file:
            file.write(text + "\n")
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error


def load(path: Path) -> Plan:
    """Read a plan.

    Raises:
        Problem: It cannot be read or is none.
        Refusal: It is not as it was written.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        digest = content.pop("digest")
        if content.pop("plan") != FORMAT:
            raise Problem(f"{path} is no plan of format {FORMAT}")
        letters = tuple(Planned(**one) for one in content.pop("letters"))
        plan = Plan(letters=letters, **content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Problem(f"{path} cannot be read as a plan: {type(error).__name__}") from error
    if plan.digest != digest:
        raise Refusal(f"{path} was changed after it was made; make a new plan")
    return plan


def changed(plan: Plan, present: Mapping[str, Known], now: datetime) -> Sequence[str]:
    """Return what has changed since the plan was made, in a way that makes its approval void.

    That an operation has succeeded or was canceled meanwhile only makes its letter a no-op, and that the ledger was
    told of the dead letter is our own doing.
    """
    found: Counter[str] = Counter()
    for one in plan.letters:
        known = present.get(one.id)
        if known is None or known.operation is None or one.verdict == Verdict.CONFLICT:
            continue
        operation = known.operation
        if known.verdict in (Verdict.APPLIED, Verdict.CANCELED):
            continue
        if operation.leased_at(now):
            found["is being processed under another message"] += 1
        elif operation.code != one.code and one.state is not None:
            found[f"failed with {operation.code or 'no code'} instead of {one.code or 'no code'}"] += 1
        elif one.attempts is not None and operation.attempts != one.attempts:
            found["was attempted again"] += 1
    return [f"{count} operations: {what}" for what, count in found.most_common()]


def _short(letter: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in letter.items() if value not in (None, False) or name == "to"}
