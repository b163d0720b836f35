"""The table in which every operation is claimed and settled."""

from __future__ import annotations

from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from surehand.declare import ATTENTION_INDEX, ATTENTION_KEYS, TABLE_KEYS, TTL_ATTRIBUTE
from surehand_cdk.keeping import Keeping


def ledger_table(scope: Construct, id: str, *, name: str, keeping: Keeping) -> dynamodb.Table:
    """Return the ledger: on demand, point-in-time recovery, TTL, and the sparse index of what needs attention.

    A plain table and no global one: replicas resolve conflicts by the last writer, which would break every claim.
    """
    partition, sort = (dynamodb.Attribute(name=key, type=dynamodb.AttributeType.STRING) for key in TABLE_KEYS)
    table = dynamodb.Table(
        scope,
        id,
        table_name=name,
        partition_key=partition,
        sort_key=sort,
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        time_to_live_attribute=TTL_ATTRIBUTE,
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        encryption=dynamodb.TableEncryption.CUSTOMER_MANAGED if keeping.key else None,
        encryption_key=keeping.key,
        deletion_protection=keeping.protect,
        removal_policy=keeping.removal,
    )
    handler, since = ATTENTION_KEYS
    table.add_global_secondary_index(
        index_name=ATTENTION_INDEX,
        partition_key=dynamodb.Attribute(name=handler, type=dynamodb.AttributeType.STRING),
        sort_key=dynamodb.Attribute(name=since, type=dynamodb.AttributeType.NUMBER),
        projection_type=dynamodb.ProjectionType.ALL,
    )
    return table
