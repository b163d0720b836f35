"""The engine's queues over simulated ones."""

from __future__ import annotations

from datetime import timedelta

import pytest

from surehand.errors import ConfigurationError
from surehand.queues import Outgoing, Queues, Visibility
from surehand.testing.simulator import Crossing, Fault, Simulation, sqs_event

SECOND = timedelta(seconds=1)


def test_messages_are_sent_with_all_their_parts_and_refusals_carry_their_index():
    with Simulation() as sim:
        queue = sim.standard_queue("orders")
        queues: Queues = sim.gateway({"orders": queue})
        good = Outgoing(body="a", group="t", delay=5 * SECOND, trace="Root=1")
        refused = queues.send("orders", [good, Outgoing(body="", group="t"), good])
        assert [(entry.index, entry.code) for entry in refused] == [(1, "InvalidParameterValue")]
        assert [(message.body, message.group, message.trace) for message in queue.messages] == [
            ("a", "t", "Root=1")
        ] * 2
        assert queue.receive() == []


def test_a_wait_is_rounded_up_to_whole_seconds():
    with Simulation() as sim:
        queue = sim.standard_queue("orders")
        queue.send("a")
        (message,) = queue.receive()
        change = Visibility(receipt_handle=message.receipt_handle, wait=1.2 * SECOND)
        assert sim.gateway({"orders": queue}).set_visibility("orders", [change]) == []
        sim.run(for_=1.9 * SECOND)
        assert queue.receive() == []


def test_a_refused_change_of_visibility_is_returned_and_not_raised():
    with Simulation() as sim:
        queue = sim.standard_queue("orders")
        change = Visibility(receipt_handle="made up", wait=SECOND)
        (refused,) = sim.gateway({"orders": queue}).set_visibility("orders", [change])
        assert (refused.index, refused.code) == (0, "InvalidParameterValue")


@pytest.mark.parametrize(("fault", "stored"), [(Fault.REFUSE, 0), (Fault.LOSE_REPLY, 1)])
def test_a_call_that_fails_reports_every_message_as_refused(fault, stored):
    with Simulation() as sim:
        queue = sim.standard_queue("orders")
        queues = sim.gateway({"orders": queue})

        def handler(event, context):
            return [entry.code for entry in queues.send("orders", [Outgoing(body="a")])]

        def plan(crossing: Crossing) -> Fault | None:
            return fault if crossing.kind == "queue.send" else None

        sim.crossings.plan = plan
        assert sim.invoke(sim.function("f", handler), sqs_event("orders", [])).response == ["RequestTimeout"]
        assert len(queue) == stored


def test_an_unknown_handler_is_a_configuration_error():
    with Simulation() as sim, pytest.raises(ConfigurationError, match="'orders'"):
        sim.gateway({}).send("orders", [])
