"""What must hold where data is real: in a stage whose name says production, and wherever a resource is retained."""

from __future__ import annotations

from collections.abc import Iterator

from . import sources
from .assembly import Assembly, location
from .consumption import consumed, sources_by_dead_letters
from .ownership import ledgers, owned
from .rule import Verdict, refuse, rule
from .template import Resource

STAGE_VARIABLE = "SUREHAND_STAGE"
NAMES = ("prod", "production", "live")
#: The policies that keep a resource, by attribute. Sources:
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html,
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html
KEEPING = {"DeletionPolicy": ("Retain", "RetainExceptOnCreate"), "UpdateReplacePolicy": ("Retain",)}


def in_production(a: Assembly) -> bool:
    """Whether a function of ours says that its stage is one with real data."""
    return any(str(a.variables(f).get(STAGE_VARIABLE, "")).lower() in NAMES for f in a.functions)


def _protected_tables(a: Assembly) -> list[Resource]:
    return [t for t in ledgers(a) if in_production(a) or _keeps(t, "DeletionPolicy")]


def _keeps(resource: Resource, policy: str) -> bool:
    return resource.body.get(policy) in KEEPING[policy]


def _stateful(a: Assembly) -> list[Resource]:
    if not in_production(a):
        return []
    mine = owned(a)
    queues = [q for q in dict.fromkeys([*consumed(a), *sources_by_dead_letters(a)]) if q in mine]
    return [*ledgers(a), *queues]


def _replica(table: Resource) -> tuple[str | int, ...]:
    """Where a table's protection is written: a global table has it on each replica, and ours has one."""
    return ("Replicas", 0) if table.type.endswith("GlobalTable") else ()


def _recoverable(a: Assembly, table: Resource) -> Iterator[Verdict]:
    at = (*_replica(table), "PointInTimeRecoverySpecification")
    if not a.flag(table, *at, "PointInTimeRecoveryEnabled"):
        yield refuse(
            table,
            location(*at),
            "no point-in-time recovery",
            fix="point_in_time_recovery_specification=PointInTimeRecoverySpecification(point_in_time_recovery_enabled=True)",
            edits=[table.put(*at, value={"PointInTimeRecoveryEnabled": True})],
        )


def _undeletable(a: Assembly, table: Resource) -> Iterator[Verdict]:
    at = (*_replica(table), "DeletionProtectionEnabled")
    if not a.flag(table, *at):
        yield refuse(
            table,
            location(*at),
            "no deletion protection",
            fix="deletion_protection=True",
            edits=[table.put(*at, value=True)],
        )


def _retained(_: Assembly, resource: Resource) -> Iterator[Verdict]:
    for policy in KEEPING:
        if not _keeps(resource, policy):
            yield refuse(
                resource,
                policy,
                f"{policy} {resource.body.get(policy, 'Delete')}: a rename or a removed stack deletes what it holds",
                fix="apply_removal_policy(RemovalPolicy.RETAIN), or protect=True on ServiceConstruct",
                edits=[resource.put_attribute(policy, "Retain")],
            )


RULES = (
    rule(
        "T02",
        "The ledger can be restored to any second",
        why="a lost ledger means that every redelivery repeats its effect",
        fix="point-in-time recovery in production, and wherever the table is retained",
        source=sources.DYNAMODB_RECOVERY,
        over=_protected_tables,
        judge=_recoverable,
    ),
    rule(
        "T03",
        "The ledger cannot be deleted by mistake",
        why="deleting it takes the memory of every effect",
        fix="deletion protection in production, and wherever the table is retained",
        source=sources.DYNAMODB_PROTECTION,
        over=_protected_tables,
        judge=_undeletable,
    ),
    rule(
        "N03",
        "Queues and ledger outlive their stack in production",
        why="CloudFormation replaces a renamed queue and deletes the old one with its messages",
        fix="DeletionPolicy and UpdateReplacePolicy Retain",
        source=sources.STACK_RETAIN,
        over=_stateful,
        judge=_retained,
    ),
)
