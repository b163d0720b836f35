"""What the pack cannot see. It says so, instead of passing in silence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from . import sources
from .assembly import Assembly, location
from .ownership import ledgers, owned
from .rule import Level, Scope, Verdict, refuse, rule
from .template import Resource


def _stacks(a: Assembly) -> Iterator[Resource]:
    return a.resources("AWS::CloudFormation::Stack")


def _nested(a: Assembly, stack: Resource) -> Iterator[Verdict]:
    if (stack.template, stack.id) not in a.nested:
        yield Verdict(
            subject=stack,
            at=location("TemplateURL"),
            says="not checkable: its template is not part of this app's output",
            fix="a NestedStack of this app, or check that template on its own",
            checkable=False,
        )


def _macros(a: Assembly) -> Iterator[Resource]:
    for template in a.templates.values():
        loops = [name for name in template.body.get("Resources", {}) if str(name).startswith("Fn::")]
        serverless = [r for r in template.resources.values() if r.type.startswith("AWS::Serverless::")]
        if template.body.get("Transform") or loops or serverless:
            yield Resource(template.name, "Transform", "AWS::CloudFormation::Macro", {})


def _expanded(_: Assembly, macro: Resource) -> Iterator[Verdict]:
    yield Verdict(
        subject=macro,
        at="Transform",
        says="not checkable: CloudFormation adds resources when it expands the template's macros",
        fix="check the processed template (`aws cloudformation get-template --template-stage Processed`)",
        checkable=False,
    )


def _strongly_referenced(a: Assembly, resource: Resource) -> Iterator[Verdict]:
    for template in a.templates.values():
        for output in _weak_references(template.body):
            found = a.target(a.resolve(output, within=template.name))
            if found is resource:
                yield refuse(
                    resource,
                    location(),
                    f"stack {template.name} refers to it weakly (Fn::GetStackOutput): it can be replaced under it",
                    fix="a strong reference, or the context @aws-cdk/core:defaultCrossStackReferences: strong",
                )
                return


def _weak_references(node: Any) -> Iterator[Any]:
    if isinstance(node, Mapping):
        if "Fn::GetStackOutput" in node:
            yield node
        for item in node.values():
            yield from _weak_references(item)
    elif isinstance(node, list):
        for item in node:
            yield from _weak_references(item)


def _stateful(a: Assembly) -> list[Resource]:
    return [*(r for r in owned(a) if r.type == "AWS::SQS::Queue"), *ledgers(a)]


RULES = (
    rule(
        "X01",
        "Nested stacks can be read",
        level=Level.WARNING,
        scope=Scope.ANY,
        why="a queue in a template that nobody read is a queue that nobody checked",
        fix="nested stacks of this app; their parameters and outputs are followed",
        source=sources.DESIGN,
        over=_stacks,
        judge=_nested,
    ),
    rule(
        "X02",
        "Templates are read as they will be deployed",
        level=Level.WARNING,
        scope=Scope.ANY,
        why="macros (SAM, Fn::ForEach) make resources that are not in the template yet",
        fix="check the processed template",
        source=sources.DESIGN,
        over=_macros,
        judge=_expanded,
    ),
    rule(
        "N02",
        "Queues and ledger are referenced strongly by other stacks",
        level=Level.WARNING,
        why="a weak reference lets a producer's queue be replaced while its consumer still holds the old name",
        fix="strong cross-stack references for stateful resources",
        source=sources.CDK_REFERENCES,
        over=_stateful,
        judge=_strongly_referenced,
    ),
)
