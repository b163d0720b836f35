"""The functions of a service: what must be said about each, and not left to a default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from . import sources
from .assembly import Assembly, location
from .consumption import consumptions
from .grants import role_of
from .ownership import integration_function
from .rule import Level, NotKnown, Verdict, refuse, rule
from .template import Edit, Resource, Unknown

RUNTIMES = ("python3.11", "python3.12", "python3.13", "python3.14")
NEWEST = "python3.13"
_EXPLICIT = {"Timeout": 30, "MemorySize": 512, "Architectures": ["arm64"]}


def _ours(a: Assembly) -> Iterable[Resource]:
    return a.functions


def _explicit(a: Assembly, function: Resource) -> Iterator[Verdict]:
    missing = [key for key in _EXPLICIT if a.value(function, key) is None]
    if missing:
        yield refuse(
            function,
            location(missing[0]),
            f"{', '.join(missing)} left to Lambda's defaults (3 s, 128 MB, x86_64)",
            fix="; ".join(f"{key}: {_EXPLICIT[key]}" for key in missing),
            edits=[function.put(key, value=_EXPLICIT[key]) for key in missing],
        )


def _runtime(a: Assembly, function: Resource) -> Iterator[Verdict]:
    runtime = a.value(function, "Runtime")
    if runtime is not None and runtime not in RUNTIMES:
        yield refuse(
            function,
            location("Runtime"),
            f"runtime {runtime}, surehand runs on {', '.join(RUNTIMES)}",
            fix="runtime=Runtime.PYTHON_3_13",
            edits=[function.put("Runtime", value=NEWEST)],
        )


def _json_logs(a: Assembly, function: Resource) -> Iterator[Verdict]:
    if a.value(function, "LoggingConfig", "LogFormat") != "JSON":
        yield refuse(
            function,
            location("LoggingConfig", "LogFormat"),
            "plain text logs: the fields that Contributor Insights and the CLI read cannot be found",
            fix="logging_format=LoggingFormat.JSON",
            edits=[function.put("LoggingConfig", "LogFormat", value="JSON")],
        )


def _kept_logs(a: Assembly, function: Resource) -> Iterator[Verdict]:
    at = ("LoggingConfig", "LogGroup")
    if a.value(function, *at) is None:
        id = f"{function.id}Logs"
        yield refuse(
            function,
            location(*at),
            "no log group of its own: Lambda makes one that is kept for ever",
            fix="log_group=LogGroup(self, ..., retention=RetentionDays.ONE_MONTH)",
            edits=[
                Edit(
                    template=function.template,
                    path=("Resources", id),
                    value={"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 30}},
                ),
                function.put(*at, value={"Ref": id}),
            ],
        )
        return
    group = a.known_target(function, *at)
    if a.value(group, "RetentionInDays") is None:
        yield refuse(
            function,
            location(*at),
            f"its log group {group.id} keeps logs for ever",
            fix="retention=RetentionDays.ONE_MONTH",
            edits=[group.put("RetentionInDays", value=30)],
        )


def _traced(a: Assembly, function: Resource) -> Iterator[Verdict]:
    if a.value(function, "TracingConfig", "Mode") != "Active":
        yield refuse(
            function,
            location("TracingConfig", "Mode"),
            "tracing is not active",
            fix="tracing=Tracing.ACTIVE",
            edits=[function.put("TracingConfig", "Mode", value="Active")],
        )


def _loops_end(a: Assembly, function: Resource) -> Iterator[Verdict]:
    if a.value(function, "RecursiveLoop") == "Allow":
        yield refuse(
            function,
            location("RecursiveLoop"),
            "recursion is allowed: a handler that sends to its own queue runs until somebody sees the bill",
            fix="recursive_loop=RecursiveLoop.TERMINATE",
            edits=[function.put("RecursiveLoop", value="Terminate")],
        )


def _own_role(a: Assembly, function: Resource) -> Iterator[Verdict]:
    role = role_of(a, function)
    sharers: list[str] = []
    for other in a.resources("AWS::Lambda::Function"):
        try:
            if other is not function and role_of(a, other) is role:
                sharers.append(other.construct_path)
        except NotKnown:
            continue  # a role outside the templates is not this one
    if sharers:
        yield refuse(
            function,
            location("Role"),
            f"shares its role with {', '.join(sorted(sharers))}, so each may do what any of them needs",
            fix="one role per function",
        )


def _snapshot_is_published(a: Assembly, function: Resource) -> Iterator[Verdict]:
    if a.value(function, "SnapStart", "ApplyOn") != "PublishedVersions":
        return
    called = [(edge.mapping, "FunctionName") for edge in consumptions(a) if edge.function is function]
    called += [
        (integration, "IntegrationUri")
        for integration in a.resources("AWS::ApiGatewayV2::Integration")
        if integration_function(a, integration) is function
    ]
    for caller, key in called:
        if _is_latest(a, a.peek(caller, key), function):
            yield refuse(
                caller,
                location(key),
                "calls $LATEST, and SnapStart restores published versions only",
                fix="point it at an alias of current_version",
            )


def _is_latest(a: Assembly, value: Any, function: Resource) -> bool:
    """Whether *value*, which leads to *function*, names neither an alias nor a version of it."""
    text = str(value).rpartition("/functions/")[2].removesuffix("/invocations")
    found = a.target(text)
    if found is not function:
        return isinstance(found, Unknown)
    return ":" not in (text.rpartition("⟧")[2] if "⟧" in text else text.partition(":function:")[2])


RULES = (
    rule(
        "F01", "Timeout, memory and architecture are said",
        why="a default of 3 s and 128 MB is nobody's decision",
        fix="timeout, memory_size and architecture on every function",
        source=sources.LAMBDA_LIMITS, over=_ours, judge=_explicit,
    ),
    rule(
        "F10", "The runtime is one that surehand supports",
        why="the bundle is built for it, and Lambda blocks deprecated ones",
        fix="Python 3.11 or later",
        source=sources.LAMBDA_RUNTIMES, over=_ours, judge=_runtime,
    ),
    rule(
        "F02", "Logs are JSON",
        why="failure_code and tenant are fields, and alarms read them",
        fix="LoggingConfig.LogFormat JSON",
        source=sources.LAMBDA_LOGS, over=_ours, judge=_json_logs,
    ),
    rule(
        "F12", "Logs go to a group with retention",
        why="logs carry keys and tenants, and nobody deletes what nobody owns",
        fix="an explicit LogGroup with RetentionInDays",
        source=sources.LAMBDA_LOGS, over=_ours, judge=_kept_logs,
    ),
    rule(
        "F03", "Functions are traced", level=Level.WARNING,
        why="a message's way from webhook to effect is one trace",
        fix="TracingConfig.Mode Active",
        source=sources.LAMBDA_TRACING, over=_ours, judge=_traced,
    ),
    rule(
        "F04", "Recursive loops are stopped",
        why="Lambda ends a loop after 16 hops, unless told not to",
        fix="RecursiveLoop Terminate (the default)",
        source=sources.LAMBDA_RECURSION, over=_ours, judge=_loops_end,
    ),
    rule(
        "F05", "Each function has a role of its own",
        why="least privilege is per function or it is not",
        fix="one role per function",
        source=sources.LAMBDA_ROLE, over=_ours, judge=_own_role,
    ),
    rule(
        "F08", "SnapStart is used through a published version",
        why="$LATEST starts cold, with the price of SnapStart and without its effect",
        fix="event source and API on an alias",
        source=sources.LAMBDA_SNAPSTART, over=_ours, judge=_snapshot_is_published,
    ),
)  # fmt: skip
