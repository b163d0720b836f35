"""All templates of an app at once: typed reading of properties, and from a value to the resource it means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, wraps
from typing import Any, TypeVar, cast

from .resolve import HANDLE, Binding, Resolver
from .rule import NotKnown
from .template import Resource, Template, Unknown

MARK = "SUREHAND_HANDLER"
SERVICE_MARK = "SUREHAND_SERVICE"
_ARN = re.compile(r"^arn:[^:]+:(?P<service>[^:]+):(?P<region>[^:]*):(?P<account>[^:]*):(?P<rest>.+)$")
_NAMED = {
    "AWS::SQS::Queue": "QueueName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::DynamoDB::GlobalTable": "TableName",
    "AWS::SNS::Topic": "TopicName",
}
_SERVICES = {
    "sqs": "AWS::SQS::Queue",
    "lambda": "AWS::Lambda::Function",
    "dynamodb": "AWS::DynamoDB::Table",
    "sns": "AWS::SNS::Topic",
}


T = TypeVar("T")


class Assembly:
    """The templates, read. *account_concurrency* is the Lambda limit of the account (AWS's default is 1000)."""

    def __init__(self, templates: Mapping[str, Template], *, account_concurrency: int = 1000) -> None:
        self.templates = templates
        self.account_concurrency = account_concurrency
        self._resolver = Resolver(templates, dict(_nested(templates)))
        self.memory: dict[object, object] = {}

    @cached_property
    def nested(self) -> frozenset[tuple[str, str]]:
        """Template and logical id of every nested stack whose template is here."""
        return frozenset((binding.parent, binding.stack_id) for binding in self._resolver.nested.values())

    def resources(self, *types: str) -> Iterator[Resource]:
        """Every resource of the given types, over all templates."""
        for template in self.templates.values():
            yield from template.of_type(*types)

    def resolve(self, raw: Any, *, within: str) -> Any:
        """*raw* resolved in the template named *within*; an `Unknown` where that is impossible."""
        return self._resolver.value(raw, within=within)

    def peek(self, resource: Resource, *path: str | int) -> Any:
        """The resolved property at *path*, None when absent, `Unknown` when not readable."""
        node: Any = resource.properties
        for step in path:
            if isinstance(node, Mapping) and len(node) == 1 and next(iter(node)).startswith("Fn::"):
                node = self.resolve(node, within=resource.template)
            if isinstance(node, Unknown):
                return node
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return None
        return self.resolve(node, within=resource.template)

    def value(self, resource: Resource, *path: str | int) -> Any:
        """Like `peek`. Raises NotKnown when the value cannot be read."""
        found = self.peek(resource, *path)
        if isinstance(found, Unknown):
            raise NotKnown(resource, location(*path), found.reason)
        return found

    def number(self, resource: Resource, *path: str | int, default: int) -> int:
        """The whole number at *path*; CloudFormation's *default* when absent. Raises NotKnown."""
        found = self.value(resource, *path)
        if found is None:
            return default
        try:
            return int(found)
        except (TypeError, ValueError):
            raise NotKnown(resource, location(*path), f"{found!r} is no number") from None

    def flag(self, resource: Resource, *path: str | int, default: bool = False) -> bool:
        """The boolean at *path*, also when written as text. Raises NotKnown."""
        found = self.value(resource, *path)
        return default if found is None else str(found).lower() == "true"

    def target(self, value: Any) -> Resource | Unknown:
        """The resource that *value* (a handle, an ARN, a name in a handle's text) means."""
        if isinstance(value, Unknown):
            return value
        text = str(value)
        handle = HANDLE.match(text)
        if handle:
            return self.templates[handle["template"]].resources[handle["id"]]
        arn = _ARN.match(text)
        kind = _SERVICES.get(arn["service"]) if arn else None
        if arn is None or kind is None:
            return Unknown(f"{text} is outside these templates")
        name = re.sub(r"^(function|table):?/?", "", arn["rest"]).split(":")[0].split("/")[0]
        return self.named(kind, name) or Unknown(f"{text} is outside these templates")

    def named(self, kind: str, name: str) -> Resource | None:
        """The resource of type *kind* with the physical name *name*; names may hold handles and pseudo parameters."""
        for resource in self.resources(kind):
            if self.peek(resource, _NAMED[kind]) == name:
                return resource
        return None

    def known_target(self, resource: Resource, *path: str | int) -> Resource:
        """The resource that the property at *path* means. Raises NotKnown."""
        found = self.target(self.value(resource, *path))
        if isinstance(found, Unknown):
            raise NotKnown(resource, location(*path), found.reason)
        return found

    def function(self, value: Any) -> Resource | Unknown:
        """The function behind *value*, followed through aliases and versions."""
        found = self.target(value)
        if isinstance(found, Unknown) and isinstance(value, str) and ":" not in value:
            found = self.named("AWS::Lambda::Function", value) or found
        if isinstance(found, Resource) and found.type in ("AWS::Lambda::Alias", "AWS::Lambda::Version"):
            return self.function(self.peek(found, "FunctionName"))
        return found

    def variables(self, function: Resource) -> Mapping[str, Any]:
        """The function's environment, resolved; values may be `Unknown`."""
        found = self.peek(function, "Environment", "Variables")
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def handlers(self) -> tuple[Resource, ...]:
        """The functions that run a surehand handler: those with SUREHAND_HANDLER in their environment."""
        return tuple(f for f in self.resources("AWS::Lambda::Function") if MARK in self.variables(f))

    @cached_property
    def functions(self) -> tuple[Resource, ...]:
        """Every function of a surehand service: handlers, ingress and sweep."""
        return tuple(
            f for f in self.resources("AWS::Lambda::Function") if {MARK, SERVICE_MARK} & set(self.variables(f))
        )


def once(read: Callable[[Assembly], T]) -> Callable[[Assembly], T]:
    """Let *read* look at each assembly once: the templates do not change, and many rules ask for the same."""

    @wraps(read)
    def remembered(assembly: Assembly) -> T:
        if read not in assembly.memory:
            assembly.memory[read] = read(assembly)
        return cast("T", assembly.memory[read])

    return remembered


def location(*path: str | int) -> str:
    """The place of a property as CDK's reports write it."""
    return ".".join(("Properties", *map(str, path)))


def _nested(templates: Mapping[str, Template]) -> Iterator[tuple[str, Binding]]:
    for template in templates.values():
        for stack in template.of_type("AWS::CloudFormation::Stack"):
            child = str(stack.metadata.get("aws:asset:path", ""))
            if child in templates:
                yield child, Binding(template.name, stack.id)
