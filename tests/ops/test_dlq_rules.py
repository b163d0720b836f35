"""The arithmetic of a redrive: selection, pace, breaker, plan, journal, copies. No AWS."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surehand_cli.dlq import journal as journals
from surehand_cli.dlq.breaker import Breaker
from surehand_cli.dlq.checks import function_of
from surehand_cli.dlq.destination import ToQueue, outgoing, without_lineage
from surehand_cli.dlq.foreign import foreign
from surehand_cli.dlq.identify import identify
from surehand_cli.dlq.known import Known, Verdict
from surehand_cli.dlq.letter import Letter, digest, from_json, received, to_json
from surehand_cli.dlq.pace import Bucket, rate_of, stages
from surehand_cli.dlq.redaction import outline
from surehand_cli.dlq.selector import Selection, Selector
from surehand_cli.problem import Problem
from surehand_cli.terminal.moments import length, moment

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def letter(body: str = "{}", **more: object) -> Letter:
    given = {"message_id": "m-1", "sha256": digest(body), "sent_at": NOW, "receive_count": 1, "body": body, **more}
    return Letter(**given)  # type: ignore[arg-type]


def known(number: int, body: str = "{}") -> Known:
    one = letter(body, message_id=f"m-{number}")
    return Known(letter=one, identified=None, operation=None, verdict=Verdict.UNKNOWN)


# ---- copies ---------------------------------------------------------------------------------------------------------


def test_a_copy_has_the_same_body_attributes_group_and_trace() -> None:
    attributes = {f"a{n}": {"DataType": "String", "StringValue": "x"} for n in range(10)}
    entry = outgoing(letter("[1]", group="g", trace="Root=1-2-3", attributes=attributes), fifo=False, run="r")
    assert entry == {
        "MessageBody": "[1]",
        "MessageAttributes": attributes,
        "MessageGroupId": "g",
        "MessageSystemAttributes": {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-2-3"}},
    }


def test_the_lineage_is_stripped_so_that_replays_do_not_look_like_a_loop() -> None:
    assert without_lineage("Root=1-2;Parent=3;Sampled=1;Lineage=a:1|b:2") == "Root=1-2;Parent=3;Sampled=1"
    assert without_lineage(None) is None


def test_a_deduplication_id_is_stable_within_a_run_and_new_for_the_next() -> None:
    first, again, other = (outgoing(letter(), fifo=True, run=run)["MessageDeduplicationId"] for run in ("a", "a", "b"))
    assert first == again != other


@pytest.mark.parametrize("alias", ["", ":live"])
def test_a_mapping_s_function_has_its_name_with_and_without_an_alias(alias: str) -> None:
    assert function_of(f"arn:aws:lambda:eu-west-1:123456789012:function:shop-dev-orders{alias}") == "shop-dev-orders"


def test_binary_and_number_attributes_survive_a_snapshot() -> None:
    wire = {
        "MessageId": "m-1",
        "Body": "{}",
        "Attributes": {"SentTimestamp": "1767268800000", "ApproximateReceiveCount": "3"},
        "MessageAttributes": {
            "n": {"DataType": "Number", "StringValue": "7", "StringListValues": [], "BinaryListValues": []},
            "b": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
        },
    }
    one = received(wire)
    again = from_json(json.loads(json.dumps(to_json(one))))
    assert again == one
    assert again.attributes == {
        "n": {"DataType": "Number", "StringValue": "7"},
        "b": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
    }


def test_a_batch_never_exceeds_a_mebibyte() -> None:
    sizes: list[int] = []

    class Client:
        def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, str]]) -> dict[str, object]:  # noqa: N803
            sizes.append(sum(len(entry["MessageBody"]) for entry in Entries))
            return {"Successful": [{"Id": entry["Id"], "MessageId": entry["Id"]} for entry in Entries]}

    letters = [letter("x" * 300_000, message_id=str(n)) for n in range(10)]
    done = ToQueue(Client(), "url", fifo=False, run="r").send(letters)
    assert len(done.moves) == 10
    assert max(sizes) <= 1_048_576


def test_a_copy_whose_digest_differs_does_not_count_as_moved() -> None:
    class Client:
        def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, str]]) -> dict[str, object]:  # noqa: N803
            return {"Successful": [{"Id": "0", "MessageId": "new", "MD5OfMessageBody": "0" * 32}]}

    done = ToQueue(Client(), "url", fifo=False, run="r").send([letter()])
    assert (done.moves, list(done.refused)) == ({}, ["m-1"])


# ---- selection ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "taken"),
    [
        (("m-2..m-4",), [2, 3, 4]),
        (("..m-2",), [0, 1, 2]),
        (("m-8..",), [8, 9]),
        (("m-1", "m-8..m-9"), [1, 8, 9]),
        (("m-3..m-3",), [3]),
        (("nope..m-3",), []),
    ],
)
def test_ranges_follow_the_order_of_the_snapshot(ids: tuple[str, ...], taken: list[int]) -> None:
    selection = Selection(Selector(ids=ids))
    assert [n for n in range(10) if selection.takes(known(n))] == taken


@pytest.mark.parametrize("expression", ["body.a > `1`", "attributes.x == 'y'", "contains(body, 'z')"])
def test_an_expression_that_does_not_fit_a_body_is_false_and_no_error(expression: str) -> None:
    selection = Selection(Selector(where=(expression,)))
    for body in ("not json", "[]", "null", '{"a":"text"}', "7"):
        assert not selection.takes(known(1, body))


def test_a_wrong_expression_is_told_before_anything_is_read() -> None:
    with pytest.raises(Problem, match="jmespath"):
        Selection(Selector(where=("body.[",)))


@pytest.mark.parametrize("text", ["x", ">", ">=x", "=>1", "1.5", "-1"])
def test_a_wrong_number_of_attempts_is_told(text: str) -> None:
    with pytest.raises(Problem, match="--attempts"):
        Selection(Selector(attempts=text))


def test_a_limit_alone_says_how_many_and_not_which() -> None:
    assert Selector(limit=5).empty
    assert not Selector(all=True).empty
    assert not Selector(tenants=("a",)).empty


# ---- pace and breaker -----------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(1, 10), st.floats(0, 3)), max_size=60), st.floats(0.5, 100))
def test_a_bucket_never_lets_more_go_than_rate_times_time_plus_one_burst(
    takes: list[tuple[int, float]], rate: float
) -> None:
    bucket = Bucket.full(rate, burst=10, now=NOW)
    now, gone = NOW, 0
    for count, pause in takes:
        now += timedelta(seconds=pause)
        now += bucket.wait_for(count, now)
        bucket.take(count, now)
        gone += count
        assert gone <= 10 + rate * (now - NOW).total_seconds() + 1e-3 * len(takes) + rate * 1e-5 * len(takes)


def test_stages_grow_and_add_up() -> None:
    assert list(stages(1_000)) == [10, 100, 890]
    assert list(stages(7)) == [7]
    assert list(stages(110)) == [10, 100]
    assert list(stages(0)) == []


@pytest.mark.parametrize(("text", "rate"), [("5/s", 5), ("300/m", 5), ("5", 5), ("3600/h", 1)])
def test_a_rate_is_read_per_second(text: str, rate: float) -> None:
    assert rate_of(text) == rate


@pytest.mark.parametrize("text", ["0/s", "-1", "501", "x", "5/y"])
def test_an_impossible_rate_is_told(text: str) -> None:
    with pytest.raises(Problem, match="--rate"):
        rate_of(text)


@pytest.mark.parametrize(("failed", "total", "opens"), [(1, 1, False), (2, 3, True), (2, 40, False), (3, 50, True)])
def test_the_breaker_opens_at_two_failures_that_are_over_five_percent(failed: int, total: int, opens: bool) -> None:
    breaker = Breaker()
    for index in range(total):
        breaker.outcome(failed=index < failed)
    assert (breaker.open is not None) is opens


def test_the_breaker_forgets_what_is_longer_ago_than_its_window() -> None:
    breaker = Breaker()
    for index in range(200):
        breaker.outcome(failed=index < 2)
    assert breaker.open is None


def test_the_breaker_opens_when_sqs_refuses_a_fifth_of_the_sends() -> None:
    breaker = Breaker()
    for index in range(20):
        breaker.send(refused=index % 4 == 0)
    assert breaker.open is not None


# ---- journal --------------------------------------------------------------------------------------------------------


def written(path: Path, count: int = 5) -> list[bytes]:
    journal = journals.Journal(path)
    for index in range(count):
        journal.write("sending", NOW, ids=[str(index)])
    journal.close()
    return path.read_bytes().splitlines(keepends=True)


def test_a_journal_is_read_as_it_was_written(tmp_path: Path) -> None:
    written(tmp_path / "j")
    reading = journals.read(tmp_path / "j")
    assert [entry["ids"] for entry in reading.entries] == [[str(index)] for index in range(5)]
    assert (reading.broken, reading.torn) == (None, False)


@pytest.mark.parametrize("index", range(5))
def test_any_changed_line_is_noticed(tmp_path: Path, index: int) -> None:
    lines = written(tmp_path / "j")
    lines[index] = lines[index].replace(f'"{index}"'.encode(), b'"9"')
    (tmp_path / "j").write_bytes(b"".join(lines))
    assert journals.read(tmp_path / "j").broken == index + 1


@pytest.mark.parametrize("index", range(4))
def test_any_removed_line_but_the_last_is_noticed(tmp_path: Path, index: int) -> None:
    lines = written(tmp_path / "j")
    del lines[index]
    (tmp_path / "j").write_bytes(b"".join(lines))
    assert journals.read(tmp_path / "j").broken == index + 1


def test_a_torn_last_line_is_cut_off_and_the_chain_goes_on(tmp_path: Path) -> None:
    lines = written(tmp_path / "j")
    (tmp_path / "j").write_bytes(b"".join(lines)[:-9])
    torn = journals.read(tmp_path / "j")
    assert (len(torn.entries), torn.torn, torn.broken) == (4, True, None)
    journal = journals.Journal(tmp_path / "j", after=torn)
    journal.write("deleted", NOW, ids=["0"])
    journal.close()
    whole = journals.read(tmp_path / "j")
    assert ([entry["n"] for entry in whole.entries], whole.torn, whole.broken) == ([1, 2, 3, 4, 5], False, None)


def test_a_new_journal_never_overwrites_another(tmp_path: Path) -> None:
    written(tmp_path / "j")
    with pytest.raises(Problem):
        journals.Journal(tmp_path / "j")


# ---- letters of other services --------------------------------------------------------------------------------------


def said(**attributes: str) -> dict[str, dict[str, str]]:
    return {name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()}


def test_a_letter_that_sqs_moved_is_not_foreign() -> None:
    assert foreign(letter(source="arn:aws:sqs:eu-west-1:1:q", attributes=said(RULE_ARN="r")), served=True) is None


def test_a_letter_of_eventbridge_goes_to_its_rules_target() -> None:
    who = foreign(
        letter(
            attributes=said(
                RULE_ARN="arn:rule", TARGET_ARN="arn:aws:sqs:eu-west-1:1:orders", ERROR_CODE="NO_PERMISSIONS"
            )
        ),
        served=False,
    )
    assert who is not None
    assert (who.service, who.target, who.refusal) == ("EventBridge", "arn:aws:sqs:eu-west-1:1:orders", None)
    assert "NO_PERMISSIONS" in who.explanation


def test_a_truncated_letter_of_the_scheduler_is_refused() -> None:
    attributes = said(SCHEDULE_ARN="arn:s", TARGET_ARN="arn:aws:sqs:eu-west-1:1:q", IS_PAYLOAD_TRUNCATED="true")
    who = foreign(letter(attributes=attributes), served=True)
    assert who is not None
    assert who.refusal == "its payload was truncated"


def test_a_record_of_a_lambda_destination_carries_the_event_that_was_not_processed() -> None:
    body = json.dumps(
        {
            "version": "1.0",
            "requestContext": {
                "functionArn": "arn:aws:lambda:eu-west-1:1:function:f:$LATEST",
                "condition": "RetriesExhausted",
            },
            "requestPayload": {"order": 1},
        }
    )
    who = foreign(letter(body), served=False)
    assert who is not None
    assert (who.target, who.payload) == ("arn:aws:lambda:eu-west-1:1:function:f", '{"order": 1}')


def test_a_notification_in_a_served_queue_is_what_was_sent_there() -> None:
    body = json.dumps({"Type": "Notification", "TopicArn": "arn:t", "Message": "x"})
    assert foreign(letter(body), served=True) is None
    who = foreign(letter(body), served=False)
    assert who is not None
    assert who.service == "SNS"
    assert who.refusal is not None


def test_a_letter_of_lambdas_own_queue_needs_a_destination() -> None:
    who = foreign(letter(attributes=said(RequestID="1", ErrorCode="500", ErrorMessage="x")), served=False)
    assert who is not None
    assert who.refusal is not None
    assert "--to" in who.refusal


# ---- words ----------------------------------------------------------------------------------------------------------


def test_an_outline_holds_no_value() -> None:
    text = outline('{"name":"Ada","age":36,"tags":["a","b","c","d"],"ok":true,"none":null}')
    assert "Ada" not in text
    assert "36" not in text
    assert '"name"' in text
    assert "<1 more>" in text
    assert outline("no json") == "<7 bytes that are not JSON>"


def test_moments_are_iso_or_ago() -> None:
    assert moment("2h", now=NOW) == NOW - timedelta(hours=2)
    assert moment("2026-01-01T13:00+01:00", now=NOW) == NOW
    assert moment(None, now=NOW) is None


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(days=3, hours=4, minutes=5), "3d 4h"),
        (timedelta(minutes=12, seconds=5), "12m 5s"),
        (timedelta(hours=2), "2h"),
        (timedelta(0), "0s"),
    ],
)
def test_lengths_are_told_in_two_units(span: timedelta, text: str) -> None:
    assert length(span) == text


def test_a_webhooks_large_body_is_not_fetched_and_its_operation_is_known_all_the_same() -> None:
    from handlers.service import SHOP

    envelope = {
        "v": 1,
        "source": "stripe",
        "tenant": None,
        "received_at": "2026-01-01T12:00:00.000Z",
        "request_id": "r-1",
        "event": {"id": "evt_1", "id_from": "body:id", "id_signed": True, "guard": None, "type": "invoice.paid"},
        "idempotency_key": "stripe#evt_1",
        "verify": {"scheme": "stripe", "key_id": "AWSCURRENT:1", "signed_at": None},
        "http": {"method": "POST", "path": "/hooks/stripe", "content_type": "application/json", "headers": {}},
        "body": {"encoding": "s3", "bucket": "b", "key": "stripe/k", "version": "v", "sha256": "0" * 64, "size": 9},
    }
    who = identify(letter(json.dumps(envelope)), SHOP["stripe"])
    assert who is not None
    assert (who.operation, who.problem) == ('["stripe",null,["stripe#evt_1"]]', None)
