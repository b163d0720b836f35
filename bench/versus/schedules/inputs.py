"""Messages that are not what they should be."""

from __future__ import annotations

from datetime import timedelta

from bench.versus.place import Attempt, Order, orders, send
from bench.versus.powertools_side import PowertoolsPlace
from bench.versus.schedule import Schedule, Side, Verdict, times
from bench.versus.surehand_side import compound


def _charge(attempt: Attempt) -> None:
    attempt.charge()


def malformed(side: Side) -> Verdict:
    """One of ten bodies is no JSON."""
    deployed = side.deploy(_charge)
    send(deployed, *orders(9), "not json")
    side.simulation.run_until_quiet()
    charged = sum(side.bank.charges.values())
    return Verdict(
        charged == 9 and deployed.dead == 1, f"{times(charged, 'charge')}, {times(deployed.dead, 'dead letter')}"
    )


def validator(side: Side) -> Verdict:
    """A validator of the user's own raises KeyError on one of ten bodies."""
    deployed = side.deploy(_charge)
    send(deployed, *orders(9), Order.model_construct(order_id="bug in the validator"))
    side.simulation.run_until_quiet()
    charged = len(side.bank.charges)
    most = max(side.bank.charges.values(), default=0)
    held = charged == 9 and most == 1 and deployed.dead == 1
    return Verdict(held, f"{times(charged, 'charge')}, {times(deployed.dead, 'dead letter')}")


def malformed_behind(side: Side) -> Verdict:
    """On FIFO, a malformed body follows a failing order in one batch; another lane is healthy."""

    def act(attempt: Attempt) -> None:
        if attempt.order.order_id == "a1" and attempt.number < 3:
            raise ConnectionError
        attempt.charge()

    deployed = side.deploy(act, fifo=True)
    send(deployed, Order(order_id="b1", lane="b"), Order(order_id="a1"), "not json")
    side.simulation.run(for_=timedelta(seconds=1))
    remaining = deployed.waiting
    side.simulation.run_until_quiet()
    charged = sum(side.bank.charges.values())
    held = remaining == 2 and charged == 2 and deployed.dead == 1
    return Verdict(
        held, f"{remaining} of 3 put back at first, {times(charged, 'charge')}, {times(deployed.dead, 'dead letter')}"
    )


def no_key(side: Side) -> Verdict:
    """An order without its number."""
    deployed = side.deploy(_charge)
    send(deployed, Order(amount=5), Order(amount=6))
    side.simulation.run_until_quiet()
    charged = sum(side.bank.charges.values())
    return Verdict(
        charged == 0 and deployed.dead == 2, f"{times(charged, 'charge')}, {times(deployed.dead, 'dead letter')}"
    )


def partial_key(side: Side) -> Verdict:
    """The key is tenant and number; two orders of one tenant come without a number."""
    if isinstance(side, PowertoolsPlace):
        deployed = side.deploy_lambda(lambda: side.build(_charge, key="[tenant, order_id]"))
    else:
        deployed = side.use(compound, _charge)
    send(deployed, Order(tenant="t", amount=5))
    side.simulation.run_until_quiet()
    send(deployed, Order(tenant="t", amount=5))
    side.simulation.run_until_quiet()
    charged, gone = sum(side.bank.charges.values()), 2 - deployed.dead
    swallowed = gone - charged
    held = charged == 0 and gone == 0
    return Verdict(
        held,
        f"{times(charged, 'charge')}, {times(swallowed, 'order')} swallowed, {times(deployed.dead, 'dead letter')}",
    )


def other_amount(side: Side) -> Verdict:
    """The same number comes with another amount."""
    deployed = side.deploy(_charge)
    send(deployed, Order(order_id="order-1", amount=100))
    side.simulation.run_until_quiet()
    send(deployed, Order(order_id="order-1", amount=900))
    side.simulation.run_until_quiet()
    charged = side.bank.charges["order-1"]
    return Verdict(
        charged == 1 and deployed.dead == 1, f"{times(charged, 'charge')}, {times(deployed.dead, 'dead letter')}"
    )


INPUTS = (
    Schedule(
        name="malformed body",
        happens="One of ten bodies in a batch is no JSON.",
        must_hold="Nine charges; only the one becomes a dead letter.",
        run=malformed,
    ),
    Schedule(
        name="bug in a validator",
        happens="A validator of the user's own raises KeyError on one of ten bodies.",
        must_hold="Nine charges; only the one becomes a dead letter.",
        run=validator,
    ),
    Schedule(
        name="malformed behind a failure",
        happens="On FIFO, a healthy order of lane b, one of lane a that fails twice, and a malformed body behind it.",
        must_hold="Lane b's is done at once, lane a's in the end, and only the malformed one becomes a dead letter.",
        run=malformed_behind,
    ),
    Schedule(
        name="no key",
        happens="Two orders without the number that names them.",
        must_hold="Neither runs unprotected; both become dead letters.",
        run=no_key,
        note="With Powertools' `raise_on_no_idempotency_key=True`; by default both are charged, unprotected.",
    ),
    Schedule(
        name="half a key",
        happens="The key is tenant and number; two orders of one tenant come without a number.",
        must_hold="Neither is taken for the other; both become dead letters.",
        run=partial_key,
    ),
    Schedule(
        name="other amount",
        happens="An order that was charged comes again with another amount.",
        must_hold="It is not charged, and not silently swallowed either: a dead letter.",
        run=other_amount,
        note="With Powertools' `payload_validation_jmespath`; by default it is swallowed.",
    ),
)
