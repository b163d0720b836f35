"""The world that a service needs, for the length of a test: in memory, or on moto."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, TypeVar, overload
from unittest.mock import patch

from surehand import entrypoint
from surehand.declare import Handler, Service, derived
from surehand.ledger import Cursors, Ledger, Operation
from surehand.queues import Clock, Queues
from surehand.states import State
from surehand.testing.clock import FakeClock
from surehand.testing.cursors import MemoryCursors
from surehand.testing.events import record
from surehand.testing.gate import Gate, MemoryCloud, sources_of, store_secrets
from surehand.testing.gate_on_moto import create_edge, gate_on_moto
from surehand.testing.memory import MemoryLedger
from surehand.testing.queues import RecordingQueues
from surehand.testing.queues_on_moto import made_up_handles_accepted
from surehand.testing.sends import held_to_sends_to
from surehand.worker import Ports
from surehand.worker.endings import Ending
from surehand.worker.loop import EventLoop

#: The stage of every test world.
STAGE = "test"
_REGION = "eu-west-1"


@dataclass
class RecordingTeller:
    """Keeps what was told: `endings`, one per delivery, in order."""

    endings: list[Ending] = field(default_factory=list)

    def tell(self, handler: Handler[Any], endings: Sequence[Ending], *, now: object) -> None:  # noqa: ARG002
        """See `Teller.tell`."""
        self.endings += endings


@dataclass(frozen=True)
class World:
    """What a test can reach: the ledger, the queues, the clock, and what was told of each delivery.

    In memory the clock stands still until `clock.advance(…)`; on moto it is the real one, and `endings` is empty.
    `gate` is the ingress of the service's webhooks: `gate.post(handler, body)` signs, posts and returns the answer, and
    `gate.event(handler)` is the SQS event that follows.
    """

    service: Service
    ledger: Ledger
    cursors: Cursors
    queues: Queues
    clock: Clock
    teller: RecordingTeller
    gate: Gate

    def event(self, handler: Handler[Any], *payloads: object, **options: Any) -> dict[str, Any]:
        """Return an SQS event with one record per payload, sent now. Options are those of `record`."""
        return {"Records": [record(handler, one, sent_at=self.clock.now(), **options) for one in payloads]}

    def operation(self, handler: Handler[Any], payload: Any) -> Operation | None:
        """Return what the ledger knows of the operation of *payload*."""
        operation_id = handler.identify(payload, handler.payload.dump(payload)).operation
        return self.ledger.read([operation_id]).get(operation_id)

    def state(self, handler: Handler[Any], payload: Any) -> State | None:
        """Return the state of the operation of *payload*, "succeeded" for one; None if the ledger knows none."""
        operation = self.operation(handler, payload)
        return None if operation is None else operation.state


@dataclass(frozen=True)
class MemoryWorld(World):
    """A world in memory: the clock is set by hand, and what was sent, hidden and stored can be looked at."""

    ledger: MemoryLedger
    cursors: MemoryCursors
    queues: RecordingQueues
    clock: FakeClock


@overload
def world(
    service: Service, *, on: Literal["memory"] = "memory", seed: int = 0
) -> AbstractContextManager[MemoryWorld]: ...
@overload
def world(service: Service, *, on: Literal["moto"], seed: int = 0) -> AbstractContextManager[World]: ...
def world(
    service: Service, *, on: Literal["memory", "moto"] = "memory", seed: int = 0
) -> AbstractContextManager[World]:
    """Make tables, queues and environment from a service's declarations, for the body of a `with`.

    `charge_order(event, context)` then works unchanged. "memory" needs nothing and takes microseconds; "moto" enters
    `mock_aws`, so that the handlers' own boto3 calls work too, and writes the ledger one item at a time, since moto
    does not emulate PartiQL writes. A handler may send to what its `sends_to` declares, as deployed. *seed* makes the
    jitter of a world in memory repeatable.

    Raises:
        ModuleNotFoundError: "moto" without moto; install `surehand[testing]`.
    """
    return _declared(service, _in_memory(service, seed) if on == "memory" else _on_moto(service))


_W = TypeVar("_W", bound=World)


@contextmanager
def _declared(service: Service, made: AbstractContextManager[_W]) -> Iterator[_W]:
    with held_to_sends_to(service.handlers), made as one:
        yield one


@contextmanager
def _in_memory(service: Service, seed: int) -> Iterator[MemoryWorld]:
    ledger, clock = MemoryLedger(), FakeClock()
    cloud = MemoryCloud(secrets=store_secrets(service, stage=STAGE))
    made = MemoryWorld(
        service=service,
        ledger=ledger,
        cursors=MemoryCursors(ledger),
        queues=RecordingQueues(),
        clock=clock,
        teller=RecordingTeller(),
        gate=Gate(sources_of(service, stage=STAGE), cloud.ports(clock), clock),
    )
    loop = EventLoop()
    ports = Ports(
        ledger=ledger,
        cursors=made.cursors,
        queues=made.queues,
        clock=made.clock,
        random=Random(seed),
        teller=made.teller,
        loop=loop,
        retention=derived.ledger_retention(service.handlers),
        version="test",
        group_commit=False,
        fetch=cloud.fetch,
    )
    try:
        with entrypoint.bound(ports):
            yield made
    finally:
        loop.close()


@contextmanager
def _on_moto(service: Service) -> Iterator[World]:
    from moto import mock_aws

    credentials = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": _REGION}
    with patch.dict(os.environ, credentials), mock_aws(), made_up_handles_accepted():
        os.environ.pop("AWS_ENDPOINT_URL", None)
        os.environ |= _create(service)
        entrypoint.forget()
        try:
            ports = entrypoint.ports_of(service.handlers[0])
            yield World(
                service=service,
                ledger=ports.ledger,
                cursors=ports.cursors,
                queues=ports.queues,
                clock=ports.clock,
                teller=RecordingTeller(),
                gate=gate_on_moto(service, stage=STAGE, clock=ports.clock),
            )
        finally:
            entrypoint.forget()


def _create(service: Service) -> Mapping[str, str]:
    """Create table and queues on moto, and return the variables that a deployed function would have."""
    from surehand.aws import clients

    dynamodb = clients.client("dynamodb", clients.LEDGER)
    sqs = clients.client("sqs", clients.QUEUES)
    table = derived.table_name(service.name, STAGE)
    dynamodb.create_table(**table_definition(table))
    variables = {
        derived.SERVICE: service.name,
        derived.STAGE: STAGE,
        derived.TABLE: table,
        derived.WRITES: "single",
        derived.VERSION: "test",
        derived.LEDGER_RETENTION: str(int(derived.ledger_retention(service.handlers).total_seconds())),
    }
    for handler in service.handlers:
        variables[derived.queue_variable(handler.name)] = _create_queue(sqs, service, handler)
    return {**variables, **create_edge(service, stage=STAGE, region=_REGION)}


def _create_queue(sqs: Any, service: Service, handler: Handler[Any]) -> str:
    import json

    fifo = {"FifoQueue": "true"} if handler.options.fifo else {}
    name = derived.dead_letter_queue_name(service.name, STAGE, handler)
    dead = sqs.create_queue(QueueName=name, Attributes=fifo)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    redrive = {"deadLetterTargetArn": arn, "maxReceiveCount": derived.max_receive_count(handler)}
    attributes = {
        **fifo,
        "VisibilityTimeout": str(int(derived.visibility_timeout(handler).total_seconds())),
        "RedrivePolicy": json.dumps(redrive),
    }
    created = sqs.create_queue(QueueName=derived.queue_name(service.name, STAGE, handler), Attributes=attributes)
    return str(created["QueueUrl"])


def table_definition(table: str) -> dict[str, Any]:
    """Return the CreateTable request of a ledger table, as the construct deploys it."""
    partition, sort = derived.TABLE_KEYS
    handler, moment = derived.ATTENTION_KEYS
    return {
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}],
        "AttributeDefinitions": [
            {"AttributeName": partition, "AttributeType": "S"},
            {"AttributeName": sort, "AttributeType": "S"},
            {"AttributeName": handler, "AttributeType": "S"},
            {"AttributeName": moment, "AttributeType": "N"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": derived.ATTENTION_INDEX,
                "KeySchema": [
                    {"AttributeName": handler, "KeyType": "HASH"},
                    {"AttributeName": moment, "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    }
