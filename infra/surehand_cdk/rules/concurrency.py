"""How many invocations a queue may cause, and whether Lambda will grant them."""

from __future__ import annotations

from collections.abc import Iterator

from . import sources
from .assembly import Assembly, location
from .consumption import Consumption, consumptions
from .rule import Level, Scope, Verdict, refuse, rule
from .template import Resource

FEWEST = 2
MOST = 1_000
UNRESERVED = 100
_POLLERS = {"MinimumPollers": (2, 200), "MaximumPollers": (2, 10_000)}


def _limited(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    if a.value(edge.mapping, "ProvisionedPollerConfig"):
        return
    limit = a.number(edge.mapping, "ScalingConfig", "MaximumConcurrency", default=0)
    if not limit and not edge.marked:
        return
    if not FEWEST <= limit <= MOST:
        wanted = min(max(limit or 10, FEWEST), MOST)
        yield refuse(
            edge.mapping,
            location("ScalingConfig", "MaximumConcurrency"),
            f"maximum concurrency {limit or 'not set'}, must be {FEWEST} to {MOST}",
            fix=f"max_concurrency={wanted}",
            edits=[edge.mapping.put("ScalingConfig", value={"MaximumConcurrency": wanted})],
        )


def _pollers(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    config = a.value(edge.mapping, "ProvisionedPollerConfig")
    if not config:
        return
    if a.value(edge.mapping, "ScalingConfig", "MaximumConcurrency"):
        yield refuse(
            edge.mapping,
            location("ScalingConfig"),
            "provisioned pollers and a maximum concurrency exclude each other",
            fix="remove max_concurrency, or the provisioned pollers",
            edits=[edge.mapping.drop("ScalingConfig")],
        )
    for key, (least, most) in _POLLERS.items():
        pollers = a.number(edge.mapping, "ProvisionedPollerConfig", key, default=least)
        if not least <= pollers <= most:
            wanted = min(max(pollers, least), most)
            yield refuse(
                edge.mapping,
                location("ProvisionedPollerConfig", key),
                f"{key} {pollers}, must be {least} to {most}",
                fix=f"{key}: {wanted}",
                edits=[edge.mapping.put("ProvisionedPollerConfig", key, value=wanted)],
            )


def _reserved_suffices(a: Assembly, function: Resource) -> Iterator[Verdict]:
    reserved = a.value(function, "ReservedConcurrentExecutions")
    edges = [edge for edge in consumptions(a) if edge.function is function]
    if reserved is None or not edges:
        return
    asked = [a.number(edge.mapping, "ScalingConfig", "MaximumConcurrency", default=0) for edge in edges]
    if not all(asked):
        yield refuse(
            function,
            location("ReservedConcurrentExecutions"),
            f"reserved concurrency {reserved} with a mapping that has no maximum concurrency",
            fix=f"max_concurrency={max(FEWEST, int(reserved))} on the event source",
            edits=[
                edge.mapping.put("ScalingConfig", value={"MaximumConcurrency": max(FEWEST, int(reserved))})
                for edge, limit in zip(edges, asked, strict=True)
                if not limit
            ],
        )
    elif int(reserved) < sum(asked):
        yield refuse(
            function,
            location("ReservedConcurrentExecutions"),
            f"reserved concurrency {reserved}, its mappings may ask for {sum(asked)}",
            fix=f"reserved_concurrent_executions={sum(asked)}",
            edits=[function.put("ReservedConcurrentExecutions", value=sum(asked))],
        )


def _within_account(a: Assembly, reserving: list[Resource]) -> Iterator[Verdict]:
    total = sum(a.number(function, "ReservedConcurrentExecutions", default=0) for function in reserving)
    room = a.account_concurrency - UNRESERVED
    if reserving and total > room:
        yield refuse(
            reserving[0],
            location("ReservedConcurrentExecutions"),
            f"the app reserves {total} concurrent executions, the account has {room} to reserve",
            fix=f"reserve {room} in total, or SurehandRules(account_concurrency=...) after a raised quota",
        )


def _functions(a: Assembly) -> Iterator[Resource]:
    return a.resources("AWS::Lambda::Function")


def _reserving(a: Assembly) -> Iterator[list[Resource]]:
    yield [f for f in _functions(a) if a.peek(f, "ReservedConcurrentExecutions") is not None]


RULES = (
    rule(
        "Q08",
        "A mapping's concurrency is limited",
        scope=Scope.ANY,
        why="without a limit one backlog takes the account's concurrency from every other function",
        fix="ScalingConfig.MaximumConcurrency from 2 to 1000",
        source=sources.LAMBDA_SQS_SCALING,
        over=consumptions,
        judge=_limited,
    ),
    rule(
        "Q10",
        "Provisioned pollers are within limits and alone",
        scope=Scope.ANY,
        why="Lambda refuses both together at deployment",
        fix="either ProvisionedPollerConfig (2..200 / 2..10 000) or ScalingConfig",
        source=sources.LAMBDA_SQS_PARAMETERS,
        over=consumptions,
        judge=_pollers,
    ),
    rule(
        "F09",
        "Reserved concurrency covers what the mappings may ask for",
        scope=Scope.ANY,
        why="pollers fetch more than the function may run, each throttle burns a receive, and healthy messages die",
        fix="reserved concurrency >= sum of the mappings' maximum concurrency",
        source=sources.LAMBDA_SQS_SCALING,
        over=_functions,
        judge=_reserved_suffices,
    ),
    rule(
        "Q09",
        "Reservations leave the account a hundred executions",
        level=Level.WARNING,
        scope=Scope.ANY,
        why="Lambda refuses a reservation that leaves fewer than 100 unreserved executions",
        fix="sum of reservations <= account limit - 100",
        source=sources.LAMBDA_CONCURRENCY,
        over=_reserving,
        judge=_within_account,
    ),
)
