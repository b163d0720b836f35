"""Processes that die, replies that are lost, workers that come too late."""

from __future__ import annotations

from datetime import timedelta

from bench.versus.place import Attempt, Order, orders, outlive, send
from bench.versus.schedule import Schedule, Side, Verdict, times
from surehand.testing.simulator import Crossing, Fault

_ORDER = Order(order_id="order-1")


def _charge(attempt: Attempt) -> None:
    attempt.charge()


def _charge_and_die_once(attempt: Attempt) -> None:
    attempt.charge()
    if attempt.number == 1:
        attempt.die()


def killed_after_the_effect(side: Side) -> Verdict:
    """The process dies after the charge and before its record."""
    deployed = side.deploy(_charge_and_die_once)
    send(deployed, _ORDER)
    side.simulation.run_until_quiet()
    charged, keys = side.bank.charges["order-1"], len(side.bank.keys["order-1"])
    held = charged <= 2 and keys == 1 and not deployed.waiting and not deployed.dead
    return Verdict(
        held, f"{times(charged, 'charge')} under {times(keys, 'key')}, {times(deployed.dead, 'dead letter')}"
    )


def unknown_effect(side: Side) -> Verdict:
    """The same at a provider without idempotency keys."""
    deployed = side.deploy(_charge_and_die_once, hold=True)
    send(deployed, _ORDER)
    side.simulation.run_until_quiet()
    charged = side.bank.charges["order-1"]
    return Verdict(
        charged == 1 and deployed.dead == 1, f"{times(charged, 'charge')}, {times(deployed.dead, 'dead letter')}"
    )


def every_point(side: Side) -> Verdict:
    """Three orders; the process dies just before or just after one call of the store or the provider, at each in turn.

    One account is enough: each point gets orders of its own.
    """
    deployed = side.deploy(_charge)
    side.simulation.crossings.record = []
    send(deployed, *_named("golden", 3))
    side.simulation.run_until_quiet()
    golden = [crossing.kind for crossing in side.simulation.crossings.record]
    side.simulation.crossings.record = None
    wrong: list[str] = []
    points = [(place, fault) for place in range(len(golden)) for fault in (Fault.KILL_BEFORE, Fault.KILL_AFTER)]
    for place, fault in points:
        at = side.simulation.crossings.count + place

        def plan(crossing: Crossing, at: int = at, fault: Fault = fault) -> Fault | None:
            return fault if crossing.index == at else None

        side.simulation.crossings.plan = plan
        name = f"{place}-{fault.name}"
        send(deployed, *_named(name, 3))
        side.simulation.run_until_quiet()
        counts = [side.bank.charges[f"{name}-{number}"] for number in range(3)]
        if not all(1 <= count <= 2 for count in counts) or deployed.dead or deployed.waiting:
            wrong.append(f"{golden[place]} {fault}")
    return Verdict(
        not wrong, f"{len(points)} kills, {len(wrong)} of them lost or stuck" + (f": {wrong[0]}" if wrong else "")
    )


def poison(side: Side) -> Verdict:
    """One of ten orders kills the process, always."""

    def act(attempt: Attempt) -> None:
        if attempt.order.order_id == "order-4":
            attempt.die()
        attempt.charge()

    deployed = side.deploy(act)
    send(deployed, *orders(10))
    side.simulation.run_until_quiet()
    charged = len(side.bank.charges)
    return Verdict(
        charged == 9 and deployed.dead == 1,
        f"{charged} of 9 healthy ones charged, {times(deployed.dead, 'dead letter')}",
    )


def exit_in_a_record(side: Side) -> Verdict:
    """The code of one of three orders calls sys.exit."""

    def act(attempt: Attempt) -> None:
        if attempt.order.order_id == "order-2":
            raise SystemExit(1)
        attempt.charge()

    deployed = side.deploy(act)
    send(deployed, *orders(3))
    side.simulation.run_until_quiet()
    charged = len(side.bank.charges)
    return Verdict(
        charged == 2 and deployed.dead == 1,
        f"{charged} of 2 healthy ones charged, {times(deployed.dead, 'dead letter')}",
    )


def record_not_written(side: Side) -> Verdict:
    """After the charge, one write to the store fails, beyond the client's own retries."""
    deployed = side.deploy(_charge)
    failed: list[Crossing] = []

    def plan(crossing: Crossing) -> Fault | None:
        if not failed and side.bank.charges["order-1"] and crossing.kind == "dynamodb.UpdateItem":
            failed.append(crossing)
            return Fault.REFUSE
        return None

    side.simulation.crossings.plan = plan
    send(deployed, _ORDER)
    side.simulation.run_until_quiet()
    charged = side.bank.charges["order-1"]
    return Verdict(charged == 1 and not deployed.dead, f"{times(charged, 'charge')}")


def reply_lost(side: Side) -> Verdict:
    """The claim is written, its reply is lost, and the AWS client sends it again."""
    deployed = side.deploy(_charge, fifo=True)
    side.resend = True
    send(deployed, _ORDER)
    side.simulation.run(for_=timedelta(seconds=10))
    charged = side.bank.charges["order-1"]
    side.simulation.run_until_quiet()
    return Verdict(charged == 1, f"{times(charged, 'charge')} at once, {side.bank.charges['order-1']} in the end")


def dying_machines(side: Side) -> Verdict:
    """Three machines in a row die under one healthy order."""

    def act(attempt: Attempt) -> None:
        if attempt.number <= 3:
            attempt.die()
        attempt.charge()

    deployed = side.deploy(act)
    send(deployed, _ORDER)
    side.simulation.run_until_quiet()
    charged = side.bank.charges["order-1"]
    return Verdict(
        charged == 1 and not deployed.dead, f"{times(charged, 'charge')}, {times(deployed.dead, 'dead letter')}"
    )


def zombie(side: Side) -> Verdict:
    """A worker's machine is frozen; its duplicate charges; then it thaws, and its own attempt fails."""

    def act(attempt: Attempt) -> None:
        if attempt.number == 1:
            side.simulation.clock.silence()
            attempt.work(timedelta(seconds=60))
            raise ConnectionError
        attempt.charge()

    deployed = side.deploy(act)
    outlive(deployed)
    send(deployed, _ORDER)
    side.simulation.run(for_=timedelta(seconds=45))
    send(deployed, _ORDER)
    side.simulation.run_until_quiet()
    charged = side.bank.charges["order-1"]
    return Verdict(charged == 1, times(charged, "charge"))


def _named(name: str, count: int) -> list[Order]:
    return [Order(order_id=f"{name}-{number}") for number in range(count)]


CRASHES = (
    Schedule(
        name="killed after the effect",
        happens="The process dies after the charge and before its record; the provider knows idempotency keys.",
        must_hold="The order is finished; it is charged again at most once for the kill, under the same key.",
        run=killed_after_the_effect,
        note="Nobody can do better: between an effect and its record a crash repeats the effect.",
    ),
    Schedule(
        name="unknown effect",
        happens="The same at a provider without idempotency keys.",
        must_hold="It is not charged again unasked; an operator is told (a dead letter).",
        run=unknown_effect,
    ),
    Schedule(
        name="every point",
        happens="Three orders; the process dies just before or just after one call, at each call in turn.",
        must_hold="Nothing is lost or stuck; each is charged once, or twice for a kill between charge and record.",
        run=every_point,
    ),
    Schedule(
        name="poison",
        happens="One of ten orders in a batch kills the process, always.",
        must_hold="The nine others are charged; only the one becomes a dead letter.",
        run=poison,
    ),
    Schedule(
        name="exit in a record",
        happens="The code of one of three orders calls sys.exit, always.",
        must_hold="The two others are charged; only the one becomes a dead letter.",
        run=exit_in_a_record,
    ),
    Schedule(
        name="record not written",
        happens="After the charge, one write to the store fails, beyond the client's own retries.",
        must_hold="One charge.",
        run=record_not_written,
        note="A store that stays away past the end of the invocation repeats the effect on either side.",
    ),
    Schedule(
        name="reply lost",
        happens="On FIFO, the claim is written, its reply is lost, and the AWS client sends it again.",
        must_hold="The order is charged in this delivery: its group does not wait for its own lease.",
        run=reply_lost,
    ),
    Schedule(
        name="dying machines",
        happens="Three machines in a row die under one healthy order.",
        must_hold="It is charged in the end, without an operator.",
        run=dying_machines,
        note="From outside, a healthy order on dying machines looks like poison. surehand condemns what has died three "
        "times and waits for a redrive; Powertools only counts receives, which is why it loses the schedule `poison`.",
        conceded=True,
    ),
    Schedule(
        name="zombie",
        happens="A worker's machine freezes past its lease; a duplicate charges; it thaws, and its attempt fails.",
        must_hold="One charge: the late worker changes nothing.",
        run=zombie,
        note="On Lambda the process ends with the lease; this needs a container, a paused machine or a wrong clock.",
    ),
)
