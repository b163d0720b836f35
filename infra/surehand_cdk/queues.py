"""A handler's queue and its dead-letter queue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from surehand.declare import (
    DEAD_LETTER_RETENTION,
    Handler,
    dead_letter_queue_name,
    max_receive_count,
    queue_name,
    visibility_timeout,
)
from surehand.errors import DeclarationError
from surehand_cdk.keeping import Keeping


@dataclass(frozen=True, slots=True)
class QueuePair:
    """Where a handler's messages arrive, and where SQS moves those it cannot deliver."""

    queue: sqs.IQueue
    dead_letters: sqs.Queue
    adopted: bool


def queue_pair(
    scope: Construct, handler: Handler[Any], *, service: str, stage: str, keeping: Keeping, adopt: str | None
) -> QueuePair:
    """Create both queues in *scope*, or the dead-letter queue alone for an existing queue called *adopt*.

    An adopted queue's attributes are its owner's to set: an output of the stack says which ones.

    Raises:
        DeclarationError: *adopt* is FIFO and the handler is not, or the other way round.
    """
    name = adopt or queue_name(service, stage, handler)
    # By name and not by reference: the source refers to its dead-letter queue, which refers back to the source.
    arn = Stack.of(scope).format_arn(service="sqs", resource=name)
    source = sqs.Queue.from_queue_attributes(scope, "Source", queue_arn=arn, fifo=handler.options.fifo)
    dead_letters = sqs.Queue(
        scope,
        "DeadLetters",
        queue_name=dead_letter_queue_name(service, stage, handler),
        retention_period=seconds(DEAD_LETTER_RETENTION),
        redrive_allow_policy=sqs.RedriveAllowPolicy(
            redrive_permission=sqs.RedrivePermission.BY_QUEUE, source_queues=[source]
        ),
        **_kind(handler),
        **_guarded(keeping),
    )
    if adopt is not None:
        _adopt(scope, handler, adopt, dead_letters)
        return QueuePair(source, dead_letters, adopted=True)
    queue = sqs.Queue(
        scope,
        "Queue",
        queue_name=name,
        retention_period=seconds(handler.options.retention),
        visibility_timeout=seconds(visibility_timeout(handler)),
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead_letters, max_receive_count=max_receive_count(handler)),
        **_kind(handler),
        **_guarded(keeping),
    )
    return QueuePair(queue, dead_letters, adopted=False)


def seconds(length: timedelta) -> Duration:
    """Return a length as CDK takes it."""
    return Duration.seconds(int(length.total_seconds()))


def _kind(handler: Handler[Any]) -> dict[str, Any]:
    """Groups of a FIFO queue are independent of each other, so each has its own deduplication and throughput.

    Without content-based deduplication: a corrected message within five minutes would be swallowed, and so would our
    own redrive. The ledger deduplicates.
    """
    if not handler.options.fifo:
        return {}
    return {
        "fifo": True,
        "deduplication_scope": sqs.DeduplicationScope.MESSAGE_GROUP,
        "fifo_throughput_limit": sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
    }


def _guarded(keeping: Keeping) -> dict[str, Any]:
    return {
        "encryption": sqs.QueueEncryption.KMS if keeping.key else sqs.QueueEncryption.SQS_MANAGED,
        "encryption_master_key": keeping.key,
        "enforce_ssl": True,
        "removal_policy": keeping.removal,
    }


def _adopt(scope: Construct, handler: Handler[Any], name: str, dead_letters: sqs.Queue) -> None:
    if name.endswith(".fifo") != handler.options.fifo:
        needed, found = ("FIFO", "standard") if handler.options.fifo else ("standard", "FIFO")
        raise DeclarationError(
            f"Handler '{handler.name}' needs a {needed} queue (group= makes it FIFO), and '{name}' is a {found} one by "
            "its name."
        )
    CfnOutput(
        scope,
        "AdoptedQueueNeeds",
        description=f"Attributes that queue {name} must have for handler {handler.name}",
        value=Stack.of(scope).to_json_string(
            {
                "VisibilityTimeout": str(int(visibility_timeout(handler).total_seconds())),
                "RedrivePolicy": {
                    "deadLetterTargetArn": dead_letters.queue_arn,
                    "maxReceiveCount": max_receive_count(handler),
                },
            }
        ),
    )
