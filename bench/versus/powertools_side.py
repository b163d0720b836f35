"""Powertools in the simulated account: its documented setup for SQS with idempotency, with every option that helps.

* `BatchProcessor` with a pydantic model, or `SqsFifoPartialProcessor(skip_group_on_error=True)`; no exception for a
  batch that fails as a whole.
* `idempotent_function` on the business function, keyed by the order's number, with the amount as validated payload,
  `raise_on_no_idempotency_key=True`, a `key_prefix` (so that a rename keeps the keys) and the context registered at
  every invocation.
* The record handler looks at the time left and fails a record that it would not finish ("Accessing Lambda Context").
* Records expire after 30 days, not after the default hour.
* The queue's visibility is six times the function's timeout and maxReceiveCount is 5, as AWS recommends.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import boto3
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    SqsFifoPartialProcessor,
    process_partial_response,
)
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.parser.models import SqsRecordModel
from pydantic import Json

from bench.versus.place import REGION, Act, Attempt, Bank, Deployed, Order, Place, crossed, store
from surehand.testing.simulator import Simulation

TABLE = "versus-idempotency"
TIMEOUT = dt.timedelta(seconds=30)
MAX_RECEIVE_COUNT = 5
#: A record is not begun with less time than this left: as long as surehand's own reserve for a timeout of 30 s.
RESERVE_MS = 4_000
_IDEMPOTENCY = "aws_lambda_powertools.utilities.idempotency"
#: The modules of the peer that read the clock.
_CLOCKED = (
    f"{_IDEMPOTENCY}.base",
    f"{_IDEMPOTENCY}.persistence.base",
    f"{_IDEMPOTENCY}.persistence.datarecord",
    f"{_IDEMPOTENCY}.persistence.dynamodb",
)

Lambda = Callable[[Any, Any], Any]


class OrderRecord(SqsRecordModel):
    """An SQS record whose body is an order."""

    body: Json[Order]


class PowertoolsPlace:
    """See `Place`."""

    name = "powertools"

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.bank = Bank()
        self.resend = False
        self._client().create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )

    def deploy(self, act: Act, *, fifo: bool = False, hold: bool = False) -> Deployed:  # noqa: ARG002 - it has no such policy
        """See `Place.deploy`."""
        return self.deploy_lambda(lambda: self.build(act, fifo=fifo), fifo=fifo)

    def deploy_lambda(self, build: Callable[[], Lambda], *, fifo: bool = False) -> Deployed:
        """Deploy a function whose module is *build*: called at every cold start."""
        make = self.simulation.fifo_queue if fifo else self.simulation.standard_queue
        suffix = ".fifo" if fifo else ""
        dead_letters = make(f"orders-dlq{suffix}", retention=dt.timedelta(days=14))
        queue = make(
            f"orders{suffix}",
            visibility=6 * TIMEOUT,
            dead_letters=dead_letters,
            max_receive_count=MAX_RECEIVE_COUNT,
        )
        module: dict[str, Lambda] = {}

        def import_module() -> None:
            module["handler"] = build()

        def entry(event: Any, context: Any) -> Any:
            return module["handler"](event, context)

        function = self.simulation.function("orders", entry, timeout=TIMEOUT, on_init=import_module)
        self.simulation.map(queue, function, batch_size=10)
        return Deployed(function, queue, dead_letters)

    def build(self, act: Act, *, fifo: bool = False, key: str = "order_id") -> Lambda:
        """Return the Lambda handler of one execution environment."""
        config = self.config(key)
        charge = idempotent_function(
            self.business(act),
            data_keyword_argument="order",
            config=config,
            persistence_store=self.layer(),
            key_prefix="orders",
        )
        processor: Any = (
            SqsFifoPartialProcessor(model=OrderRecord, skip_group_on_error=True)
            if fifo
            else BatchProcessor(EventType.SQS, model=OrderRecord, raise_on_entire_batch_failure=False)
        )

        def handle(record: OrderRecord, lambda_context: Any) -> Any:
            if lambda_context.get_remaining_time_in_millis() < RESERVE_MS:
                raise TimeoutError("left for the next invocation")
            return charge(order=record.body)

        def lambda_handler(event: Any, context: Any) -> Any:
            config.register_lambda_context(context)
            return process_partial_response(event, handle, processor, context)

        return lambda_handler

    def config(self, key: str = "order_id") -> IdempotencyConfig:
        """Return the configuration."""
        return IdempotencyConfig(
            event_key_jmespath=key,
            payload_validation_jmespath="amount",
            raise_on_no_idempotency_key=True,
            expires_after_seconds=30 * 86_400,
        )

    def business(self, act: Act) -> Callable[..., object]:
        """Return the business function; its own key for the provider is the order's number, as good users do it."""

        def charge(*, order: Order) -> object:
            name = str(order.order_id)
            self.bank.runs[name] += 1
            return act(Attempt(self, order, self.bank.runs[name], f"order-{name}"))

        return charge

    def layer(self) -> DynamoDBPersistenceLayer:
        """Return a persistence layer on a client whose calls are crossings."""
        return DynamoDBPersistenceLayer(TABLE, boto3_client=crossed(self, self._client()))

    def _client(self) -> Any:
        return boto3.client("dynamodb", region_name=REGION)


@contextmanager
def powertools_place() -> Iterator[PowertoolsPlace]:
    """Yield a fresh account in which the peer reads the simulated clock."""
    with store(), Simulation() as simulation, ExitStack() as stack:
        clock = _clock(simulation)
        for module in _CLOCKED:
            stack.enter_context(patch(f"{module}.dt", clock))
        stack.enter_context(patch.dict("os.environ", {"AWS_LAMBDA_FUNCTION_NAME": "orders"}))
        yield PowertoolsPlace(simulation)


def _clock(simulation: Simulation) -> SimpleNamespace:
    """Return the peer's `datetime` module with the simulated present in it: naive local time, as `now()` gives it."""

    class Simulated(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            present = simulation.clock.now()
            return present.astimezone(tz) if tz is not None else present.astimezone().replace(tzinfo=None)

    return SimpleNamespace(datetime=Simulated, timedelta=dt.timedelta, date=dt.date, time=dt.time)


_CHECKED: type[Place] = PowertoolsPlace
