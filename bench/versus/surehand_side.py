"""surehand in the simulated account, with its ledger on moto."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bench.versus.place import Act, Attempt, Bank, Busy, Deployed, Impossible, Order, Place, crossed, store
from surehand import Handler, Job, Reject, Retry, queue
from surehand.aws import clients
from surehand.aws.dynamodb import DynamoDBLedger
from surehand.testing import Account, simulate
from surehand.testing.simulator import Simulation
from surehand.testing.world import table_definition

TABLE = "versus-ledger"


class _Script:
    """What the declared handlers do at the moment."""

    place: SurehandPlace
    act: Act

    def run(self, order: Order, job: Job) -> object:
        """Run the schedule's business code, and say what it says in surehand's words."""
        name = str(order.order_id)
        self.place.bank.runs[name] += 1
        attempt = Attempt(self.place, order, self.place.bank.runs[name], job.key("charge"))
        try:
            return self.act(attempt)
        except Busy as busy:
            raise Retry("provider.busy", after=busy.after) from busy
        except Impossible as impossible:
            raise Reject("data.impossible") from impossible


SCRIPT = _Script()


@queue("plain", key="order_id")
def plain(order: Order, job: Job) -> object:
    """A standard queue."""
    return SCRIPT.run(order, job)


@queue("in-lanes", key="order_id", group="lane")
def in_lanes(order: Order, job: Job) -> object:
    """A FIFO queue."""
    return SCRIPT.run(order, job)


@queue("careful", key="order_id", on_unknown="hold")
def careful(order: Order, job: Job) -> object:
    """A standard queue whose unknown effects wait for an operator."""
    return SCRIPT.run(order, job)


@queue("compound", key=("tenant", "order_id"))
def compound(order: Order, job: Job) -> object:
    """A key of two parts."""
    return SCRIPT.run(order, job)


@queue("awaited", key="order_id")
async def awaited(order: Order, job: Job) -> object:
    """An async handler."""
    return SCRIPT.run(order, job)


HANDLERS: tuple[Handler[Order], ...] = (plain, in_lanes, careful, compound, awaited)


class SurehandPlace:
    """See `Place`."""

    name = "surehand"

    def __init__(self, account: Account) -> None:
        self.account = account
        self.simulation: Simulation = account.simulation
        self.bank = Bank()
        self.resend = False
        client = clients.client("dynamodb", clients.LEDGER)
        client.create_table(**table_definition(TABLE))
        ledger = DynamoDBLedger(crossed(self, client), TABLE, batched=False)
        account.ports = replace(account.ports, ledger=ledger)

    def deploy(self, act: Act, *, fifo: bool = False, hold: bool = False) -> Deployed:
        """See `Place.deploy`."""
        return self.use(in_lanes if fifo else careful if hold else plain, act)

    def use(self, handler: Handler[Order], act: Act) -> Deployed:
        """Let one of the declared handlers do what the schedule says."""
        SCRIPT.place, SCRIPT.act = self, act
        site = self.account.sites[handler.name]
        return Deployed(site.function, site.queue, site.dead_letters)


@contextmanager
def surehand_place() -> Iterator[SurehandPlace]:
    """Yield a fresh account."""
    with store(), simulate(HANDLERS) as account:
        yield SurehandPlace(account)


def result_of(place: SurehandPlace, handler: Handler[Order], order: Order) -> Any:
    """Return what the ledger keeps of a handler's return value."""
    from surehand.results import decode

    operation_id = handler.identify(order, order.model_dump_json()).operation
    operation = place.account.ports.ledger.read([operation_id])[operation_id]
    return decode(operation.result)


#: The declared timeout of every handler here.
TIMEOUT = timedelta(seconds=30)
_CHECKED: type[Place] = SurehandPlace
