"""Handlers that fail, results that cannot be kept, a store that is away."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from bench.versus.place import Attempt, Busy, Impossible, Order, orders, send
from bench.versus.powertools_side import PowertoolsPlace
from bench.versus.schedule import Schedule, Side, Verdict, times
from bench.versus.surehand_side import plain, result_of
from surehand.testing.simulator import Crossing, Fault

_ORDER = Order(order_id="order-1")
#: What a call to a store that does not answer takes with the client's own retries (measured for Powertools' default
#: client: 2.9 to 5.9 s; surehand's own client gives up sooner, and is charged the same here).
_UNANSWERED = timedelta(seconds=3.5)


def permanent(side: Side) -> Verdict:
    """An order that can never succeed."""

    def act(_: Attempt) -> None:
        raise Impossible

    deployed = side.deploy(act)
    send(deployed, _ORDER)
    side.simulation.run_until_quiet()
    runs = side.bank.runs["order-1"]
    return Verdict(runs == 1 and deployed.dead == 1, f"{times(runs, 'run')}, {times(deployed.dead, 'dead letter')}")


def busy(side: Side) -> Verdict:
    """The provider asks to be left alone for ten minutes, twice."""
    asked: list[datetime] = []

    def act(attempt: Attempt) -> None:
        asked.append(side.simulation.clock.now())
        if side.simulation.clock.now() < asked[0] + timedelta(minutes=20):
            raise Busy(timedelta(minutes=10))
        attempt.charge()

    deployed = side.deploy(act)
    send(deployed, _ORDER)
    side.simulation.run_until_quiet()
    charged = side.bank.charges["order-1"]
    asked_early = sum(1 for one, other in pairwise(asked) if other - one < timedelta(minutes=10))
    held = charged == 1 and not asked_early and not deployed.dead
    return Verdict(
        held, f"{times(charged, 'charge')}, asked {asked_early} times too early, {times(deployed.dead, 'dead letter')}"
    )


def large_result(side: Side) -> Verdict:
    """The handler returns 500 kB."""
    return _returning(side, lambda: "x" * 500_000)


def foreign_result(side: Side) -> Verdict:
    """The handler returns a datetime."""
    return _returning(side, lambda: {"charged_at": datetime.now(UTC)})


def falsy_result(side: Side) -> Verdict:
    """The handler returns 0; what is kept of it is read when the order comes again."""
    seen: list[object] = []

    def act(attempt: Attempt) -> object:
        attempt.charge()
        return 0

    if isinstance(side, PowertoolsPlace):
        deployed = side.deploy_lambda(lambda: _noting(side, act, seen))
    else:
        deployed = side.deploy(act)
    for _ in range(2):
        send(deployed, _ORDER)
        side.simulation.run_until_quiet()
    kept = seen[-1] if isinstance(side, PowertoolsPlace) else result_of(side, plain, _ORDER)
    return Verdict(kept == 0 and kept is not None, f"the replay gives {kept!r}")


def store_away(side: Side) -> Verdict:
    """The store does not answer while a batch of ten arrives; a minute later it is back."""
    began = side.simulation.clock.now()
    ends = began + timedelta(minutes=1)

    def plan(crossing: Crossing) -> Fault | None:
        if crossing.kind.startswith("dynamodb.") and side.simulation.clock.now() < ends:
            side.simulation.sleep(_UNANSWERED)
            return Fault.REFUSE
        return None

    deployed = side.deploy(lambda attempt: attempt.charge())
    side.simulation.crossings.plan = plan
    send(deployed, *orders(10))
    side.simulation.run_until_quiet()
    first = next(one for one in side.simulation.trail.happenings if one.kind in ("returned", "timed out", "killed"))
    took = (first.moment - began).total_seconds()
    charged = sum(side.bank.charges.values())
    held = charged == 10 and len(side.bank.charges) == 10 and first.kind == "returned"
    return Verdict(held, f"the batch {first.kind} after {took:g} s, {charged} charges in the end")


def _noting(side: PowertoolsPlace, act: Callable[[Attempt], object], seen: list[object]) -> Callable[..., object]:
    """The documented layout, in which the record handler sees what the idempotent function gives."""
    from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
    from aws_lambda_powertools.utilities.idempotency import idempotent_function

    from bench.versus.powertools_side import OrderRecord

    config = side.config()
    charge = idempotent_function(
        side.business(act), data_keyword_argument="order", config=config, persistence_store=side.layer()
    )
    processor = BatchProcessor(EventType.SQS, model=OrderRecord)

    def handle(record: OrderRecord) -> None:
        seen.append(charge(order=record.body))

    def lambda_handler(event: Any, context: Any) -> Any:
        config.register_lambda_context(context)
        return process_partial_response(event, handle, processor, context)

    return lambda_handler


def _returning(side: Side, result: Callable[[], object]) -> Verdict:
    def act(attempt: Attempt) -> object:
        attempt.charge()
        return result()

    deployed = side.deploy(act)
    send(deployed, _ORDER)
    side.simulation.run_until_quiet()
    charged = side.bank.charges["order-1"]
    return Verdict(
        charged == 1 and not deployed.dead, f"{times(charged, 'charge')}, {times(deployed.dead, 'dead letter')}"
    )


FAILURES = (
    Schedule(
        name="permanent failure",
        happens="An order that can never succeed.",
        must_hold="It is tried once and becomes a dead letter.",
        run=permanent,
    ),
    Schedule(
        name="busy provider",
        happens="The provider asks to be left alone for ten minutes, twice (429 with Retry-After).",
        must_hold="It is not asked sooner, and the order is charged in the end.",
        run=busy,
    ),
    Schedule(
        name="large result",
        happens="The handler charges and returns 500 kB.",
        must_hold="One charge; the message is done.",
        run=large_result,
    ),
    Schedule(
        name="result that is no JSON",
        happens="The handler charges and returns a datetime.",
        must_hold="One charge; the message is done.",
        run=foreign_result,
    ),
    Schedule(
        name="falsy result",
        happens="The handler returns 0, and the order comes again.",
        must_hold="What was kept of the first run is 0.",
        run=falsy_result,
    ),
    Schedule(
        name="store away",
        happens="The store does not answer for a minute while a batch of ten arrives.",
        must_hold="The batch is handed back before the function's timeout; all ten are charged once in the end.",
        run=store_away,
        note="An unanswered call takes 3.5 s here, the client's retries included; Powertools makes one a record.",
    ),
)
