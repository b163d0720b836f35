"""What the role of a handler's function may do, read from a template.

`granted_actions` is the template's half of "exactly what the code calls": the other half is recorded below botocore
over the whole suite, and `unlike` compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from surehand import Handler

#: Lambda itself calls these with the function's role: to poll the queue, to write logs and traces, to join a network.
BY_LAMBDA = frozenset({
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
})  # fmt: skip

Template = Mapping[str, Any]


def granted_actions(template: Template, handler: Handler[Any] | str) -> frozenset[str]:
    """Return every action that a function, a handler's or the one of that name, may call on anything."""
    return frozenset(action for _, actions in statements(template, handler) for action in actions)


def unlike(template: Template, handler: Handler[Any] | str, called: set[str]) -> tuple[set[str], set[str]]:
    """Compare with the actions that the handler's code *called*: those it may not call, and those it never called."""
    granted = granted_actions(template, handler)
    return called - granted, set(granted - BY_LAMBDA) - called


def statements(template: Template, handler: Handler[Any] | str) -> Iterator[tuple[list[Any], list[str]]]:
    """Yield resources and actions of each statement that allows something."""
    role = _role(template, handler)
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::IAM::Policy" and {"Ref": role} in properties["Roles"]:
            for statement in properties["PolicyDocument"]["Statement"]:
                if statement["Effect"] == "Allow":
                    yield _listed(statement["Resource"]), _listed(statement["Action"])


def _role(template: Template, wanted: Handler[Any] | str) -> str:
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        handler = properties.get("Environment", {}).get("Variables", {}).get("SUREHAND_HANDLER")
        found = properties.get("FunctionName") == wanted if isinstance(wanted, str) else handler == wanted.name
        if resource["Type"] == "AWS::Lambda::Function" and found:
            role: str = properties["Role"]["Fn::GetAtt"][0]
            return role
    raise LookupError(f"the template has no function for {wanted}")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
