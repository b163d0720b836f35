"""The ledger table: the shape that the code reads and writes."""

from __future__ import annotations

from collections.abc import Iterator

from surehand.declare import derived

from . import sources
from .assembly import Assembly, location
from .ownership import ledgers
from .rule import Level, Verdict, refuse, rule
from .shapes import dig, listed
from .template import Edit, Resource


def _keys(a: Assembly, table: Resource) -> Iterator[Verdict]:
    schema = {str(dig(key, "KeyType")): dig(key, "AttributeName") for key in listed(a.value(table, "KeySchema"))}
    hash_key, range_key = derived.TABLE_KEYS
    wanted = {"HASH": hash_key, "RANGE": range_key}
    if schema != wanted:
        yield refuse(
            table,
            location("KeySchema"),
            f"keys {schema}, the code writes {wanted}",
            fix=f'partition_key "{hash_key}", sort_key "{range_key}", both STRING',
            edits=[
                table.put("KeySchema", value=[{"AttributeName": v, "KeyType": k} for k, v in wanted.items()]),
            ],
        )


def _forgets_on_time(a: Assembly, table: Resource) -> Iterator[Verdict]:
    attribute = a.value(table, "TimeToLiveSpecification", "AttributeName")
    enabled = a.flag(table, "TimeToLiveSpecification", "Enabled")
    if attribute != derived.TTL_ATTRIBUTE or not enabled:
        yield refuse(
            table,
            location("TimeToLiveSpecification"),
            f"time to live on {attribute or 'no attribute'}, the code writes {derived.TTL_ATTRIBUTE}",
            fix=f'time_to_live_attribute="{derived.TTL_ATTRIBUTE}"',
            edits=[
                table.put("TimeToLiveSpecification", value={"AttributeName": derived.TTL_ATTRIBUTE, "Enabled": True})
            ],
        )


def _pays_per_request(a: Assembly, table: Resource) -> Iterator[Verdict]:
    if a.value(table, "BillingMode") != "PAY_PER_REQUEST":
        yield refuse(
            table,
            location("BillingMode"),
            "provisioned capacity: a redrive or a surge is throttled, and nothing runs unclaimed",
            fix="billing=Billing.on_demand()",
            edits=[table.put("BillingMode", value="PAY_PER_REQUEST"), *_without_capacity(table)],
        )


def _without_capacity(table: Resource) -> Iterator[Edit]:
    if "ProvisionedThroughput" in table.properties:
        yield table.drop("ProvisionedThroughput")


def _attention(a: Assembly, table: Resource) -> Iterator[Verdict]:
    wanted = list(derived.ATTENTION_KEYS)
    for index in listed(a.value(table, "GlobalSecondaryIndexes")):
        if dig(index, "IndexName") == derived.ATTENTION_INDEX:
            keys = [dig(key, "AttributeName") for key in listed(dig(index, "KeySchema"))]
            if keys == wanted:
                return
    value = {
        "IndexName": derived.ATTENTION_INDEX,
        "KeySchema": [
            {"AttributeName": name, "KeyType": kind} for name, kind in zip(wanted, ("HASH", "RANGE"), strict=True)
        ],
        "Projection": {"ProjectionType": "ALL"},
    }
    yield refuse(
        table,
        location("GlobalSecondaryIndexes"),
        f"no index {derived.ATTENTION_INDEX} on {' and '.join(wanted)}: failed and held items can only be scanned for",
        fix=f'add_global_secondary_index(index_name="{derived.ATTENTION_INDEX}", ...)',
        edits=[table.put("GlobalSecondaryIndexes", value=[value])],
    )


RULES = (
    rule(
        "T09",
        "The ledger's keys are those that the code writes",
        why="every claim fails with a ValidationException, and every message with it",
        fix="id (HASH) and part (RANGE), both strings",
        source=sources.DESIGN,
        over=ledgers,
        judge=_keys,
    ),
    rule(
        "T01",
        "The ledger's time to live is on the attribute that the code writes",
        why="on another attribute nothing ever expires, and the table grows for ever",
        fix="TimeToLiveSpecification on expires_at",
        source=sources.DYNAMODB_TTL,
        over=ledgers,
        judge=_forgets_on_time,
    ),
    rule(
        "T04",
        "The ledger pays per request",
        level=Level.WARNING,
        why="the load is that of the queues: nothing for hours, then everything",
        fix="BillingMode PAY_PER_REQUEST",
        source=sources.DYNAMODB_CAPACITY,
        over=ledgers,
        judge=_pays_per_request,
    ),
    rule(
        "T07",
        "The ledger has the index of what needs attention",
        why="listing failures, the sweep and the STUCK alarm read it",
        fix="the sparse index attention (attention, attention_at)",
        source=sources.DESIGN,
        over=ledgers,
        judge=_attention,
    ),
)
