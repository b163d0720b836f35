"""Least privilege, in both directions: what the code calls is allowed, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from surehand.declare import derived

from . import sources
from .assembly import Assembly, location
from .consumption import Consumption, consumptions, sources_by_dead_letters
from .grants import grants, may, role_of
from .ownership import TABLE_VARIABLE
from .rule import Scope, Verdict, refuse, rule
from .shapes import listed
from .template import Resource, Unknown

CONSUME = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility")
LEDGER = (
    "dynamodb:UpdateItem",
    "dynamodb:GetItem",
    "dynamodb:BatchGetItem",
    "dynamodb:PartiQLInsert",
    "dynamodb:PartiQLUpdate",
)
LEDGER_MORE = (
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:PartiQLSelect",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DescribeTable",
)
"""What a function of ours may have on the ledger without a handler calling it on every delivery."""
_UNSCOPED = ("xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSamplingRules", "xray:GetSamplingTargets",
             "xray:GetSamplingStatisticSummaries", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
             "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:AssignPrivateIpAddresses",
             "ec2:UnassignPrivateIpAddresses")  # fmt: skip
"""Actions that AWS offers for all resources only."""


def _marked(a: Assembly) -> Iterator[Consumption]:
    return (edge for edge in consumptions(a) if edge.marked)


def _consumes(a: Assembly, edge: Consumption) -> Iterator[Verdict]:
    role = role_of(a, edge.function)
    missing = [action for action in CONSUME if not may(a, role, action, edge.queue)]
    if missing:
        yield refuse(
            edge.function,
            location("Role"),
            f"its role may not {', '.join(missing)} on {edge.queue.id}",
            fix=f"{edge.queue.id}.grant_consume_messages(function)",
            edits=[_allow(role, "Consume", missing, {"Fn::GetAtt": [edge.queue.id, "Arn"]})],
        )


def _claims(a: Assembly, function: Resource) -> Iterator[Verdict]:
    table = a.target(a.variables(function).get(TABLE_VARIABLE))
    if isinstance(table, Unknown):
        return
    role = role_of(a, function)
    missing = [action for action in LEDGER if not may(a, role, action, table)]
    if missing:
        yield refuse(
            function,
            location("Role"),
            f"its role may not {', '.join(missing)} on the ledger: every claim fails, and nothing runs",
            fix="grant the ledger's actions, PartiQL included: ExecuteStatement has permissions of its own",
            edits=[_allow(role, "Ledger", missing, {"Fn::GetAtt": [table.id, "Arn"]})],
        )


def _no_more_on_the_ledger(a: Assembly, function: Resource) -> Iterator[Verdict]:
    table = a.target(a.variables(function).get(TABLE_VARIABLE))
    if isinstance(table, Unknown):
        return
    allowed = {action.lower() for action in (*LEDGER, *LEDGER_MORE)}
    for grant in grants(a, role_of(a, function)):
        extra = [x for x in grant.actions if x.lower().startswith("dynamodb:") and x.lower() not in allowed]
        if extra and grant.covers(a, table):
            yield refuse(
                function,
                location("Role"),
                f"its role may {', '.join(sorted(extra))} on the ledger (in {grant.policy.id}), which no handler calls",
                fix="no Delete, Scan or table action: only the sweep and an operator need more",
            )


def _sends_where_it_says(a: Assembly, function: Resource) -> Iterator[Verdict]:
    variables = a.variables(function)
    named = {name: a.target(value) for name, value in variables.items() if name.startswith(derived.QUEUE)}
    role = role_of(a, function)
    own = derived.queue_variable(str(variables.get(derived.HANDLER)))
    for name, queue in named.items():
        if isinstance(queue, Resource) and name != own and not may(a, role, "sqs:SendMessage", queue):
            yield refuse(
                function,
                location("Role"),
                f"{name} names {queue.id}, and its role may not send there",
                fix=f"{queue.id}.grant_send_messages(function), from sends_to=",
                edits=[_allow(role, f"Send{queue.id}", ["sqs:SendMessage"], {"Fn::GetAtt": [queue.id, "Arn"]})],
            )


def _never_to_dead_letters(a: Assembly, function: Resource) -> Iterator[Verdict]:
    role = role_of(a, function)
    targets = sources_by_dead_letters(a)
    for grant in grants(a, role):
        reached = [queue.id for queue in targets if grant.covers(a, queue)]
        if reached and grant.allows("sqs:SendMessage"):
            yield refuse(
                function,
                location("Role"),
                f"its role may send to the dead-letter queue {', '.join(sorted(reached))} (in {grant.policy.id})",
                fix="remove the grant; raise Reject(code), and SQS itself moves the message",
            )


def _no_wildcard(a: Assembly, function: Resource) -> Iterator[Verdict]:
    for grant in grants(a, role_of(a, function)):
        wide = [action for action in grant.actions if action == "*" or action.endswith(":*")]
        everywhere = [r for r in grant.resources if r == "*"]
        unscoped = {action.lower() for action in _UNSCOPED}
        if wide or (everywhere and any(action.lower() not in unscoped for action in grant.actions)):
            what = ", ".join(sorted(wide or [x for x in grant.actions if x.lower() not in unscoped]))
            yield refuse(
                function,
                location("Role"),
                f"its role may {what} on {'everything' if everywhere else 'its resources'} (in {grant.policy.id})",
                fix="the actions that the code calls, on the resources that it names",
            )


def _allow(role: Resource, name: str, actions: list[str], resource: Any) -> Any:
    statement = {"Effect": "Allow", "Action": list(actions), "Resource": resource}
    return role.put(
        "Policies",
        len(listed(role.properties.get("Policies"))),
        value={"PolicyName": name, "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}},
    )


def _handlers(a: Assembly) -> Iterable[Resource]:
    return a.handlers


def _ours(a: Assembly) -> Iterable[Resource]:
    return a.functions


def _all(a: Assembly) -> Iterable[Resource]:
    targets = sources_by_dead_letters(a)
    return a.resources("AWS::Lambda::Function") if targets else ()


RULES = (
    rule(
        "P01", "A handler may consume its queue and set visibilities",
        why="without ChangeMessageVisibility every backoff is the queue's timeout",
        fix="grant_consume_messages on its own queue",
        source=sources.LAMBDA_SQS, over=_marked, judge=_consumes,
    ),
    rule(
        "P02", "A handler may claim and settle in the ledger",
        why="PartiQL has actions of its own; with UpdateItem alone every batch claim is denied",
        fix="the ledger's actions on the ledger's ARN",
        source=sources.DYNAMODB_PARTIQL, over=_handlers, judge=_claims,
    ),
    rule(
        "P03", "A handler may do nothing else with the ledger",
        why="a handler that can delete or scan the ledger can unmake everybody's guarantees",
        fix="no action beyond those that the code calls",
        source=sources.IAM_LEAST, over=_handlers, judge=_no_more_on_the_ledger,
    ),
    rule(
        "P04", "A function may send where its environment points",
        why="the first send fails in production, after the effect",
        fix="sqs:SendMessage on each queue of sends_to",
        source=sources.DESIGN, over=_ours, judge=_sends_where_it_says,
    ),
    rule(
        "D07", "No function may send to a dead-letter queue", scope=Scope.ANY,
        why="a message that code sends there cannot be redriven to its source (CouldNotDetermineMessageSource)",
        fix="only SQS fills a dead-letter queue",
        source=sources.SQS_REDRIVE, over=_all, judge=_never_to_dead_letters,
    ),
    rule(
        "F11", "A role names its actions and resources",
        why="a wildcard grants what nobody has thought of",
        fix="no `*` action, and `*` resources only where AWS offers no other (X-Ray)",
        source=sources.IAM_LEAST, over=_ours, judge=_no_wildcard,
    ),
)  # fmt: skip
