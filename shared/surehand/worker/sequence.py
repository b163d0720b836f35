"""The life of a batch, in one visible sequence. Every other module of this package is one of its phases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from surehand.declare import Handler
from surehand.delivery import parse_event
from surehand.outcomes import Outcome
from surehand.worker.acknowledge import Response, response, set_visibilities
from surehand.worker.attempts import Attempts
from surehand.worker.bearers import compare_ids
from surehand.worker.deadline import alarm_set, reserve_for
from surehand.worker.endings import put_back
from surehand.worker.plan import claim_batch, ordered
from surehand.worker.ports import Invocation, Ports
from surehand.worker.receive import Away, receive
from surehand.worker.renewals import renew
from surehand.worker.running import take_in_order, take_in_parallel
from surehand.worker.settlers import GroupSettler, InlineSettler, Settler

if TYPE_CHECKING:
    from surehand.webhooks.unwrap import Fetch


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to Lambda. *stuck*: a handler is still running, so the process must end instead of answering."""

    response: Response
    stuck: bool


def work(handler: Handler[Any], event: Any, *, invocation: Invocation, ports: Ports) -> Answered:
    """Process one SQS event.

    Raises:
        UnreadableEvent: It cannot be answered; nothing ran.
        Exception: A fault of ours. Lambda then keeps every message, and what was settled is answered as applied
            when it comes again.
    """
    fifo = handler.options.fifo
    records = parse_event(event)
    until = invocation.deadline - reserve_for(handler.options.timeout)
    received = receive(handler, records, fetch=_fetch(ports, until))
    known = [one for one in received if not isinstance(one, Away)]
    claimed = claim_batch(handler, known, invocation=invocation, ports=ports)
    steps = ordered(compare_ids(claimed, ports=ports), fifo=fifo)
    several = len(steps) > 1
    settler = _settler(ports, fifo=fifo, several=several, until=until)
    attempts = Attempts(handler, invocation=invocation, ports=ports, settler=settler)
    left = until - ports.clock.now()
    try:
        if handler.options.parallel > 1 and several:
            take_in_parallel(attempts, steps, fifo=fifo, parallel=handler.options.parallel, left=left)
        else:
            with alarm_set(left):
                take_in_order(attempts, steps, fifo=fifo)
    finally:
        settler.close()
    away = (put_back(one, ports.random) for one in received if isinstance(one, Away))
    endings = {**attempts.endings, **{ending.index: ending for ending in away}}
    for renewed in renew(handler, list(endings.values()), ports=ports):
        endings[renewed.index] = renewed
    for late, code in set_visibilities(handler, ports.queues, list(endings.values())):
        endings[late.index] = replace(late, wait=None, detail=f"visibility not set: {code}")
    told = [endings[index] for index in sorted(endings)]
    ports.teller.tell(handler, told, now=ports.clock.now())
    stuck = any(ending.outcome is Outcome.STILL_RUNNING for ending in told)
    return Answered(response(records, endings), stuck=stuck)


def _fetch(ports: Ports, until: datetime) -> Fetch | None:
    """Half of the time is for the large bodies, at most: the other messages of the batch need the rest."""
    if ports.fetch is None:
        return None
    from surehand.worker.patience import Patient  # only webhook handlers pay for importing it

    now = ports.clock.now()
    return Patient(ports.fetch, clock=ports.clock, until=now + (until - now) / 2)


def _settler(ports: Ports, *, fifo: bool, several: bool, until: datetime) -> Settler:
    """A thread pays only where there is something to write beside; FIFO waits for each outcome anyway (P4)."""
    if ports.group_commit and several and not fifo:
        return GroupSettler(ports.ledger, ports.clock, until=until)
    return InlineSettler(ports.ledger, ports.clock, until=until)
