"""The environment of a function: complete, small, and free of secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from surehand.declare import derived

from . import sources
from .assembly import Assembly, location
from .consumption import consumptions
from .ownership import TABLE_VARIABLE
from .rule import Scope, Verdict, refuse, rule
from .shapes import dig
from .template import Resource, Unknown

LARGEST = 4_096
_SECRET_NAME = re.compile(r"(^|_)(SECRET|PASSWORD|PASSWD|TOKEN|API_?KEY|PRIVATE_?KEY|CREDENTIALS?)(_|$)", re.IGNORECASE)
_POINTER_NAME = re.compile(
    r"_(ARN|NAME|ID|URL|URI|PATH|PARAMETER|PARAM|TABLE|TTL|SECONDS|VERSION|HEADER)S?$", re.IGNORECASE
)
_SECRET_VALUE = re.compile(
    r"AKIA[0-9A-Z]{16}|(sk|rk)_(live|test)_\w{8,}|whsec_\w{8,}|gh[pousr]_\w{20,}|xox[abpr]-\w{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)


def _functions(a: Assembly) -> Iterable[Resource]:
    return a.resources("AWS::Lambda::Function")


def _no_secrets(_: Assembly, function: Resource) -> Iterator[Verdict]:
    variables = dig(function.properties, "Environment", "Variables")
    for name, value in variables.items() if isinstance(variables, Mapping) else ():
        named = _SECRET_NAME.search(name) and not _POINTER_NAME.search(name)
        plain = isinstance(value, str) and bool(value) and not value.startswith(("arn:", "{{resolve:", "/"))
        dynamic = isinstance(value, str) and value.startswith(("{{resolve:secretsmanager", "{{resolve:ssm-secure"))
        if (named and plain) or dynamic or (isinstance(value, str) and _SECRET_VALUE.search(value)):
            # The value is not repeated: this text goes to terminals and CI logs.
            yield refuse(
                function,
                location("Environment", "Variables", name),
                f"{name} looks like a secret, readable by everyone who may read the function's configuration",
                fix=f"keep it in Secrets Manager, set {name}_ARN and read it at run time",
                edits=[function.drop("Environment", "Variables", name)],
            )


def _fits(a: Assembly, function: Resource) -> Iterator[Verdict]:
    known = {k: v for k, v in a.variables(function).items() if not isinstance(v, Unknown)}
    size = sum(len(str(k).encode()) + len(str(v).encode()) for k, v in known.items())
    if size > LARGEST:
        yield refuse(
            function,
            location("Environment", "Variables"),
            f"{size} bytes of environment, Lambda allows {LARGEST}",
            fix="put configuration into a file of the bundle, or into a parameter",
        )


def _complete(a: Assembly, function: Resource) -> Iterator[Verdict]:
    variables = a.variables(function)
    needed = (derived.SERVICE, derived.STAGE, derived.HANDLER, derived.TABLE)
    for name in needed:
        if not variables.get(name):
            yield refuse(
                function,
                location("Environment", "Variables", name),
                f"{name} is not set, and the handler refuses to start without it",
                fix=f"set {name}; `surehand inventory --json` prints its value",
            )
    table = a.target(variables[TABLE_VARIABLE]) if variables.get(TABLE_VARIABLE) else None
    if isinstance(table, Resource) and not table.type.startswith("AWS::DynamoDB::"):
        yield refuse(
            function,
            location("Environment", "Variables", TABLE_VARIABLE),
            f"{TABLE_VARIABLE} names {table.label}, which is no table",
            fix=f"{TABLE_VARIABLE}: the ledger's table name",
        )


def _knows_its_queue(a: Assembly, function: Resource) -> Iterator[Verdict]:
    variables = a.variables(function)
    handler = str(variables.get(derived.HANDLER))
    name = derived.queue_variable(handler)
    for edge in consumptions(a):
        if edge.function is function and a.target(variables.get(name)) is not edge.queue:
            yield refuse(
                function,
                location("Environment", "Variables", name),
                f"{name} does not hold the URL of {edge.queue.id}, the queue that it consumes",
                fix=f"{name}: the URL of {edge.queue.id}",
                edits=[function.put("Environment", "Variables", name, value={"Ref": edge.queue.id})],
            )


def _one_name(a: Assembly, function: Resource) -> Iterator[Verdict]:
    keys = (derived.SERVICE, derived.STAGE, derived.HANDLER)
    mine = [a.variables(function).get(key) for key in keys]
    twins = [f for f in a.handlers if f is not function and [a.variables(f).get(key) for key in keys] == mine]
    if twins:
        yield refuse(
            function,
            location("Environment", "Variables", derived.HANDLER),
            f"{'/'.join(map(str, mine))} is also the name of {twins[0].construct_path}: both write the same operations",
            fix="a name of its own for each handler of a service",
        )


def _handlers(a: Assembly) -> Iterable[Resource]:
    return a.handlers


RULES = (
    rule(
        "F07", "No secret in an environment variable", scope=Scope.ANY,
        why="the environment is shown in the console, in templates and in `aws lambda get-function`",
        fix="Secrets Manager and its ARN in the environment",
        source=sources.LAMBDA_ENVIRONMENT, over=_functions, judge=_no_secrets,
    ),
    rule(
        "F06", "The environment fits into 4 KB", scope=Scope.ANY,
        why="Lambda refuses the function at deployment",
        fix="fewer or shorter variables",
        source=sources.LAMBDA_LIMITS, over=_functions, judge=_fits,
    ),
    rule(
        "F13", "A handler is told its service, stage, name and ledger",
        why="the variables are the contract between infra and run time",
        fix="SUREHAND_SERVICE, SUREHAND_STAGE, SUREHAND_HANDLER, SUREHAND_TABLE",
        source=sources.DESIGN, over=_handlers, judge=_complete,
    ),
    rule(
        "F15", "A handler is told the queue that it consumes",
        why="send() and visibility changes go to the URL in the variable, not to the queue of the mapping",
        fix="SUREHAND_QUEUE_<NAME> = the URL of the mapping's queue",
        source=sources.DESIGN, over=_handlers, judge=_knows_its_queue,
    ),
    rule(
        "F14", "A handler's name is its own",
        why="the name is part of every ledger key: under one name, operations of one are duplicates to the other",
        fix="one function per service, stage and handler name",
        source=sources.DESIGN, over=_handlers, judge=_one_name,
    ),
)  # fmt: skip
