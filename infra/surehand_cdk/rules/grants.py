"""What a role may do, read from the policies in the templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from .assembly import Assembly, location
from .rule import NotKnown
from .shapes import listed
from .template import Resource, Unknown


@dataclass(frozen=True, slots=True)
class Grant:
    """One Allow statement: *resources* are resolved (handles, ARNs, ``*``); it is written at *at* of *policy*."""

    actions: tuple[str, ...]
    resources: tuple[Any, ...]
    policy: Resource
    at: str

    def allows(self, action: str) -> bool:
        """Whether one of its action patterns covers *action*, as IAM matches: without regard to case."""
        return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in self.actions)

    def covers(self, assembly: Assembly, resource: Resource) -> bool:
        """Whether it reaches *resource*, by handle, by ARN or by wildcard."""
        return any(_reaches(assembly, pattern, resource) for pattern in self.resources)


def role_of(assembly: Assembly, function: Resource) -> Resource:
    """The role of *function*. Raises NotKnown when it is outside the templates."""
    return assembly.known_target(function, "Role")


def grants(assembly: Assembly, role: Resource) -> Iterator[Grant]:
    """Every Allow statement of *role*: inline, attached from a policy, or from a managed policy of the templates."""
    for index in range(len(listed(role.properties.get("Policies")))):
        yield from _statements(assembly, role, "Policies", index, "PolicyDocument")
    for policy in assembly.resources("AWS::IAM::Policy", "AWS::IAM::RolePolicy", "AWS::IAM::ManagedPolicy"):
        attached = listed(policy.properties.get("Roles", policy.properties.get("RoleName")))
        if any(assembly.target(assembly.resolve(raw, within=policy.template)) is role for raw in attached):
            yield from _statements(assembly, policy, "PolicyDocument")
    for managed in listed(assembly.peek(role, "ManagedPolicyArns")):
        policy_ = assembly.target(managed)
        if isinstance(policy_, Resource) and policy_.type == "AWS::IAM::ManagedPolicy":
            yield from _statements(assembly, policy_, "PolicyDocument")


def may(assembly: Assembly, role: Resource, action: str, resource: Resource) -> bool:
    """Whether *role* is allowed *action* on *resource* by some statement of the templates."""
    return any(grant.allows(action) and grant.covers(assembly, resource) for grant in grants(assembly, role))


def _statements(assembly: Assembly, policy: Resource, *path: str | int) -> Iterator[Grant]:
    statements = assembly.value(policy, *path, "Statement")
    for index, statement in enumerate(listed(statements)):
        if not isinstance(statement, Mapping) or statement.get("Effect") != "Allow":
            continue
        at = location(*path, "Statement", index)
        actions = listed(statement.get("Action"))
        if any(isinstance(action, Unknown) for action in actions):
            raise NotKnown(policy, at, "an action is only known at deployment")
        yield Grant(tuple(map(str, actions)), tuple(listed(statement.get("Resource"))), policy, at)


def _reaches(assembly: Assembly, pattern: Any, resource: Resource) -> bool:
    if isinstance(pattern, Unknown):
        return False
    text = str(pattern)
    if text == "*" or assembly.target(text) is resource:
        return True
    if "*" not in text:
        return False
    name = next(
        (assembly.peek(resource, key) for key in ("QueueName", "TableName", "TopicName") if key in resource.properties),
        None,
    )
    return text.startswith("arn:") and (
        text.endswith(":*")
        or (isinstance(name, str) and fnmatchcase(name, text.rsplit(":", 1)[-1].removeprefix("table/")))
    )
