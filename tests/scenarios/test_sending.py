"""`send`: validated, grouped, measured and complete, or told entry by entry."""

from __future__ import annotations

from datetime import timedelta

import pytest

from surehand import NotSent
from surehand.aws.queues import SQSQueues
from surehand.declare import NoKey, NotValid
from surehand.errors import ConfigurationError, Refused
from surehand.queues import Outgoing
from surehand.sending import TooLarge, group_id
from surehand.testing import world
from tests.scenarios.kiosk import KIOSK, Ticket, lanes, numbered, plain, script, tenants


class FakeSQS:
    """Answers SendMessageBatch from a list of failures per call."""

    def __init__(self, *failures: dict[str, bool]) -> None:
        self.calls: list[list[dict]] = []
        self._failures = list(failures)

    def send_message_batch(self, *, QueueUrl, Entries):  # noqa: N803 - botocore's names
        self.calls.append(Entries)
        failing = self._failures.pop(0) if self._failures else {}
        failed = [
            {
                "Id": one["Id"],
                "Code": "Sender" if failing[one["Id"]] else "InternalError",
                "SenderFault": failing[one["Id"]],
            }
            for one in Entries
            if one["Id"] in failing
        ]
        return {"Failed": failed}


def test_the_body_is_the_payload_s_plain_json() -> None:
    with world(KIOSK) as made:
        plain.send(Ticket(number="1"))
        assert made.queues.sent["plain"][0].body == '{"number":"1","lane":"a","tenant":"t","note":0}'


def test_on_a_standard_queue_the_tenant_is_the_message_group() -> None:
    with world(KIOSK) as made:
        tenants.send(Ticket(number="1", tenant="acme"))
        plain.send(Ticket(number="1"))
        assert made.queues.sent["tenants"][0].group == "acme"
        assert made.queues.sent["plain"][0].group is None


def test_on_fifo_every_send_has_a_fresh_deduplication_id() -> None:
    with world(KIOSK) as made:
        lanes.send(Ticket(number="1"), Ticket(number="1"))
        one, two = made.queues.sent["lanes"]
        assert one.group == two.group == "a"
        assert one.deduplication != two.deduplication


@pytest.mark.parametrize(("parts", "other"), [(("a/b", "c"), ("a", "b/c")), (("a%2F", "b"), ("a/", "b"))])
def test_two_tenants_never_share_a_group(parts, other) -> None:
    assert group_id(*parts) != group_id(*other)


@pytest.mark.parametrize("text", ["ü", "x" * 129, "a b", ""])
def test_what_sqs_takes_for_no_group_id_is_replaced_by_a_digest(text) -> None:
    assert group_id(text).startswith("sha256-")


def test_a_payload_that_does_not_fit_sends_nothing() -> None:
    with world(KIOSK) as made:
        with pytest.raises(NotValid):
            plain.send(Ticket(number="1"), {"number": 3})  # type: ignore[arg-type]
        with pytest.raises(NoKey):
            plain.send(Ticket(number="1"), Ticket(number=""))
        assert made.queues.sent == {}


def test_a_payload_beyond_one_mebibyte_is_named_before_the_call() -> None:
    with world(KIOSK) as made:
        with pytest.raises(TooLarge, match="#1"):
            plain.send(Ticket(number="1"), Ticket(number="x" * 1_048_577))
        assert made.queues.sent == {}


@pytest.mark.parametrize("delay", [timedelta(seconds=-1), timedelta(minutes=16)])
def test_a_delay_that_sqs_does_not_know_is_refused(delay) -> None:
    with world(KIOSK), pytest.raises(ValueError, match="15 minutes"):
        plain.send(Ticket(number="1"), delay=delay)


def test_fifo_takes_no_delay() -> None:
    with world(KIOSK), pytest.raises(ValueError, match="FIFO"):
        lanes.send(Ticket(number="1"), delay=timedelta(seconds=1))


def test_what_sqs_refused_is_told_entry_by_entry() -> None:
    with world(KIOSK) as made:
        made.queues.send = lambda handler, messages: [Refused(2, "InvalidMessageContents")]  # type: ignore[method-assign]
        with pytest.raises(NotSent, match="#2") as refused:
            plain.send(*numbered(plain, 3))
        assert refused.value.refused == (Refused(2, "InvalidMessageContents"),)


def messages(count: int, size: int = 1) -> list[Outgoing]:
    return [Outgoing(body="x" * size) for _ in range(count)]


def test_messages_go_by_tens() -> None:
    client = FakeSQS()
    assert SQSQueues(client, lambda name: name).send("plain", messages(25)) == []
    assert [len(call) for call in client.calls] == [10, 10, 5]


def test_a_call_stays_within_one_mebibyte() -> None:
    client = FakeSQS()
    SQSQueues(client, lambda name: name).send("plain", messages(4, size=600_000))
    assert [len(call) for call in client.calls] == [1, 1, 1, 1]


def test_only_entries_that_failed_at_sqs_are_sent_again() -> None:
    client = FakeSQS({"0": False, "1": True})
    refused = SQSQueues(client, lambda name: name).send("plain", messages(3))
    assert refused == [Refused(1, "Sender")]
    assert [[entry["Id"] for entry in call] for call in client.calls] == [["0", "1", "2"], ["0"]]


def test_an_entry_that_fails_each_time_is_given_up_and_told() -> None:
    client = FakeSQS({"0": False}, {"0": False}, {"0": False})
    assert SQSQueues(client, lambda name: name).send("plain", messages(2)) == [Refused(0, "InternalError")]
    assert len(client.calls) == 3


def test_without_the_queue_s_url_the_variable_is_named() -> None:
    with pytest.raises(ConfigurationError, match="SUREHAND_QUEUE_PLAIN"):
        plain.send(Ticket(number="1"))


def test_without_its_own_queue_s_url_a_handler_runs_nothing() -> None:
    """It would be missed when the first message is to be put back, after the effects of a whole batch."""
    import os

    with world(KIOSK, on="moto") as made, script() as told:
        del os.environ["SUREHAND_QUEUE_TENANTS"]
        with pytest.raises(ConfigurationError, match="SUREHAND_QUEUE_TENANTS"):
            tenants(made.event(tenants, Ticket(number="1")), None)
        assert told.runs == []


def test_the_client_that_sends_is_kept() -> None:
    from surehand import entrypoint

    with world(KIOSK, on="moto"):
        assert entrypoint._queues() is entrypoint._queues()


def test_send_arrives_on_moto() -> None:
    import os

    from surehand.aws import clients

    with world(KIOSK, on="moto"):
        plain.send(*numbered(plain, 12))
        url = os.environ["SUREHAND_QUEUE_PLAIN"]
        client = clients.client("sqs", clients.QUEUES)
        found = client.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
        assert found["Attributes"]["ApproximateNumberOfMessages"] == "12"
