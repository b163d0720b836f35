"""What goes to SQS for a visibility, a deletion and a send, and what becomes of each entry's answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from surehand.aws.queues import SQSQueues, size_of
from surehand.errors import Refused
from surehand.queues import Outgoing, Visibility

SECOND = timedelta(seconds=1)


class FakeSQS:
    """Keeps each call; refuses the entries that a test names, loses others by its own fault, or fails whole calls."""

    def __init__(
        self, refuse: Sequence[str] = (), errors: Sequence[Exception | None] = (), lose: Sequence[Sequence[str]] = ()
    ) -> None:
        self.refuse, self.errors, self.lose = refuse, list(errors), list(lose)
        self.calls: list[dict[str, Any]] = []

    def _answer(self, **call: Any) -> dict[str, Any]:
        self.calls.append(call)
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        failed = [{"Id": one["Id"], "Code": "Bad", "SenderFault": True} for one in call["Entries"]
                  if one["Id"] in self.refuse]  # fmt: skip
        lost = self.lose.pop(0) if self.lose else ()
        failed += [{"Id": one, "Code": "InternalError", "SenderFault": False} for one in lost]
        return {"Failed": failed} if failed else {}

    change_message_visibility_batch = delete_message_batch = send_message_batch = _answer


def queues(**faults: Any) -> tuple[SQSQueues, FakeSQS]:
    client = FakeSQS(**faults)
    return SQSQueues(client, lambda handler: f"url-of-{handler}"), client


THROTTLED = ClientError({"Error": {"Code": "RequestThrottled", "Message": ""}}, "x")


@pytest.mark.parametrize(
    ("wait", "seconds"),
    [
        (timedelta(0), 0),
        (-SECOND, 0),
        (timedelta(milliseconds=1), 1),
        (SECOND, 1),
        (1.2 * SECOND, 2),
        (timedelta(hours=12), 43_200),
        (timedelta(hours=13), 43_200),
    ],
)
def test_a_visibility_is_whole_seconds_upwards_within_twelve_hours(wait, seconds) -> None:
    made, client = queues()
    assert made.set_visibility("orders", [Visibility(receipt_handle="h", wait=wait)]) == []
    assert client.calls == [
        {
            "QueueUrl": "url-of-orders",
            "Entries": [{"Id": "0", "ReceiptHandle": "h", "VisibilityTimeout": seconds}],
        }
    ]


def test_visibilities_go_by_tens_and_the_refused_are_named_by_their_place() -> None:
    made, client = queues(refuse=["3", "11"], errors=[None, None, ReadTimeoutError(endpoint_url="x")])
    changes = [Visibility(receipt_handle=f"h{number}", wait=SECOND) for number in range(22)]
    assert made.set_visibility("orders", changes) == [
        Refused(3, "Bad"),
        Refused(11, "Bad"),
        Refused(20, "ReadTimeoutError"),
        Refused(21, "ReadTimeoutError"),
    ]
    assert [[one["Id"] for one in call["Entries"]] for call in client.calls] == [
        [str(number) for number in range(10)],
        [str(number) for number in range(10, 20)],
        ["20", "21"],
    ]
    assert client.calls[2]["Entries"][1]["ReceiptHandle"] == "h21"


def test_deletions_go_by_tens_and_the_refused_are_named_by_their_place() -> None:
    made, client = queues(refuse=["3", "11"], errors=[None, None, THROTTLED])
    assert made.delete("orders", [f"h{number}" for number in range(22)]) == [
        Refused(3, "Bad"),
        Refused(11, "Bad"),
        Refused(20, "RequestThrottled"),
        Refused(21, "RequestThrottled"),
    ]
    assert [len(call["Entries"]) for call in client.calls] == [10, 10, 2]
    assert client.calls[1]["Entries"][0] == {"Id": "10", "ReceiptHandle": "h10"}
    assert {call["QueueUrl"] for call in client.calls} == {"url-of-orders"}


def test_a_message_is_sent_with_all_that_it_has() -> None:
    made, client = queues()
    attributes = {"a": {"DataType": "String", "StringValue": "x"}}
    full = Outgoing(body="b", group="g", deduplication="d", delay=1.5 * SECOND, attributes=attributes, trace="Root=1")
    assert made.send("orders", [full, Outgoing(body="c")]) == []
    assert client.calls == [
        {
            "QueueUrl": "url-of-orders",
            "Entries": [
                {
                    "Id": "0",
                    "MessageBody": "b",
                    "MessageGroupId": "g",
                    "MessageDeduplicationId": "d",
                    "DelaySeconds": 2,
                    "MessageAttributes": attributes,
                    "MessageSystemAttributes": {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1"}},
                },
                {"Id": "1", "MessageBody": "c"},
            ],
        }
    ]


def test_a_call_that_fails_was_retried_by_the_client_and_is_told_entry_by_entry() -> None:
    made, client = queues(errors=[THROTTLED])
    assert made.send("orders", [Outgoing(body="x")] * 12) == [
        Refused(number, "RequestThrottled") for number in range(10)
    ]
    assert len(client.calls) == 2


def test_refusals_are_told_in_the_order_of_the_messages() -> None:
    made, _ = queues(refuse=["11", "2"])
    assert made.send("orders", [Outgoing(body="x")] * 12) == [Refused(2, "Bad"), Refused(11, "Bad")]


def sent(client: FakeSQS) -> list[list[str]]:
    return [[one["Id"] for one in call["Entries"]] for call in client.calls]


def test_what_sqs_loses_by_its_own_fault_is_sent_again_and_only_that() -> None:
    made, client = queues(refuse=["1"], lose=[["0", "3"], ["3"]])
    assert made.send("orders", [Outgoing(body="x")] * 4) == [Refused(1, "Bad")]
    assert sent(client) == [["0", "1", "2", "3"], ["0", "3"], ["3"]]


def test_what_sqs_loses_three_times_is_told_in_its_place() -> None:
    made, client = queues(refuse=["2"], lose=[["0", "3"]] * 3)
    assert made.send("orders", [Outgoing(body="x")] * 4) == [
        Refused(0, "InternalError"),
        Refused(2, "Bad"),
        Refused(3, "InternalError"),
    ]
    assert sent(client) == [["0", "1", "2", "3"], ["0", "3"], ["0", "3"]]


@pytest.mark.parametrize(
    ("message", "size"),
    [
        (Outgoing(body="x"), 1),
        (Outgoing(body="ü\ud800"), 5),
        (Outgoing(body="", attributes={"nä": {"DataType": "String", "StringValue": "ü"}}), 3 + 6 + 2),
        (Outgoing(body="", attributes={"n": {"DataType": "Binary", "BinaryValue": b"123"}}), 1 + 6 + 3),
        (Outgoing(body="", attributes={"n": {}}), 1),
    ],
)
def test_the_size_is_what_sqs_counts(message, size) -> None:
    assert size_of(message) == size


def test_calls_are_filled_up_to_one_mebibyte_and_no_further() -> None:
    made, client = queues()
    half = Outgoing(body="x" * 524_288)
    made.send("orders", [half] * 5)
    assert sent(client) == [["0", "1"], ["2", "3"], ["4"]]
    made, client = queues()
    made.send("orders", [half, Outgoing(body="x" * 524_289)])
    assert sent(client) == [["0"], ["1"]]


def test_attributes_count_towards_the_mebibyte_of_a_call() -> None:
    made, client = queues()
    half = Outgoing(body="x" * 524_287, attributes={"n": {}})
    made.send("orders", [half, half, half])
    assert sent(client) == [["0", "1"], ["2"]]
    made, client = queues()
    made.send("orders", [half, Outgoing(body="x" * 524_288, attributes={"n": {}})])
    assert sent(client) == [["0"], ["1"]]


def test_what_is_larger_than_a_call_may_be_goes_alone_for_sqs_to_refuse() -> None:
    made, client = queues()
    made.send("orders", [Outgoing(body="x" * 1_048_577), Outgoing(body="x")])
    assert sent(client) == [["0"], ["1"]]


def test_nothing_to_send_is_no_call() -> None:
    made, client = queues()
    assert made.send("orders", []) == []
    assert client.calls == []
