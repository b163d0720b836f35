"""`simulate`: a service, or single handlers, in a simulated account for the length of a `with`.

with simulate(SHOP) as account:
    account.deliver(charge_order, order)
    assert account.state(charge_order, order) == "succeeded"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from surehand import entrypoint
from surehand.declare import Handler, Service
from surehand.testing.account import Account
from surehand.testing.sends import held_to_sends_to
from surehand.testing.simulator import Faults, Simulation
from surehand.testing.simulator.timeline import START
from surehand.worker.conclusion import SoftDeadline


@contextmanager
def simulate(
    service: Service | Handler[Any] | Sequence[Handler[Any]],
    *,
    seed: int = 0,
    faults: Faults = Faults(),  # noqa: B008 - frozen
    group_commit: bool = False,
    start: datetime = START,
) -> Iterator[Account]:
    """Deploy a service, or single handlers, into a simulated account for the body of a `with`.

    Queues, visibility, receive counts and timeouts are the derived ones. Handlers run in threads of their own, one at
    a time; the soft deadline counts simulated time. With *group_commit* outcomes are settled by a real thread, whose
    groups are not repeatable; handlers must then not sleep in simulated time. *start* is the first moment. A handler
    may send to what its `sends_to` declares, as deployed.
    """
    handlers = (
        service.handlers if isinstance(service, Service) else (service,) if isinstance(service, Handler) else service
    )
    with ExitStack() as stack:
        simulation = stack.enter_context(Simulation(seed=seed, start=start, faults=faults))
        account = Account(tuple(handlers), simulation, group_commit=group_commit)
        stack.callback(account.loop.close)
        stack.enter_context(entrypoint.bound(account.ports))
        stack.enter_context(held_to_sends_to(tuple(handlers)))
        stack.enter_context(patch("surehand.worker.attempts.interrupted_after", _guard(simulation)))
        for handler in handlers:
            stack.enter_context(patch.object(handler, "function", account.witness.around(handler)))
        yield account


def _guard(simulation: Simulation) -> Any:
    """The soft deadline in simulated time, in the place of the one that counts real time with SIGALRM."""

    def interrupt() -> None:
        raise SoftDeadline

    @contextmanager
    def interrupted_after(left: timedelta) -> Iterator[None]:
        if left <= timedelta(0):
            raise SoftDeadline
        simulation.clock.alarm(simulation.clock.now() + left, interrupt)
        try:
            yield
        finally:
            simulation.clock.silence()

    return interrupted_after
