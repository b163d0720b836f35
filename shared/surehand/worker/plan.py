"""Phase claim: which operations a batch is about, and in which order they are run.

The same operation twice in a batch is claimed once and runs once: its messages are copies that share the fate. A
message that is refused before its operation is known has a record of its own, under its message id, so that every
dead letter has its reason; that record is claimed and settled like an operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from surehand.declare import Handler, rejection_id
from surehand.declare.limits import LEASE_MARGIN
from surehand.delivery import Delivery
from surehand.ledger import Candidate, Claimed, NotClaimed, Operation, Standing, Wanted, claim
from surehand.ledger.claims import Lease
from surehand.worker.ports import Invocation, Ports
from surehand.worker.receive import Message, Refused

#: When a message was sent whose record does not say it: before every claim, so that it never counts as a redrive.
_NEVER = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operation of the batch: the message that stands for it, its copies and the ledger's answer."""

    message: Message | Refused
    copies: tuple[Message | Refused, ...] = ()
    answer: Claimed | NotClaimed

    @property
    def index(self) -> int:
        """The place of its earliest message in the event."""
        return min(one.index for one in self.all)

    @property
    def suspect(self) -> bool:
        """Whether a process has died while it held this operation."""
        return isinstance(self.answer, Claimed) and self.answer.suspect

    @property
    def all(self) -> tuple[Message | Refused, ...]:
        """The message and its copies."""
        return (self.message, *self.copies)


@dataclass(slots=True)
class _Group:
    """Messages of one operation that agree on the payload, waiting to be claimed."""

    messages: list[Message | Refused]

    def fits(self, message: Message) -> bool:
        known = {digest for one in self.messages if isinstance(one, Message) for digest in one.identity.fingerprints}
        return bool(known & set(message.identity.fingerprints))


def claim_batch(
    handler: Handler[Any], received: Sequence[Message | Refused], *, invocation: Invocation, ports: Ports
) -> list[Step]:
    """Claim every operation of the batch in as few round trips as possible, and return the steps in queue order."""
    lease = Lease(
        owner=invocation.owner,
        until=invocation.deadline + LEASE_MARGIN,
        retention=ports.retention,
        give_up_after=handler.options.give_up_after,
        decides=handler.options.on_unknown != "retry",
        version=ports.version,
    )
    waiting = _grouped(handler, received)
    steps: list[Step] = []
    while waiting:
        groups = [line.pop(0) for line in waiting.values()]
        wanted = [_wanted(handler, group) for group in groups]
        answers = claim(ports.ledger, wanted, lease=lease, now=ports.clock.now())
        followers: dict[str, list[_Group]] = {}
        for one, group, answer in zip(wanted, groups, answers, strict=True):
            rest = waiting.pop(one.id)
            conflict = isinstance(answer, NotClaimed) and answer.standing is Standing.KEY_CONFLICT
            # A refusal whose record is taken has no other place to go: refused again, it would come back for ever.
            if conflict and any(isinstance(message, Message) for message in group.messages):
                _refuse(handler, group.messages, followers)
                if rest:
                    followers.setdefault(one.id, []).extend(rest)
                continue
            step = _step(group.messages, answer)
            for other in rest:
                step = _join(handler, step, other, followers)
            steps.append(step)
        waiting = followers
    return sorted(steps, key=lambda step: step.index)


def ordered(steps: Sequence[Step], *, fifo: bool) -> list[Step]:
    """Return the steps in the order in which they run.

    On FIFO suspects keep their place (P4). On a standard queue they run last, those with the fewest marks first, so
    that bystanders of a crash are saved with the fewest receives (P3).
    """
    if fifo:
        return list(steps)
    return sorted(steps, key=lambda step: step.answer.operation.marks if isinstance(step.answer, Claimed) else 0)


def _grouped(handler: Handler[Any], received: Sequence[Message | Refused]) -> dict[str, list[_Group]]:
    waiting: dict[str, list[_Group]] = {}
    for message in received:
        if isinstance(message, Refused):
            line = waiting.setdefault(rejection_id(handler.name, message.delivery.message_id), [])
            fitting = line[0] if line else None
        else:
            line = waiting.setdefault(message.identity.operation, [])
            fitting = next((group for group in line if group.fits(message)), None)
        if fitting is None:
            line.append(_Group([message]))
        else:
            fitting.messages.append(message)
    return waiting


def _wanted(handler: Handler[Any], group: _Group) -> Wanted:
    first = group.messages[0]
    deliveries = [message.delivery for message in group.messages]
    seen = any(delivery.receive_count > 1 for delivery in deliveries)
    if isinstance(first, Refused):
        delivery = first.delivery
        sent_at = delivery.sent_at if isinstance(delivery, Delivery) else _NEVER
        return Wanted(
            id=rejection_id(handler.name, delivery.message_id),
            handler=handler.name,
            tenant=None,
            candidates=(Candidate(delivery.message_id, sent_at),),
            fingerprints=(),
            seen_before=seen,
        )
    candidates = {
        delivery.message_id: Candidate(delivery.message_id, delivery.first_sent_at, delivery.origin)
        for delivery in deliveries
        if isinstance(delivery, Delivery)
    }
    return Wanted(
        id=first.identity.operation,
        handler=handler.name,
        tenant=first.identity.tenant,
        candidates=tuple(candidates.values()),
        fingerprints=first.identity.fingerprints,
        seen_before=seen,
    )


def _step(messages: Sequence[Message | Refused], answer: Claimed | NotClaimed) -> Step:
    """The message that the claim was made for stands for the operation; the others are its copies."""
    chosen = messages[0]
    if isinstance(answer, Claimed):
        chosen = next((one for one in messages if one.delivery.message_id == answer.message_id), chosen)
    return Step(message=chosen, copies=tuple(one for one in messages if one is not chosen), answer=answer)


def _join(handler: Handler[Any], step: Step, other: _Group, followers: dict[str, list[_Group]]) -> Step:
    """Another payload under the key that was just answered: a copy after all, or a conflict."""
    known = step.answer.operation if isinstance(step.answer, Claimed) else step.answer.existing
    if _agrees(known, other.messages):
        return replace(step, copies=(*step.copies, *other.messages))
    if known is None:  # the ledger is away: nothing is known, so nothing may be refused
        return replace(step, copies=(*step.copies, *other.messages))
    _refuse(handler, other.messages, followers)
    return step


def _agrees(known: Operation | None, messages: Iterable[Message | Refused]) -> bool:
    digests = {digest for one in messages if isinstance(one, Message) for digest in one.identity.fingerprints}
    return known is not None and (not known.fingerprints or bool(digests & set(known.fingerprints)))


def _refuse(handler: Handler[Any], messages: Iterable[Message | Refused], followers: dict[str, list[_Group]]) -> None:
    """Turn messages whose key is taken by another payload into refusals with a record each."""
    for message in messages:
        refused = (
            Refused(
                index=message.index,
                delivery=message.delivery,
                phase="claim",
                code="input.conflict",
                detail=message.identity.operation,
            )
            if isinstance(message, Message)
            else message
        )
        line = followers.setdefault(rejection_id(handler.name, message.delivery.message_id), [])
        if line:
            line[0].messages.append(refused)
        else:
            line.append(_Group([refused]))
