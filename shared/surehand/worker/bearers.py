"""Which event bears an id that nobody signs: the same id over another event is a collision, which is told and counted.

The operation of such an event is named by a digest of what its signature covers, so a collision decides nothing: both
events run, each once. Were the id the key, whoever holds one captured request could send it under the id of an event
to come, which would then be refused. So the ledger only remembers, in a slot `[handler, tenant, ["!id", id]]`, whose id
it was first; which of two bearers is the genuine one nobody here can know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from surehand.ledger import Answer, Claimed, NotWritten, Operation, Unavailable, Write, slots, write_surely
from surehand.worker.plan import Step
from surehand.worker.ports import Ports
from surehand.worker.receive import Message, Notice, Refused


def compare_ids(steps: Sequence[Step], *, ports: Ports) -> list[Step]:
    """Return the steps with a notice at each message whose unsigned id was another operation's first.

    Where the ledger cannot tell, the notice says so. Without unsigned ids nothing is asked; with them it is one write.
    """
    first: dict[str, Operation] = {}
    for step in steps:
        operation = _operation(step)
        for one in step.all:
            if operation is not None and isinstance(one, Message) and one.unsigned is not None:
                first.setdefault(one.unsigned, operation)
    if not first:
        return list(steps)
    now = ports.clock.now()
    answers = _taken(first, ports, now)
    return [_noticed(step, first, answers, now) for step in steps]


def _taken(first: Mapping[str, Operation], ports: Ports, now: datetime) -> Mapping[str, Answer]:
    """Take the slot of each id for its first bearer in the batch; an expired one that still stands is taken over."""
    answers = _write([_take(None, slot, bearer, ports, now) for slot, bearer in first.items()], ports, now)
    expired = [
        _take(answer.existing, slot, first[slot], ports, now)
        for slot, answer in answers.items()
        if isinstance(answer, NotWritten) and answer.existing is not None and answer.existing.expired_at(now)
    ]
    return answers | _write(expired, ports, now)


def _write(writes: Sequence[Write], ports: Ports, now: datetime) -> dict[str, Answer]:
    answers = write_surely(ports.ledger, writes, now=now, in_time=_never) if writes else []
    return {write.operation.id: answer for write, answer in zip(writes, answers, strict=True)}


def _never() -> bool:
    """What is only told may cost the batch no second wait for a ledger that is away."""
    return False


def _take(previous: Operation | None, slot: str, bearer: Operation, ports: Ports, now: datetime) -> Write:
    return slots.take(previous, slot, bearer, until=now, now=now, retention=ports.retention)


def _noticed(step: Step, first: Mapping[str, Operation], answers: Mapping[str, Answer], now: datetime) -> Step:
    operation = _operation(step)
    if operation is None:
        return step

    def noticed(one: Message | Refused) -> Message | Refused:
        if not isinstance(one, Message) or one.unsigned is None:
            return one
        return replace(one, notice=_notice(operation, first[one.unsigned], answers[one.unsigned], now))

    return replace(step, message=noticed(step.message), copies=tuple(noticed(one) for one in step.copies))


def _notice(operation: Operation, first: Operation, answer: Answer, now: datetime) -> Notice | None:
    if isinstance(answer, Unavailable):
        return Notice("ledger.id_unchecked", answer.reason)
    if isinstance(answer, NotWritten):
        holder = slots.holder(answer.existing, now)
        if holder is None:
            return Notice("ledger.id_unchecked", "contended")
    else:
        holder = first.id
    return None if holder == operation.id else Notice("input.id_conflict", f"the id was first that of {holder}")


def _operation(step: Step) -> Operation | None:
    """The operation as the ledger showed it; None if it did not, and then the message comes again."""
    return step.answer.operation if isinstance(step.answer, Claimed) else step.answer.existing
