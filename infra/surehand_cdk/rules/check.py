"""The whole check: templates in, findings out. Needs neither node nor jsii."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from .assembly import Assembly
from .catalogue import RULES
from .ownership import owned
from .rule import Finding, Level, Rule, Scope, Verdict
from .template import Resource, Template

Unmarked = Literal["refuse", "warn", "ignore"]


def check(
    templates: Mapping[str, Mapping[str, Any] | Template],
    *,
    unmarked: Unmarked | None = None,
    account_concurrency: int = 1000,
    rules: Iterable[Rule] = RULES,
) -> list[Finding]:
    """Judge *templates* (file or stack name to template body) by *rules*.

    *unmarked* says what to do with a violation by a resource that belongs to no surehand handler. By default it is only
    warned about when the app also has surehand handlers (it is the user's own), and refused when the app has none
    (then the pack was applied to a stack written by hand, which is what it is for). What a template acknowledges in a
    resource's Metadata (``surehand: {acknowledged: {Q01: reason}}``) is left out; a reason must be given.
    """
    read = {name: body if isinstance(body, Template) else Template.read(name, body) for name, body in templates.items()}
    assembly = Assembly(read, account_concurrency=account_concurrency)
    mine = owned(assembly)
    policy: Unmarked = unmarked or ("warn" if assembly.functions else "refuse")
    return [
        _finding(rule, verdict, level)
        for rule in rules
        for verdict in _applicable(rule, assembly, mine)
        if (level := _level(rule, verdict, mine, policy)) is not None and not _acknowledged(verdict.subject, rule)
    ]


def _applicable(rule: Rule, assembly: Assembly, mine: frozenset[Resource]) -> Iterator[Verdict]:
    for verdict in rule.verdicts(assembly):
        if rule.scope is Scope.ANY or verdict.subject in mine:
            yield verdict


def _level(rule: Rule, verdict: Verdict, mine: frozenset[Resource], policy: Unmarked) -> Level | None:
    level = verdict.level or rule.level
    if verdict.subject in mine or policy == "refuse":
        return level
    return Level.WARNING if policy == "warn" else None


def _acknowledged(resource: Resource, rule: Rule) -> bool:
    section = resource.metadata.get("surehand", {})
    reasons = section.get("acknowledged", {}) if isinstance(section, Mapping) else {}
    reason = reasons.get(rule.id, reasons.get(rule.acknowledge_id)) if isinstance(reasons, Mapping) else None
    return isinstance(reason, str) and bool(reason.strip())


def _finding(rule: Rule, verdict: Verdict, level: Level) -> Finding:
    subject = verdict.subject
    return Finding(
        rule=rule,
        level=level,
        template=subject.template,
        resource=subject.id,
        construct_path=subject.construct_path,
        at=verdict.at,
        message=f"{subject.label}: {verdict.says}",
        fix=verdict.fix,
        edits=verdict.edits,
        checkable=verdict.checkable,
    )
