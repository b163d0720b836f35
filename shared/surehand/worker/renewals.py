"""Waiting without end on a standard queue: a message whose receives run out is sent again, then acknowledged (P7).

Deferring burns receives, not attempts, and SQS counts receives. So before they are spent the message is *renewed*: a
copy with the same body, attributes and a mark of its origin is sent, and only when SQS has accepted it is the old one
acknowledged. A crash between the two leaves a duplicate that the ledger absorbs.

Lambda's loop detection stops the 17th invocation of one chain of sends
(https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html), so a message is renewed at most 15 times, and
the waits between grow with each renewal: 15 renewals outlast any `give_up_after`. FIFO cannot renew: the copy would
queue behind its followers. There a message waits by visibility alone, up to 12 hours a receive, and its waits grow so
that the receives it has left outlast `give_up_after`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from surehand.declare import Handler, max_receive_count
from surehand.declare.limits import LONGEST_DELAY
from surehand.delivery import RENEWALS, Delivery
from surehand.outcomes import Outcome
from surehand.queues import Outgoing
from surehand.worker.endings import Ending
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
    slowed = [_slowed(handler, ending, now) for ending in endings]
    due = [] if handler.options.fifo else [ending for ending in slowed if _due(handler, ending)]
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


def spread(receives: int, *, waited: timedelta, left: timedelta) -> timedelta:
    """Return the shortest wait on FIFO: so many receives must last for the time left, each longer in proportion."""
    if receives <= 1 or left <= timedelta(0):
        return max(timedelta(0), left)
    waited = max(waited, _FIRST)
    growth: float = ((waited + left) / waited) ** (1 / receives)
    return waited * (growth - 1)


def _slowed(handler: Handler[Any], ending: Ending, now: datetime) -> Ending:
    delivery = ending.delivery
    if ending.outcome is not Outcome.DEFERRED or not isinstance(delivery, Delivery):
        return ending
    if not handler.options.fifo:
        least = floor(delivery.renewals)
    elif ending.operation is not None:
        waited = now - ending.operation.started_at
        left = handler.options.give_up_after - waited
        least = spread(_spare(handler, ending), waited=waited, left=left)
    else:
        return ending
    return ending if ending.wait is not None and ending.wait >= least else replace(ending, wait=least)


def _due(handler: Handler[Any], ending: Ending) -> bool:
    delivery = ending.delivery
    if ending.outcome not in WAITING or not isinstance(delivery, Delivery) or delivery.renewals >= MOST_RENEWALS:
        return False
    if len(delivery.raw_attributes) >= _MOST_ATTRIBUTES and RENEWALS not in delivery.raw_attributes:
        return False
    return _spare(handler, ending) < 0


def _spare(handler: Handler[Any], ending: Ending) -> int:
    """Return how many receives are left for waiting, beside those that the attempts need."""
    attempts = ending.operation.attempts if ending.operation is not None else 0
    needed = handler.options.max_attempts - attempts + _KEPT
    return max_receive_count(handler) - ending.delivery.receive_count - needed


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
