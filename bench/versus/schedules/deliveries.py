"""Messages that come twice, late or in the wrong company."""

from __future__ import annotations

from datetime import timedelta

from bench.versus.place import Attempt, Order, orders, send
from bench.versus.schedule import Schedule, Side, Verdict, times

_ORDER = Order(order_id="order-1")


def _charge(attempt: Attempt) -> None:
    attempt.charge()


def _charge_slowly(attempt: Attempt) -> None:
    attempt.charge()
    attempt.work(timedelta(seconds=20))


def duplicate(side: Side) -> Verdict:
    """The producer sends an order again after it has succeeded."""
    deployed = side.deploy(_charge)
    for _ in range(2):
        send(deployed, _ORDER)
        side.simulation.run_until_quiet()
    return _once(side, deployed.waiting + deployed.dead)


def duplicate_in_one_batch(side: Side) -> Verdict:
    """The producer sends an order twice at once, and both come in one batch."""
    deployed = side.deploy(_charge)
    send(deployed, _ORDER, _ORDER)
    side.simulation.run_until_quiet()
    return _once(side, deployed.waiting + deployed.dead)


def duplicate_beside(side: Side) -> Verdict:
    """The duplicate arrives in another invocation while the first is at work."""
    deployed = side.deploy(_charge_slowly)
    send(deployed, _ORDER)
    side.simulation.run(for_=timedelta(seconds=5))
    send(deployed, _ORDER)
    side.simulation.run_until_quiet()
    return _once(side, deployed.waiting + deployed.dead)


def thirteen_days_later(side: Side) -> Verdict:
    """An order comes again after 13 days, as a dead letter does that is moved back."""
    deployed = side.deploy(_charge)
    send(deployed, _ORDER)
    side.simulation.run(for_=timedelta(days=13))
    send(deployed, _ORDER)
    side.simulation.run_until_quiet()
    return _once(side, deployed.waiting + deployed.dead)


def deadline(side: Side) -> Verdict:
    """Ten orders of three seconds' work each meet a function that has thirty seconds in all."""

    def work(attempt: Attempt) -> None:
        attempt.charge()
        attempt.work(timedelta(seconds=3.1))

    deployed = side.deploy(work)
    send(deployed, *orders(10))
    side.simulation.run_until_quiet()
    repeated = sum(1 for count in side.bank.charges.values() if count > 1)
    held = len(side.bank.charges) == 10 and not repeated and not deployed.dead
    return Verdict(held, f"{len(side.bank.charges)} of 10 charged, {repeated} of them twice")


def lanes(side: Side) -> Verdict:
    """On FIFO, the first order of lane a fails for a while; lane b has nothing to do with it."""

    def fail_first(attempt: Attempt) -> None:
        if attempt.order.order_id == "a1" and attempt.number == 1:
            raise ConnectionError
        seen.append(str(attempt.order.order_id))
        attempt.charge()

    seen: list[str] = []
    deployed = side.deploy(fail_first, fifo=True)
    send(deployed, *(Order(order_id=name, lane=name[0]) for name in ("a1", "b1", "a2", "b2")))
    side.simulation.run(for_=timedelta(seconds=1))
    first = list(seen)
    side.simulation.run_until_quiet()
    order = [name for name in seen if name.startswith("a")] == ["a1", "a2"]
    held = first == ["b1", "b2"] and order and not deployed.dead
    return Verdict(held, f"at once {', '.join(first) or 'nobody'}; then {', '.join(seen[len(first) :])}")


def _once(side: Side, left: int) -> Verdict:
    charged = side.bank.charges["order-1"]
    return Verdict(charged == 1 and not left, f"{times(charged, 'charge')}, {times(left, 'message')} left over")


DELIVERIES = (
    Schedule(
        name="duplicate",
        happens="An order is sent again after it has succeeded.",
        must_hold="One charge; both messages are done.",
        run=duplicate,
    ),
    Schedule(
        name="duplicate in one batch",
        happens="An order is sent twice, and both messages come in one batch.",
        must_hold="One charge; both messages are done.",
        run=duplicate_in_one_batch,
    ),
    Schedule(
        name="duplicate beside",
        happens="The duplicate arrives in another invocation while the first is at work.",
        must_hold="One charge; no message becomes a dead letter.",
        run=duplicate_beside,
    ),
    Schedule(
        name="thirteen days later",
        happens="An order comes again after 13 days, as a dead letter does that is moved back.",
        must_hold="One charge.",
        run=thirteen_days_later,
        note="Powertools' default forgets after one hour; here it was told to remember for 30 days.",
    ),
    Schedule(
        name="deadline",
        happens="Ten orders of 3.1 seconds' work each in one batch; the function has 30 seconds.",
        must_hold="Each is charged once.",
        run=deadline,
    ),
    Schedule(
        name="two lanes",
        happens="On FIFO, the first order of lane a fails once; lane b is healthy.",
        must_hold="Lane b goes on at once; lane a keeps its order.",
        run=lanes,
        note="With Powertools' `skip_group_on_error=True`; by default the failure holds up lane b.",
    ),
)
