"""Which resources belong to surehand handlers. Everything else is the user's own, and is never refused beside ours."""

from __future__ import annotations

from collections.abc import Iterator

from .assembly import Assembly, once
from .consumption import consumptions, sources_by_dead_letters
from .grants import role_of
from .rule import NotKnown
from .shapes import listed
from .template import Resource, Unknown
from .watching import alarms_of, topics

SCHEDULE = "AWS::Scheduler::Schedule"
TABLE_VARIABLE = "SUREHAND_TABLE"


@once
def owned(assembly: Assembly) -> frozenset[Resource]:
    """The functions that carry our mark, and their mappings, queues, ledger, roles, schedules, APIs and alarms."""
    mine: set[Resource] = set(assembly.functions)
    for edge in consumptions(assembly):
        if edge.marked:
            mine |= {edge.mapping, edge.queue}
    mine |= {dlq for dlq, sources in sources_by_dead_letters(assembly).items() if mine & set(sources)}
    mine |= set(ledgers(assembly))
    mine |= set(_roles(assembly))
    mine |= set(_attached(assembly, mine))
    mine |= set(alarms_of(assembly, mine))
    mine |= {topic for topic, alarms in topics(assembly).items() if mine & set(alarms)}
    return frozenset(mine)


@once
def ledgers(assembly: Assembly) -> list[Resource]:
    """The tables that the SUREHAND_TABLE variables of our functions name, each once."""
    found: dict[Resource, None] = {}
    for function in assembly.functions:
        table = assembly.target(assembly.variables(function).get(TABLE_VARIABLE))
        if isinstance(table, Resource) and table.type.startswith("AWS::DynamoDB::"):
            found[table] = None
    return list(found)


def _roles(assembly: Assembly) -> Iterator[Resource]:
    for function in assembly.functions:
        try:
            role = role_of(assembly, function)
        except NotKnown:
            continue  # the permission rules report it
        yield role
        for policy in assembly.resources("AWS::IAM::Policy", "AWS::IAM::RolePolicy"):
            attached = listed(policy.properties.get("Roles", policy.properties.get("RoleName")))
            if any(assembly.target(assembly.resolve(raw, within=policy.template)) is role for raw in attached):
                yield policy


def _attached(assembly: Assembly, mine: set[Resource]) -> Iterator[Resource]:
    for schedule in assembly.resources(SCHEDULE):
        target = assembly.target(assembly.peek(schedule, "Target", "Arn"))
        if target in mine or assembly.function(assembly.peek(schedule, "Target", "Arn")) in mine:
            yield schedule
            letters = assembly.target(assembly.peek(schedule, "Target", "DeadLetterConfig", "Arn"))
            if not isinstance(letters, Unknown):
                yield letters
    for integration in assembly.resources("AWS::ApiGatewayV2::Integration"):
        if integration_function(assembly, integration) in mine:
            yield integration
            api = assembly.target(assembly.peek(integration, "ApiId"))
            if not isinstance(api, Unknown):
                yield api
                for stage in assembly.resources("AWS::ApiGatewayV2::Stage"):
                    if assembly.target(assembly.peek(stage, "ApiId")) is api:
                        yield stage
    for url in assembly.resources("AWS::Lambda::Url", "AWS::Lambda::EventInvokeConfig"):
        key = "TargetFunctionArn" if url.type.endswith("Url") else "FunctionName"
        if assembly.function(assembly.peek(url, key)) in mine:
            yield url


def integration_function(assembly: Assembly, integration: Resource) -> Resource | Unknown:
    """The function that an HTTP API integration calls, from a plain ARN or from API Gateway's invocation URI."""
    uri = assembly.peek(integration, "IntegrationUri")
    if isinstance(uri, str) and "/functions/" in uri:
        uri = uri.split("/functions/", 1)[1].removesuffix("/invocations")
    return assembly.function(uri)
