"""The rules as a validation plugin of the CDK: they run at the end of every synthesis and can stop it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import jsii
from constructs import IConstruct

from .catalogue import BY_ID, RULES
from .check import Unmarked, check
from .rule import PLUGIN, Finding, Level
from .template import Template

VERSION = "0.1.0"


@jsii.implements(cdk.IPolicyValidationPlugin)
class SurehandRules:
    """Refuse a synthesis that breaks a rule: ``Validations.of(app).add_plugins(SurehandRules())``.

    *unmarked* is what happens to violations by resources that belong to no surehand handler: "refuse", "warn" or
    "ignore". By default they are warned about beside surehand handlers, and refused in an app without any (see
    `check`). *account_concurrency* is the account's Lambda limit.
    """

    def __init__(self, *, unmarked: Unmarked | None = None, account_concurrency: int = 1000) -> None:
        self._unmarked = unmarked
        self._account_concurrency = account_concurrency

    @property
    def name(self) -> str:
        """The plugin's name, which is also the prefix of acknowledgements."""
        return PLUGIN

    @property
    def version(self) -> str:
        """The version of the pack."""
        return VERSION

    @property
    def rule_ids(self) -> list[str]:
        """Every rule, for CDK's own statistics."""
        return [rule.id for rule in RULES]

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Read the synthesised templates and report. Only errors make the synthesis fail."""
        paths = {Path(stack.template_path).name: stack.template_path for stack in context.stack_templates}
        templates = {template.name: template for template in _templates(context)}
        findings = check(templates, unmarked=self._unmarked, account_concurrency=self._account_concurrency)
        return cdk.PolicyValidationPluginReport(
            success=not any(finding.level is Level.ERROR for finding in findings),
            violations=[_violation(finding, paths) for finding in findings],
            plugin_version=VERSION,
        )


def acknowledge(scope: IConstruct, rule_id: str, reason: str) -> None:
    """Accept what *rule_id* says about *scope* and everything below it, with the *reason* for the record.

    Raises ValueError for a rule that does not exist and for an empty reason.
    """
    rule = BY_ID.get(rule_id.removeprefix(f"{PLUGIN}::"))
    if rule is None:
        raise ValueError(f"There is no rule {rule_id!r}; docs/rules.md lists them.")
    if not reason.strip():
        raise ValueError(f"Acknowledging {rule.id} needs a reason that the next person understands.")
    cdk.Validations.of(scope).acknowledge(cdk.Acknowledgment(id=rule.acknowledge_id, reason=reason))


def _violation(finding: Finding, paths: dict[str, str]) -> cdk.PolicyViolation:
    return cdk.PolicyViolation(
        rule_name=finding.rule.id,
        description=f"{finding.message}. {finding.rule.title}: {finding.rule.why}",
        fix=finding.fix,
        severity=finding.level.value,
        rule_metadata={"source": finding.rule.source},
        violating_resources=[
            cdk.PolicyViolatingResource(
                resource_logical_id=finding.resource,
                template_path=paths.get(finding.template, finding.template),
                locations=[finding.at],
            )
        ],
    )


def _templates(context: cdk.IPolicyValidationContext) -> Iterator[Template]:
    for stack in context.stack_templates:
        path = Path(stack.template_path)
        body = _with_children_named(path)
        name = _stack_names(path.parent).get(path.name, "")
        yield Template.read(path.name, body, stack=name, account=stack.account_id, region=stack.region)
        yield from _nested(path.parent, body)


def _nested(directory: Path, body: dict[str, Any]) -> Iterator[Template]:
    for resource in body.get("Resources", {}).values():
        if resource.get("Type") == "AWS::CloudFormation::Stack" and (child := _child(directory, resource)) is not None:
            nested = _with_children_named(child)
            yield Template.read(child.name, nested)
            yield from _nested(directory, nested)


def _child(directory: Path, resource: dict[str, Any]) -> Path | None:
    name = resource.get("Metadata", {}).get("aws:asset:path")
    path = directory / str(name)
    return path if name and path.is_file() else None


def _with_children_named(path: Path) -> dict[str, Any]:
    """The template with each nested stack's file in its Metadata, which only the CDK's command line has CDK write."""
    body = _json(path)
    stacks = [r for r in body.get("Resources", {}).values() if r.get("Type") == "AWS::CloudFormation::Stack"]
    for stack in stacks:
        url = json.dumps(stack.get("Properties", {}).get("TemplateURL"))
        for digest, file in _assets(path.parent).items():
            if digest in url:
                stack.setdefault("Metadata", {}).setdefault("aws:asset:path", file)
    return body


def _assets(directory: Path) -> dict[str, str]:
    """Asset hash to file, over every asset manifest of the assembly."""
    return {
        digest: asset["source"]["path"]
        for manifest in directory.glob("*.assets.json")
        for digest, asset in _json(manifest).get("files", {}).items()
        if "path" in asset.get("source", {})
    }


def _stack_names(directory: Path) -> dict[str, str]:
    """Template file to stack name, from the assembly's manifest; empty when it is not written yet."""
    manifest = directory / "manifest.json"
    if not manifest.is_file():
        return {}
    return {
        artifact["properties"]["templateFile"]: artifact["properties"].get("stackName", id)
        for id, artifact in _json(manifest).get("artifacts", {}).items()
        if artifact.get("type") == "aws:cloudformation:stack"
    }


def _json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
