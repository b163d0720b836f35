"""Waiting without end on a standard queue: a message whose receives run out is sent again, then acknowledged (P7).

Deferring burns receives, not attempts, and SQS counts receives. So before they are spent the message is *renewed*: a
copy with the same body, attributes and a mark of its origin is sent, and only when SQS has accepted it is the old one
acknowledged. A crash between the two leaves a duplicate that the ledger absorbs.

Lambda's loop detection stops the 17th invocation of one chain of sends
(https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html), so a message is renewed at most 15 times, and
the waits between grow with each renewal: 15 renewals outlast any `give_up_after`. FIFO cannot renew: the copy would
queue behind its followers. There a message waits by visibility alone, up to 12 hours a receive, and its waits grow so
that the receives it has left outlast `give_up_after`, less those that its followers need for their attempts: each of
its own counts for them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from surehand.declare import Handler, max_receive_count
from surehand.declare.derived import longest_wait
from surehand.declare.limits import LONGEST_DELAY
from surehand.delivery import RENEWALS, Delivery
from surehand.outcomes import Outcome
from surehand.queues import Outgoing
from surehand.worker.endings import Ending
from surehand.worker.kept import last_moment
from surehand.worker.ports import Ports

#: AWS stops the 17th hop; one is the producer's and one is kept for a redrive.
MOST_RENEWALS = 15
#: Receives kept for the fast-forward and one fault of the ledger.
_KEPT = 2
#: The shortest wait of a renewed message; it doubles with each renewal up to the longest.
_FIRST, _LONGEST = timedelta(seconds=30), timedelta(hours=4)
#: SQS: attributes of one message.
_MOST_ATTRIBUTES = 10

#: Outcomes that wait without consuming an attempt.
WAITING = frozenset({
    Outcome.DEFERRED, Outcome.CONTINUED, Outcome.IN_PROGRESS, Outcome.UNSTARTED, Outcome.UNCLAIMED,
})  # fmt: skip


def renew(handler: Handler[Any], endings: Sequence[Ending], *, ports: Ports) -> list[Ending]:
    """Renew the messages whose receives would run out while they wait, and return their new endings."""
    now = ports.clock.now()
    slowed = [_slowed(handler, ending, _kept_back(handler, ending, endings), now) for ending in endings]
    due = [ending for ending in slowed if _due(handler, ending)]
    changed = [new for new, old in zip(slowed, endings, strict=True) if new is not old]
    if not due:
        return changed
    copies = [_copy(ending.delivery, ending.wait, now=now) for ending in due if isinstance(ending.delivery, Delivery)]
    refused = {one.index for one in ports.queues.send(handler.name, copies)}
    done = [replace(ending, outcome=Outcome.RENEWED) for index, ending in enumerate(due) if index not in refused]
    return [*changed, *done]


def floor(renewals: int) -> timedelta:
    """Return the shortest wait of a message that has been renewed that often."""
    doublings: int = 2 ** min(renewals, 16)
    return min(_LONGEST, _FIRST * doublings) if renewals else timedelta(0)


def spread(receives: int, *, waited: timedelta, left: timedelta, longest: timedelta) -> timedelta:
    """Return the shortest wait where nothing is renewed: so many receives must last for the time left.

    Each is longer in proportion; and never so short that those behind it, none beyond *longest*, cannot last.
    """
    if receives <= 1 or left <= timedelta(0):
        return max(timedelta(0), left)
    waited = max(waited, _FIRST)
    growth: float = ((waited + left) / waited) ** (1 / receives)
    return max(waited * (growth - 1), left - (receives - 1) * longest)


def _slowed(handler: Handler[Any], ending: Ending, kept_back: int, now: datetime) -> Ending:
    delivery = ending.delivery
    if ending.outcome is not Outcome.DEFERRED or not isinstance(delivery, Delivery):
        return ending
    least = _least(handler, ending, delivery, kept_back, now)
    return ending if ending.wait is not None and ending.wait >= least else replace(ending, wait=least)


def _least(handler: Handler[Any], ending: Ending, delivery: Delivery, kept_back: int, now: datetime) -> timedelta:
    """Return the shortest wait of a deferred message: its receives and renewals must outlast the time left."""
    operation, least = ending.operation, floor(delivery.renewals)
    if operation is None:
        return least
    waited, longest = now - operation.started_at, longest_wait(handler)
    left = handler.options.give_up_after - waited
    spare = _spare(handler, ending) - kept_back
    if _renewable(handler, delivery):
        each = max_receive_count(handler) - handler.options.max_attempts + operation.attempts - _KEPT
        waits = spare + each * (MOST_RENEWALS - delivery.renewals)
        least = max(least, left - waits * longest)
    else:
        least = max(least, spread(spare, waited=waited, left=left, longest=longest))
    last = last_moment(handler, [delivery])
    return least if last is None else max(timedelta(0), min(least, left, last - now))


def _due(handler: Handler[Any], ending: Ending) -> bool:
    delivery = ending.delivery
    if ending.outcome not in WAITING or not isinstance(delivery, Delivery) or not _renewable(handler, delivery):
        return False
    return _spare(handler, ending) < 0


def _renewable(handler: Handler[Any], delivery: Delivery) -> bool:
    if handler.options.fifo or delivery.renewals >= MOST_RENEWALS:
        return False
    return len(delivery.raw_attributes) < _MOST_ATTRIBUTES or RENEWALS in delivery.raw_attributes


def _spare(handler: Handler[Any], ending: Ending) -> int:
    """Return how many receives are left for waiting, beside those that the attempts need."""
    attempts = ending.operation.attempts if ending.operation is not None else 0
    needed = handler.options.max_attempts - attempts + _KEPT
    return max_receive_count(handler) - ending.delivery.receive_count - needed


def _kept_back(handler: Handler[Any], ending: Ending, endings: Sequence[Ending]) -> int:
    """Return how many receives those need that wait behind it in its FIFO group: its own count for them too (P4)."""
    if not handler.options.fifo or ending.outcome is not Outcome.DEFERRED:
        return 0
    behind = sum(
        one.index > ending.index and one.outcome in WAITING and one.delivery.group == ending.delivery.group
        for one in endings
    )
    return behind * handler.options.max_attempts


def _copy(delivery: Delivery, wait: timedelta | None, *, now: datetime) -> Outgoing:
    attributes = {name: _wire(value) for name, value in delivery.raw_attributes.items()}
    stamps = (int(moment.timestamp() * 1000) for moment in (now, delivery.first_sent_at))
    mark = "/".join(map(str, (delivery.renewals + 1, delivery.origin, *stamps)))
    attributes[RENEWALS] = {"DataType": "String", "StringValue": mark}
    return Outgoing(
        body=delivery.body,
        group=delivery.group,
        delay=min(wait or timedelta(0), LONGEST_DELAY),
        attributes=attributes,
        trace=delivery.trace,
    )


def _wire(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Turn an attribute of a Lambda event into the shape that SendMessage takes (binary arrives as base64 text)."""
    wire: dict[str, Any] = {"DataType": value.get("dataType", "String")}
    if value.get("stringValue") is not None:
        wire["StringValue"] = value["stringValue"]
    if value.get("binaryValue") is not None:
        wire["BinaryValue"] = base64.b64decode(value["binaryValue"])
    return wire
